"""Metrics of all buckets of a join together."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from punctuated.join.output.counters import BatchSamples, Samples

Ints = npt.NDArray[np.int64]


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
