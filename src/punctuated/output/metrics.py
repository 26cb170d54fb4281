"""Metrics of a join: its counters at each step of event time (PW-56), for one bucket and for all together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels import layout as lay
from punctuated.model.counters import COUNTERS, Counter
from punctuated.state.arrays import JoinState

_MOST_STEPS = 10_000  # of one batch; a sample takes a tenth of a millisecond
Ints = npt.NDArray[np.int64]


def current_counts(state: JoinState, elsewhere: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The counters now, by column; `elsewhere` has those that the loop does not count, zero if missing."""
    counts: dict[str, int] = {}
    for counter in COUNTERS:
        columns = counter.columns_of(state.n_streams)
        values = _in_loop(state, counter) if counter.by_loop else elsewhere.get(counter.name, [0] * len(columns))
        counts |= zip(columns, values, strict=True)
    return counts


def _in_loop(state: JoinState, counter: Counter) -> list[int]:
    if counter.name == "state":
        stored: list[int] = state.n_stored.tolist()
        return stored
    records = state.sides if counter.per_stream else state.common
    found: list[int] = records[counter.name].tolist()
    return found


def _steps(start: int, last: int, step: int, times: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Every step from `start` to `last`; if these are too many, only those before which something came."""
    if (last - start) // step < _MOST_STEPS:
        return np.arange(start, last + 1, step, dtype=np.int64)
    behind = np.unique(np.concatenate([-((start - array) // step) for array in times]))
    steps = start + behind[behind >= 0] * step
    return np.asarray(steps[steps <= last])


@dataclass
class BatchSamples:
    """Counters of one batch at steps of event time, and at its end, if any object has come by then."""

    times: list[int] = field(default_factory=list)
    counts: list[list[int]] = field(default_factory=list)
    end: tuple[int, list[int]] | None = None

    def rows(self) -> list[list[int]]:
        """The samples as rows: a time, then the counters."""
        amid = [[time, *counts] for time, counts in zip(self.times, self.counts, strict=True)]
        return amid if self.end is None else [*amid, [self.end[0], *self.end[1]]]


class Samples:
    """Counters at every step of event time, and at the end of every batch."""

    def __init__(self, step_us: int | None, n_streams: int, from_us: int | None = None) -> None:
        """Steps are counted from `from_us`, or else from the first tuple that comes."""
        self._step_us = step_us
        self.columns = [column for counter in COUNTERS for column in counter.columns_of(n_streams)]
        self._next = None if from_us is None or step_us is None else from_us + step_us
        self.batches: list[BatchSamples] = []

    def stops(self, inputs: Sequence[lay.Objects], n_objects: int) -> Iterator[tuple[int, int | None]]:
        """Where to pause: before the first object at or after each sampling time, and at the end (time None).

        Sampling times lie between those of tuples: the time of a punctuation may be in the far past or future.
        """
        self.batches.append(BatchSamples())
        times = [array for side in inputs for array in (side.ts, side.punctuation_ts) if array.size]
        of_tuples = [side.ts for side in inputs if side.ts.size]
        if self._step_us is not None and of_tuples:
            first, last = min(int(array[0]) for array in of_tuples), max(int(array[-1]) for array in of_tuples)
            start = first + self._step_us if self._next is None else self._next
            steps = _steps(start, last, self._step_us, times)
            positions = np.sum([np.searchsorted(array, steps) for array in times], axis=0)
            for position, step in zip(positions.tolist(), steps.tolist(), strict=True):
                self._next = step + self._step_us
                yield position, step
        yield n_objects, None

    def take(self, time: int | None, newest: int, counts: Mapping[str, int]) -> None:
        """Record a sample; the one at the end of a batch has the newest time."""
        row = [counts[name] for name in self.columns]
        if time is not None:
            self.batches[-1].times.append(time)
            self.batches[-1].counts.append(row)
        elif newest != lay.NEVER:
            self.batches[-1].end = newest, row

    def table(self) -> pa.Table:
        """One row per sample."""
        rows = [row for batch in self.batches for row in batch.rows()]
        ts, *counts = np.array(rows, np.int64).reshape(len(rows), 1 + len(self.columns)).T
        columns = [pa.array(ts, pa.timestamp("us", "UTC")), *(pa.array(column) for column in counts)]
        return pa.table(columns, names=["ts", *self.columns])


# All buckets together


def sum_samples(buckets: Sequence[Samples]) -> Samples:
    """Batch by batch, at every time at which any bucket was sampled, and at the end of the batch.

    A bucket counts with its last sample. Within a batch, only its own objects move its clock, so it may still count
    tuples that the time of other buckets has ended. At the end of a batch all clocks are the same.
    """
    if len(buckets) == 1:
        return buckets[0]
    total = Samples(None, 0)
    total.columns = buckets[0].columns
    before = [[0] * len(total.columns) for _ in buckets]
    for batches in zip(*(each.batches for each in buckets), strict=True):
        times = np.unique(np.concatenate([np.array(each.times, np.int64) for each in batches]))
        known = [_counts_at(times, *each) for each in zip(batches, before, strict=True)]
        before = [last if each.end is None else each.end[1] for each, last in zip(batches, before, strict=True)]
        ends = [each.end[0] for each in batches if each.end is not None]
        at_end = (max(ends), np.sum(before, axis=0).tolist()) if ends else None
        total.batches.append(BatchSamples(times.tolist(), np.sum(known, axis=0).tolist(), at_end))
    return total


def _counts_at(times: Ints, batch: BatchSamples, before: list[int]) -> Ints:
    """The counters of a bucket at these times, one row for each time."""
    return np.array([before, *batch.counts])[np.searchsorted(np.array(batch.times, np.int64), times, side="right")]
