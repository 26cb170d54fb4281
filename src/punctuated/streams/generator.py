"""Synthetic punctuated streams as tables, by the notation of the PWJoin experiments (PW-53 … PW-55, XD-16).

Columns: `key`, `ts` (never decreasing), `val` (the position of the tuple), `last` (a punctuation of the key follows).
Every stream keeps its promises: no tuple comes after the punctuation of its key.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from punctuated.errors import StreamError
from punctuated.model.arguments import LARGEST, whole_number
from punctuated.model.window import Duration, parse_duration
from punctuated.streams.arrival import LARGEST_SIZE, draw_keys, parse_arrival

TIMESTAMP = pa.timestamp("us", tz="UTC")
PUNCTUATIONS = ("flag", "rows", "none", "irrelevant")


def generate(
    name: str,
    n: int,
    seed: int = 0,
    gap: Duration = "10 ms",
    start: int | datetime = 0,
    ahead: int = 50,
    punctuations: str = "flag",
    first_key: int = 0,
) -> pa.Table:
    """A stream of `n` tuples that follows an arrival pattern such as `punct-asc-100-40`.

    Streams with different seeds share their keys and so join: `asc` counts up from `first_key`, `desc` counts down from
    a value that depends on the pattern and `n` alone, `random` permutes what `asc` of the same seed punctuates.

    Args:
        name: `unique-[order]`, `cluster-[order]-[size]`, `punct-[order]-[segment]-[match]` or `uniform-[keys]`.
        n: number of tuples; rows that are punctuations are not counted.
        seed: the same arguments give the same table.
        gap: mean time between two tuples; the gaps are exponentially distributed.
        start: time before the first gap, in microseconds since the epoch or as a `datetime` (without zone: UTC).
        ahead: tuples that do not match their segment carry one of the next `ahead` punctuated values.
        punctuations: `flag` marks the last tuple of a key in the column `last`; `rows` also adds a row after it whose
            column `pattern` holds the punctuation; `irrelevant` adds rows with punctuations of keys that never occur
            (negative ones) instead; `none` leaves out all punctuations.
        first_key: the smallest key.

    >>> generate("cluster-asc-3", 6, seed=1).select(["key", "last"]).to_pydict()
    {'key': [0, 0, 0, 1, 1, 2], 'last': [False, False, True, False, True, False]}
    """
    whole_number(n, "n", StreamError, least=0, most=LARGEST_SIZE)
    whole_number(ahead, "ahead", StreamError, least=1, most=LARGEST_SIZE)
    whole_number(seed, "seed", StreamError, least=0, most=2**64)
    whole_number(first_key, "first_key", StreamError, least=-LARGEST, most=LARGEST)
    if punctuations not in PUNCTUATIONS:
        raise StreamError(f"unknown punctuations={punctuations!r}; known: {', '.join(PUNCTUATIONS)}")
    for_keys, for_times = np.random.default_rng(seed).spawn(2)
    keys, last = draw_keys(parse_arrival(name), n, ahead, for_keys)
    keys += first_key
    ts = draw_times(n, gap, start, for_times)
    if punctuations in ("flag", "none"):
        return _table(keys, ts, last & (punctuations == "flag"))
    if punctuations == "rows":
        return _with_rows(_table(keys, ts, last), last, keys[last])
    never = np.arange(np.count_nonzero(last))
    return _with_rows(_table(keys, ts, np.zeros_like(last)), last, min(first_key, 0) - 1 - never)


def draw_times(n: int, gap: Duration, start: int | datetime, rng: np.random.Generator) -> NDArray[np.int64]:
    """Arrival times of a Poisson process, in microseconds since the epoch (PW-55)."""
    mean = parse_duration(gap)
    if mean < 0:
        raise StreamError(f"gap={gap!r}: the mean time between two tuples cannot be negative")
    elapsed = np.cumsum(rng.exponential(mean, n))
    first = start_us(start)
    if n and first + elapsed[-1] > LARGEST:
        raise StreamError(f"gap={gap!r}: {n} tuples would go beyond the largest time; give a smaller gap")
    return first + elapsed.astype(np.int64)


def start_us(start: int | datetime) -> int:
    """A point in time in microseconds since the epoch.

    >>> start_us(datetime(1970, 1, 2))
    86400000000
    """
    if not isinstance(start, datetime):
        return whole_number(start, "start", StreamError, least=-LARGEST, most=LARGEST)
    aware = start if start.tzinfo is not None else start.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _table(keys: NDArray[np.int64], ts: NDArray[np.int64], last: NDArray[np.bool_]) -> pa.Table:
    columns = {"key": keys, "ts": pa.array(ts).cast(TIMESTAMP), "val": np.arange(len(keys)), "last": last}
    return pa.table(columns)


def _with_rows(tuples: pa.Table, followed: NDArray[np.bool_], ended: NDArray[np.int64]) -> pa.Table:
    """The tuples with a row `<ended,*,*,*>` after each tuple that is `followed`."""
    source = np.repeat(np.arange(len(followed)), 1 + followed.astype(np.int64))
    is_row = np.zeros(len(source), dtype=np.bool_)
    is_row[np.flatnonzero(followed) + np.arange(1, len(ended) + 1)] = True
    texts = pc.binary_join_element_wise("<", pa.array(ended).cast(pa.string()), ",*,*,*>", "")
    text_idx = pa.array(np.cumsum(is_row) - 1, mask=~is_row)
    table = tuples.take(pa.array(source))
    mask = pa.array(is_row)
    for name, blank in (("key", None), ("val", None), ("last", False)):
        at = table.schema.get_field_index(name)
        column = table.column(at)
        table = table.set_column(at, name, pc.if_else(mask, pa.scalar(blank, column.type), column))
    return table.append_column("pattern", texts.take(text_idx))
