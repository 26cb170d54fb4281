"""A bound join in this process: a driver for each of its buckets; some of them run at the same time.

Each batch brings the same as with one driver for all keys. What all buckets have in common comes out of the first one,
as on Spark (see `join.exchange.spread`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.exchange.spread import spread
from punctuated.model.batch import StreamBatch
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.output.metrics import sum_samples
from punctuated.runtime.prefetch import side_by_side

Batches = Sequence[StreamBatch]  # one of each stream


class LocalRun:
    """Takes batches and returns what they bring. `bound.at_once` is the number of threads; `None`: only this one."""

    def __init__(
        self, bound: BoundJoin, *, timed: bool = False, sample_us: int | None = None, from_us: int | None = None
    ) -> None:
        """As in `BoundJoin.driver`; with several buckets, metrics are sampled from `from_us` on."""
        self._bound = bound
        known = None if bound.n_buckets == 1 else from_us
        self.drivers = [
            bound.driver(bucket, timed=timed, sample_us=sample_us, sample_from_us=known)
            for bucket in range(bound.n_buckets)
        ]

    def to_end(self, batches: Iterable[Batches]) -> Iterator[BatchResult]:
        """What each batch brings, and the end of all streams."""
        for parts in self.parts_to_end(batches):
            whole = BatchResult()
            for part in parts:
                whole = whole.then(part)
            yield whole

    def parts_to_end(self, batches: Iterable[Batches]) -> Iterator[Iterator[BatchResult]]:
        """The same, each batch in parts; one batch must be read before the next is asked for."""
        yield from map(self.process_in_parts, batches)
        yield self._together([_ended(driver) for driver in self.drivers])

    def process_in_parts(self, batches: Batches) -> Iterator[BatchResult]:
        """Results as they are found; everything else in the last part, when all buckets are done."""
        if len(self.drivers) == 1:
            return self.drivers[0].process_in_parts(*batches)
        shares = zip(*map(self._spread, range(len(batches)), batches), strict=True)
        return self._together(
            [driver.process_in_parts(*share) for driver, share in zip(self.drivers, shares, strict=True)]
        )

    def _spread(self, side: int, batch: StreamBatch) -> list[StreamBatch]:
        reader, n = self._bound.inputs[side], self._bound.n_buckets
        return spread(reader.stream, batch, reader.types, n, everywhere=side in self._bound.spec.everywhere)

    def _together(self, buckets: Sequence[Iterator[BatchResult]]) -> Iterator[BatchResult]:
        """What all buckets bring of a batch; each thread works on some of them, one after the other."""
        if len(buckets) == 1:
            yield from buckets[0]
            return
        closing = [BatchResult()] * len(buckets)
        results = [_results(parts, closing, number) for number, parts in enumerate(buckets)]
        n_threads = min(self._bound.at_once or 1, len(buckets))
        turns = [chain.from_iterable(results[first::n_threads]) for first in range(n_threads)]
        yield from turns[0] if n_threads == 1 else side_by_side(turns)
        yield _closed(closing)

    # What is known of a run

    def counts(self) -> dict[str, int]:
        """The counters now, of all buckets together."""
        total = Counter[str]()
        for driver in self.drivers:
            total.update(driver.counts())
        return dict(total)

    def metrics(self) -> pa.Table:
        """The samples so far, of all buckets together."""
        return sum_samples([driver.samples for driver in self.drivers]).table()


def _ended(driver: JoinDriver) -> Iterator[BatchResult]:
    """The end of all streams for one bucket; it runs when it is asked for."""
    yield driver.end()


def _results(parts: Iterator[BatchResult], closing: list[BatchResult], number: int) -> Iterator[BatchResult]:
    """The results of a bucket; its last part has everything else, which is put aside."""
    for part in parts:
        if part.results:
            yield BatchResult(part.results, part.result_ts)
        closing[number] = part


def _closed(buckets: Sequence[BatchResult]) -> BatchResult:
    """Everything that the buckets have put aside, as one. Clocks and ranges are the same in all of them."""
    return replace(
        buckets[0],
        results=[],
        result_ts=[],
        punctuations=[table for each in buckets for table in each.punctuations],
        rejected=[rows for each in buckets for rows in each.rejected],
    )
