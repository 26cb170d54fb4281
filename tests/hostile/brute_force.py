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


def microseconds(column: pa.ChunkedArray) -> list[int]:
    """Event times."""
    values = python_values(column)
    return [each // 1_000 for each in values] if pa.types.is_timestamp(column.type) else values


def keys(table: pa.Table, names: Sequence[str]) -> list[Any]:
    """The key of each row, None if there is a null in it."""
    rows = list(zip(*(python_values(table[name]) for name in names), strict=True)) if names else [()] * len(table)
    return [None if None in row else row for row in rows]


Window = tuple[int, int] | None  # the smallest and the largest distance


def meets(left_ts: int, right_ts: int, windows: Sequence[Window]) -> bool:
    """Whether the windows admit two tuples of these times."""

    def admits(window: Window, distance: int) -> bool:
        return window is None or window[0] <= distance <= window[1]

    if left_ts < right_ts:
        return admits(windows[0], right_ts - left_ts)
    if right_ts < left_ts:
        return admits(windows[1], left_ts - right_ts)
    return admits(windows[0], 0) and admits(windows[1], 0)


def join(
    how: str, sides: Sequence[tuple[list[Any], list[int]]], windows: Sequence[Window], where: Any = None
) -> list[Pair]:
    """Row numbers of the results; a side is its keys and its times."""
    (left_keys, left_ts), (right_keys, right_ts) = sides
    pairs = [
        (i, j)
        for i, a in enumerate(left_keys)
        for j, b in enumerate(right_keys)
        if a is not None and a == b and meets(left_ts[i], right_ts[j], windows) and (where is None or where(i, j))
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
