"""Ticks: what every bucket must know of a whole batch of a stream, beyond the objects that fall to it.

A tick is a small table of spans of time. Ticks of parts of a batch, one under the other, are a tick of the whole. So
the clock of a batch, what is too far ahead, and when a clustered stream leaves a value come out the same in every
bucket, however the batch was spread.

    kind        SPAN, PUNCTUATION or FIRST
    low, high   SPAN: the stream has tuples at both times, and no gap in between is longer than `max_ahead`
                PUNCTUATION: the time of a punctuation; FIRST: of the first tuple of a value, for clustered streams
    mark        of that value, null for keys with a null in them
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.exchange.boundaries import Boundaries
from punctuated.kernels.layout import NEVER
from punctuated.model.spec import StreamSpec

Times = npt.NDArray[np.int64]
SPAN, PUNCTUATION, FIRST = range(3)


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


def times_of(stream: StreamSpec, ts: Times, told: Times, boundaries: Boundaries, newest: int) -> BatchTimes:
    """What the tick of these tuples would say, for a batch that is not spread; most streams need no tick for that."""
    if stream.max_ahead_us is not None or stream.clustered:
        return read_tick(stream, make_tick(stream, ts, told, boundaries), newest)
    own = ts[-1:] if not stream.is_output else ts[:0]  # the times of results prove nothing
    times = [int(array.max()) for array in (own, told) if array.size]
    return BatchTimes(max(times, default=NEVER), ())


def make_tick(stream: StreamSpec, ts: Times, told: Times, boundaries: Boundaries) -> pa.Table:
    """The tick of tuples with these ascending times, and of in-band punctuations at the times `told`."""
    boundaries = boundaries.earliest()
    starts, ends = _spans(ts if not stream.is_output else ts[:0], stream.max_ahead_us)
    told = np.unique(told) if stream.max_ahead_us is not None else np.sort(told)[-1:]
    sizes = [starts.size, told.size, boundaries.ts.size]
    columns: dict[str, object] = {
        "kind": np.repeat(np.array([SPAN, PUNCTUATION, FIRST], np.uint8), sizes),
        "low": np.concatenate([ts[starts], told, boundaries.ts]),
        "high": np.concatenate([ts[ends], told, boundaries.ts]),
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
