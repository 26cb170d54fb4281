"""A join as nested loops over Python values. It knows nothing of the library."""

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
Pair = tuple[int | None, int | None]


def python_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Values that compare as they should, whatever their Arrow type: times as nanoseconds, NaN as a word."""
    dtype = column.type
    if pa.types.is_dictionary(dtype) or pa.types.is_run_end_encoded(dtype):
        return python_values(pa.array([each.as_py() for each in column], dtype.value_type))
    if pa.types.is_timestamp(dtype) or pa.types.is_time(dtype) or pa.types.is_duration(dtype):
        per = 10**9 // _PER_SECOND[dtype.unit]
        return [None if each.value is None else each.value * per for each in column]
    return [_comparable(each.as_py()) for each in column]


def _comparable(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple(value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_comparable, value))
    return value


def microseconds(column: pa.ChunkedArray) -> list[Any]:
    """Event times, or ends of windows, which may be null."""
    per = 1_000 if pa.types.is_timestamp(column.type) else 1
    return [None if each is None else each // per for each in python_values(column)]


def keys(table: pa.Table, names: Sequence[str]) -> list[Any]:
    """The key of each row, None if there is a null in it."""
    rows = list(zip(*(python_values(table[name]) for name in names), strict=True)) if names else [()] * len(table)
    return [None if None in row else row for row in rows]


Window = tuple[int, int] | None  # the smallest and the largest distance


def spans(window: Window, ts: Sequence[int]) -> list[Window]:
    """The times that the window of each row admits."""
    return [None if window is None else (at + window[0], at + window[1]) for at in ts]


def spans_until(ts: Sequence[int], ends: Sequence[int | None]) -> list[Window]:
    """The same where every row has an end of its own."""
    return [None if end is None else (at, end) for at, end in zip(ts, ends, strict=True)]


def meets(left_ts: int, right_ts: int, left: Window, right: Window) -> bool:
    """Whether the windows of two rows admit each other's time."""

    def admits(span: Window, at: int) -> bool:
        return span is None or span[0] <= at <= span[1]

    if left_ts < right_ts:
        return admits(left, right_ts)
    if right_ts < left_ts:
        return admits(right, left_ts)
    return admits(left, right_ts) and admits(right, left_ts)


def join(
    how: str, sides: Sequence[tuple[list[Any], list[int]]], windows: Sequence[list[Window]], where: Any = None
) -> list[Pair]:
    """Row numbers of the results; a side is its keys and its times, and every row has a window."""
    (left_keys, left_ts), (right_keys, right_ts) = sides
    pairs = [
        (i, j)
        for i, a in enumerate(left_keys)
        for j, b in enumerate(right_keys)
        if a is not None
        and a == b
        and meets(left_ts[i], right_ts[j], windows[0][i], windows[1][j])
        and (where is None or where(i, j))
    ]
    lonely_left = [(i, None) for i in range(len(left_keys)) if i not in {i for i, _ in pairs}]
    lonely_right = [(None, j) for j in range(len(right_keys)) if j not in {j for _, j in pairs}]
    results: dict[str, list[Pair]] = {
        "inner": [*pairs],
        "left": [*pairs, *lonely_left],
        "right": [*pairs, *lonely_right],
        "full": [*pairs, *lonely_left, *lonely_right],
        "semi": [(i, None) for i in sorted({i for i, _ in pairs})],
        "anti": [*lonely_left],
    }
    return results[how]
