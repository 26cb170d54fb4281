"""Ticks: what every bucket must know of a whole batch of a stream, beyond the objects that fall to it.

A tick is a small table of spans of time. Ticks of parts of a batch, one under the other, are a tick of the whole. So
the clock of a batch, what is too far ahead, and where a clustered stream stands come out the same in every bucket,
however the batch was spread.

    low, high   the stream has tuples at both times, and no gap in between is longer than `max_ahead`
    said        the span is a punctuation's time instead
    key columns of the newest tuple of the span, for clustered streams
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels.layout import NEVER
from punctuated.model.spec import StreamSpec

Times = npt.NDArray[np.int64]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class BatchTimes:
    """What the ticks of a batch say together."""

    newest: int  # NEVER if nothing came
    ahead: tuple[tuple[int, int], ...]  # closed intervals in which tuples are too far ahead
    cluster: tuple[int, Key] | None  # time and key of the newest tuple of a clustered stream

    def are_ahead(self, ts: Times) -> npt.NDArray[np.bool_]:
        found = np.zeros(ts.size, np.bool_)
        for low, high in self.ahead:
            found |= (ts >= low) & (ts <= high)
        return found


def times_of(stream: StreamSpec, rows: pa.Table, ts: Times, said: Times, newest: int) -> BatchTimes:
    """What the tick of these rows would say, for a batch that is not spread; most streams need no tick for that."""
    if stream.max_ahead_us is not None or stream.clustered:
        return read_tick(stream, make_tick(stream, rows, ts, said), newest)
    own = ts[-1:] if not stream.is_output else ts[:0]  # the times of results prove nothing
    times = [int(array.max()) for array in (own, said) if array.size]
    return BatchTimes(max(times, default=NEVER), (), None)


def make_tick(stream: StreamSpec, rows: pa.Table, ts: Times, said: Times) -> pa.Table:
    """The tick of some rows with these ascending times, and of in-band punctuations at the times `said`."""
    starts, ends = _spans(ts if not stream.is_output else ts[:0], stream.max_ahead_us)
    said = np.unique(said) if stream.max_ahead_us is not None else np.sort(said)[-1:]
    columns: dict[str, object] = {
        "low": np.concatenate([ts[starts], said]),
        "high": np.concatenate([ts[ends], said]),
        "said": np.repeat([False, True], [starts.size, said.size]),
    }
    if stream.clustered:
        newest = [_newest_key(stream, rows, ts, int(end)) for end in ends.tolist()]
        for place, name in enumerate(stream.key):
            values = [*(key[place] for key in newest), *[None] * said.size]
            columns[f"key {place}"] = pa.array(values, rows.schema.field(name).type)
    return pa.table(columns)


def _spans(ts: Times, max_ahead: int | None) -> tuple[Times, Times]:
    """First and last position of each run of times without a long gap."""
    if not ts.size:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    gaps = np.flatnonzero(np.diff(ts) > max_ahead) if max_ahead is not None else np.empty(0, np.int64)
    return np.concatenate([[0], gaps + 1]), np.concatenate([gaps, [ts.size - 1]])


def _newest_key(stream: StreamSpec, rows: pa.Table, ts: Times, end: int) -> Key:
    """Key of the newest tuple up to position `end`: among equal times a null key, then the largest one."""
    first = int(np.searchsorted(ts, ts[end]))
    keys = rows.select(list(stream.key)).slice(first, end - first + 1).to_pydict().values()
    return max(zip(*keys, strict=True), key=key_rank)


def key_rank(key: Key) -> tuple[bool, Key]:
    """Null keys come after all others."""
    return (True, ()) if None in key else (False, key)


def read_tick(stream: StreamSpec, tick: pa.Table, newest: int) -> BatchTimes:
    """What the ticks of a batch mean for a stream whose newest object so far is at `newest`."""
    said = np.asarray(tick["said"]).astype(np.bool_)
    low, high = np.asarray(tick["low"]), np.asarray(tick["high"])
    points = np.sort(low[said])
    order = np.argsort(low[~said], kind="stable")
    spans = list(zip(low[~said][order].tolist(), high[~said][order].tolist(), strict=True))
    reached, ahead = _follow(spans, points, newest, stream.max_ahead_us)
    batch_newest = max([*reached, *points[-1:].tolist()], default=NEVER)
    return BatchTimes(batch_newest, tuple(ahead), _cluster(stream, tick, ahead) if stream.clustered else None)


def _follow(
    spans: Sequence[tuple[int, int]], points: Times, newest: int, max_ahead: int | None
) -> tuple[list[int], list[tuple[int, int]]]:
    """Ends of the spans that are accepted, and the intervals that are not.

    In a rejected span all tuples are rejected, for `newest` does not follow them; but after a punctuation within it the
    next one is near enough again, and so are all that follow.
    """
    if max_ahead is None:
        return [high for _, high in spans], []
    reached: list[int] = []
    ahead: list[tuple[int, int]] = []
    for low, high in spans:
        before = points[: np.searchsorted(points, low)]
        newest = max([newest, *before[-1:].tolist()])
        if newest == NEVER or low <= newest + max_ahead:
            reached.append(high)
            newest = max(newest, high)
            continue
        within = points[(points >= low) & (points < high)]
        ahead.append((low, int(within[0]) if within.size else high))
        if within.size:
            reached.append(high)
            newest = high
    return reached, ahead


def _cluster(stream: StreamSpec, tick: pa.Table, ahead: Sequence[tuple[int, int]]) -> tuple[int, Key] | None:
    rejected = {high for _, high in ahead}
    found = [
        (row["high"], tuple(row[f"key {place}"] for place in range(len(stream.key))))
        for row in tick.to_pylist()
        if not row["said"] and row["high"] not in rejected
    ]
    return max(found, key=lambda each: (each[0], key_rank(each[1])), default=None)
