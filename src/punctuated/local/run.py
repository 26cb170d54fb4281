"""A run of a bound join in this process: over how many buckets it is spread, and a driver for each of them.

There is one bucket for each thread. If a batch is larger than the allowed memory there are more, and they take turns:
each is processed with what it needs in memory. (In one bucket, values would always be spilled and loaded again.)

Each batch brings the same as with one driver for all keys. What all buckets have in common is put out by the first one,
as on Spark (see `exchange.spread`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from math import ceil

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import StreamError
from punctuated.exchange.spread import spread
from punctuated.model.arguments import whole_number
from punctuated.model.batch import StreamBatch
from punctuated.model.memory import Memory
from punctuated.model.spec import MOST_BUCKETS, MOST_ROUNDS, JoinSpec, JoinType
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.output.metrics import sum_samples
from punctuated.runtime.prefetch import interleave

Batches = Sequence[StreamBatch]  # one of each stream
_NODE_BYTES = 100  # about what a tuple takes beside its row


# Buckets


def why_one_bucket(spec: JoinSpec) -> str | None:
    """Why a join of tables runs in one bucket, and so on one thread; None if it can be spread."""
    if spec.counts_whole_streams:
        return "pt.rows(n) over a whole stream needs all of it in one place"
    if spec.how is JoinType.FULL and not spec.left.key:
        return "unmatched rows of a full outer join without a key would come out of each bucket"
    if spec.is_staged:
        return f"{spec.algorithm.name} works in stages of its own"
    if spec.shed is not None:
        return "a join that sheds would draw another sample"
    return None


def in_buckets(bound: BoundJoin, batches: Sequence[Batches], threads: int, wanted: int | None) -> BoundJoin:
    """The join in the wanted number of buckets, or in as many as its threads and its memory need."""
    threads = whole_number(threads, "threads", StreamError, least=1, most=MOST_BUCKETS)
    why = why_one_bucket(bound.spec)
    if wanted is not None:
        n = whole_number(wanted, "buckets", StreamError, least=1, most=MOST_BUCKETS)
        if why is not None and n > 1:
            raise StreamError(f"buckets={n}: {why}; leave it out")
    else:
        n = 1 if why is not None else max(threads, _rounds(bound.spec.memory, batches))
    return replace(bound, n_buckets=n, at_once=min(threads, n))


def _rounds(memory: Memory | None, batches: Sequence[Batches]) -> int:
    """The number of parts in which the largest batch fits into the half of the memory that is for buckets at work."""
    if memory is None:
        return 1
    largest = max((sum(_need(each, memory) for each in batch) for batch in batches), default=0)
    return min(MOST_ROUNDS, max(1, ceil(2 * largest / (memory.tuples or memory.nbytes or 1))))


def _need(batch: StreamBatch, memory: Memory) -> int:
    """The memory that a batch of a stream takes, in tuples or bytes as `memory` counts."""
    n = len(batch.rows)
    return n if memory.tuples is not None else int(batch.rows.nbytes) + n * _NODE_BYTES


# The run


class LocalRun:
    """A run of a join: takes batches and returns their results.

    `bound.at_once` is the number of threads; None: only the calling thread.
    """

    def __init__(
        self, bound: BoundJoin, *, timed: bool = False, sample_us: int | None = None, from_us: int | None = None
    ) -> None:
        """The options are those of `BoundJoin.driver`; several buckets sample their metrics from `from_us` on."""
        self._bound = bound
        known = None if bound.n_buckets == 1 else from_us
        self.drivers = [
            bound.driver(bucket, timed=timed, sample_us=sample_us, sample_from_us=known)
            for bucket in range(bound.n_buckets)
        ]

    def to_end(self, batches: Iterable[Batches]) -> Iterator[BatchResult]:
        """The result of each batch, and of the end of all streams."""
        for parts in self.parts_to_end(batches):
            whole = BatchResult()
            for part in parts:
                whole = whole.then(part)
            yield whole

    def parts_to_end(self, batches: Iterable[Batches]) -> Iterator[Iterator[BatchResult]]:
        """The result of each batch, and of the end of all streams, in parts.

        The parts of a batch must be read before the next batch is asked for.
        """
        yield from map(self.process_in_parts, batches)
        yield self._combined([_end(driver) for driver in self.drivers])

    def process_in_parts(self, batches: Batches) -> Iterator[BatchResult]:
        """The result rows of a batch as they are found; the last part has everything else, from all buckets."""
        if len(self.drivers) == 1:
            return self.drivers[0].process_in_parts(*batches)
        shares = zip(*map(self._spread, range(len(batches)), batches), strict=True)
        return self._combined(
            [driver.process_in_parts(*share) for driver, share in zip(self.drivers, shares, strict=True)]
        )

    def _spread(self, side: int, batch: StreamBatch) -> list[StreamBatch]:
        reader, n = self._bound.inputs[side], self._bound.n_buckets
        return spread(reader.stream, batch, reader.types, n, everywhere=side in self._bound.spec.everywhere)

    def _combined(self, buckets: Sequence[Iterator[BatchResult]]) -> Iterator[BatchResult]:
        """What all buckets bring of a batch; each thread works on some of the buckets, one after the other."""
        if len(buckets) == 1:
            yield from buckets[0]
            return
        closing = [BatchResult()] * len(buckets)
        results = [_result_rows(parts, closing, number) for number, parts in enumerate(buckets)]
        n_threads = min(self._bound.at_once or 1, len(buckets))
        of_threads = [chain.from_iterable(results[first::n_threads]) for first in range(n_threads)]
        yield from of_threads[0] if n_threads == 1 else interleave(of_threads)
        yield _merged(closing)

    # What is known of a run

    def counts(self) -> dict[str, int]:
        """The current counters, summed over all buckets."""
        total = Counter[str]()
        for driver in self.drivers:
            total.update(driver.counts())
        return dict(total)

    def metrics(self) -> pa.Table:
        """The samples so far, summed over all buckets."""
        return sum_samples([driver.samples for driver in self.drivers]).table()


def _end(driver: JoinDriver) -> Iterator[BatchResult]:
    """What the end of all streams brings in one bucket; a generator, so that it runs when it is asked for."""
    yield driver.end()


def _result_rows(parts: Iterator[BatchResult], closing: list[BatchResult], number: int) -> Iterator[BatchResult]:
    """The result rows of a bucket; its last part, which has everything else, is put into `closing`."""
    for part in parts:
        if part.results:
            yield BatchResult(part.results, part.result_ts)
        closing[number] = part


def _merged(buckets: Sequence[BatchResult]) -> BatchResult:
    """The last parts of all buckets as one; clocks and ranges are the same in all of them."""
    return replace(
        buckets[0],
        results=[],
        result_ts=[],
        punctuations=[table for each in buckets for table in each.punctuations],
        rejected=[rows for each in buckets for rows in each.rejected],
    )
