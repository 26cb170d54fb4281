"""What every bucket must know of a whole batch of a stream, beyond the objects that fall to it: the tick.

A tick is a small table of spans of time. Ticks of parts of a batch, one under the other, are a tick of the whole. So
the clock of a batch, what is too far ahead, and when a clustered stream leaves a value come out the same in every
bucket, however the batch was spread.

    kind        SPAN, PUNCTUATION or FIRST
    low, high   SPAN: the stream has tuples at both times, and no gap in between is longer than `max_ahead`
                PUNCTUATION: the time of a punctuation; FIRST: of the first tuple of a value, for clustered streams
    mark        of that value, null for keys with a null in them

A value goes by its mark: its code if the key is one column of numbers, else a hash of the key. A key with a null in it
equals no other one, so each of its tuples is a value of its own. Two keys with one hash count as one value: that can
delay an ending, but never causes one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.kernels.key_bytes import hash_whole_keys
from punctuated.kernels.layout import BOUNDARY, NEVER, Records
from punctuated.keys.codec import OrderedKeys
from punctuated.keys.encoding import encode_rows
from punctuated.model.spec import StreamSpec

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Times = npt.NDArray[np.int64]
SPAN, PUNCTUATION, FIRST = range(3)


@dataclass(frozen=True)
class Boundaries:
    """Times and marks of values, not yet the earliest ones of each; `valid` is false for keys with a null in them."""

    ts: Ints
    mark: Ints
    valid: Mask

    @staticmethod
    def none() -> "Boundaries":
        return Boundaries(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))

    @staticmethod
    def of(stream: StreamSpec, rows: pa.Table, ts: Ints) -> "Boundaries":
        """The boundaries of a clustered stream: the times and marks of all its tuples; other streams have none."""
        if not stream.clustered:
            return Boundaries.none()
        return Boundaries(ts, *mark_keys([rows[name] for name in stream.key]))

    def select(self, which: Mask | Ints) -> "Boundaries":
        return Boundaries(self.ts[which], self.mark[which], self.valid[which])

    def earliest(self) -> "Boundaries":
        """The earliest time of each value, ascending."""
        mark = np.where(self.valid, self.mark, self.ts)  # of null keys those of one time are enough
        order = np.lexsort((self.ts, mark, self.valid))
        is_first = np.ones(order.size, np.bool_)
        is_first[1:] = (np.diff(mark[order]) != 0) | (np.diff(self.valid[order]) != 0)
        first = order[is_first]
        return self.select(first[np.argsort(self.ts[first], kind="stable")])


def mark_keys(columns: Sequence[pa.ChunkedArray]) -> tuple[Ints, Mask]:
    """The mark of each key, and which keys have no null in them."""
    types = [column.type for column in columns]
    if len(types) == 1 and OrderedKeys.fits(types[0]):
        return OrderedKeys(types[0]).encode(columns)
    offsets, data, valid = encode_rows(pa.table(list(columns), names=[str(i) for i in range(len(types))]))
    return hash_whole_keys(offsets, data), valid


def with_codes(boundaries: Boundaries, came: Boundaries, codes: Ints) -> Records:
    """The boundaries in the form that the kernels read; `came` are times and marks of the tuples that came here.

    A value of which none came here cannot have been rejected here, and that is all its code is needed for.
    """
    found = np.zeros(boundaries.ts.size, BOUNDARY)
    found["time"] = boundaries.ts
    marks, places = np.unique(came.mark[came.valid], return_index=True)
    if marks.size:
        at = np.minimum(np.searchsorted(marks, boundaries.mark), marks.size - 1)
        found["is_here"] = boundaries.valid & (marks[at] == boundaries.mark)
        found["code"] = codes[came.valid][places][at]
    return found


# Ticks


@dataclass(frozen=True)
class BatchTimes:
    """What the ticks of a batch say together."""

    newest: int  # NEVER if nothing came
    ahead: tuple[tuple[int, int], ...]  # closed intervals in which tuples are too far ahead
    boundaries: Boundaries = field(default_factory=Boundaries.none)  # of a clustered stream

    def are_ahead(self, ts: Times) -> npt.NDArray[np.bool_]:
        found = np.zeros(ts.size, np.bool_)
        for low, high in self.ahead:
            found |= (ts >= low) & (ts <= high)
        return found


def times_of(stream: StreamSpec, ts: Times, punctuation_ts: Times, boundaries: Boundaries, newest: int) -> BatchTimes:
    """What the tick of these tuples would say, for a batch that is not spread; most streams need no tick for that."""
    if stream.max_ahead_us is not None or stream.clustered:
        return read_tick(stream, make_tick(stream, ts, punctuation_ts, boundaries), newest)
    own = ts[-1:] if not stream.is_output else ts[:0]  # the times of results prove nothing
    times = [int(array.max()) for array in (own, punctuation_ts) if array.size]
    return BatchTimes(max(times, default=NEVER), ())


def make_tick(stream: StreamSpec, ts: Times, punctuation_ts: Times, boundaries: Boundaries) -> pa.Table:
    """The tick of tuples with these ascending times, and of in-band punctuations at the times `punctuation_ts`."""
    boundaries = boundaries.earliest()
    starts, ends = _spans(ts if not stream.is_output else ts[:0], stream.max_ahead_us)
    punctuation_ts = np.unique(punctuation_ts) if stream.max_ahead_us is not None else np.sort(punctuation_ts)[-1:]
    sizes = [starts.size, punctuation_ts.size, boundaries.ts.size]
    columns: dict[str, object] = {
        "kind": np.repeat(np.array([SPAN, PUNCTUATION, FIRST], np.uint8), sizes),
        "low": np.concatenate([ts[starts], punctuation_ts, boundaries.ts]),
        "high": np.concatenate([ts[ends], punctuation_ts, boundaries.ts]),
    }
    if stream.clustered:
        marks = pa.array(boundaries.mark, mask=~boundaries.valid)
        columns["mark"] = pa.concat_arrays([pa.nulls(sizes[SPAN] + sizes[PUNCTUATION], pa.int64()), marks])
    return pa.table(columns)


def _spans(ts: Times, max_ahead: int | None) -> tuple[Times, Times]:
    """First and last position of each run of times without a long gap."""
    if not ts.size:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    gaps = np.flatnonzero(np.diff(ts) > max_ahead) if max_ahead is not None else np.empty(0, np.int64)
    return np.concatenate([[0], gaps + 1]), np.concatenate([gaps, [ts.size - 1]])


def read_tick(stream: StreamSpec, tick: pa.Table, newest: int) -> BatchTimes:
    """What the ticks of a batch mean for a stream whose newest object so far is at `newest`."""
    kind, low, high = (np.asarray(tick[name]) for name in ("kind", "low", "high"))
    points = np.sort(low[kind == PUNCTUATION])
    starts, ends = low[kind == SPAN], high[kind == SPAN]
    order = np.argsort(starts, kind="stable")
    spans = list(zip(starts[order].tolist(), ends[order].tolist(), strict=True))
    reached, ahead = _follow(spans, points, newest, stream.max_ahead_us)
    times = BatchTimes(max([*reached, *points[-1:].tolist()], default=NEVER), tuple(ahead))
    return replace(times, boundaries=_boundaries(tick, times)) if stream.clustered else times


def _boundaries(tick: pa.Table, times: BatchTimes) -> Boundaries:
    """The boundaries of all parts together; a value that first comes too far ahead has none."""
    firsts = tick.filter(pc.equal(tick["kind"], FIRST))
    valid = firsts["mark"].is_valid().to_numpy()
    marks = np.asarray(pc.fill_null(firsts["mark"], 0))
    found = Boundaries(np.asarray(firsts["low"]), marks, valid).earliest()
    return found.select(~times.are_ahead(found.ts))


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
