"""The auction query of the demo, with and without punctuations: on a local Spark, and over tables in this process.

The engine does not matter for what a join has to remember: Spark's workers run the same code as this process.
"""

import time
import warnings
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.cli.demo_progress import Reading
from punctuated.cli.view import ProgressView
from punctuated.errors import PunctuatedError, UnboundedStateWarning
from punctuated.model.times import to_microseconds
from punctuated.output.groups.grouping import Grouping
from punctuated.output.views import View
from punctuated.runtime.kernel_groups import Kernels, kernels_of
from punctuated.runtime.warm_up import compile_beside
from punctuated.spark.session.local import local_spark, read_files, write_files

WINDOW = "10 minutes"
LOADING = "loading the join (the first time on a machine it is compiled: 10 to 20 s)"
REPLAY_S = 12.0  # the whole run on a terminal: slow enough to watch
SETTINGS = {
    "spark.driver.memory": "1g",
    # Only the quick compiler, and one thread that collects garbage: Spark is ready in half the time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}

Latest = tuple[int, int]  # an auction that has become final, and its number of bids


@dataclass(frozen=True)
class AuctionStreams:
    """Auctions and bids, cut into batches of the same span of time."""

    auctions: list[pa.Table]
    bids: list[pa.Table]
    step_s: float

    def join(self, aware: bool) -> Any:
        """The join over these tables, as `TableQuery` runs it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnboundedStateWarning)  # that is what the demo shows
            return pt.join(*declare(self.auctions, self.bids, aware), algorithm="pwjoin" if aware else "wjoin")

    def kernels(self) -> tuple[Kernels, ...]:
        """The kernels that the join and its groups need."""
        return kernels_of(self.join(aware=True).bound.spec)


@dataclass(frozen=True)
class MeasuredBatch:
    """The join with punctuations after a batch, and how long the batch took."""

    batch: int
    reading: Reading
    ms: float
    latest: Latest | None = None


def make_streams(auctions: int, batches: int) -> AuctionStreams:
    """Generated auctions and their bids up to the last opening, in this many batches."""
    opened, offered = pt.streams.auctions(auctions, seed=1)
    step_us = int(to_microseconds(opened["opened_at"], "opened_at")[-1]) // batches + 1
    edges = np.arange(batches + 1) * step_us
    return AuctionStreams(_cut(opened, "opened_at", edges), _cut(offered, "bid_at", edges), step_us / 1e6)


def _cut(table: pa.Table, time_column: str, edges_us: Any) -> list[pa.Table]:
    """The rows between each two successive times."""
    rows = np.searchsorted(to_microseconds(table[time_column], time_column), edges_us).tolist()
    return [table.slice(first, last - first) for first, last in pairwise(rows)]


def declare(auctions: Any, bids: Any, aware: bool) -> tuple[pt.Stream, pt.Stream]:
    """Both streams, with their punctuations if the join is to be aware of them."""
    return (
        pt.stream(
            auctions,
            name="Auction",
            key="item_id",
            time="opened_at",
            window=WINDOW,
            punctuations=pt.unique() if aware else None,
        ),
        pt.stream(bids, name="Bid", key="item_id", time="bid_at", punctuations=pt.when("closed") if aware else None),
    )


def _last_group(groups: pa.Table) -> Latest | None:
    return (groups["item_id"][-1].as_py(), groups["bids"][-1].as_py()) if len(groups) else None


# On tables


class TableQuery:
    """`SELECT item_id, count(*) … GROUP BY item_id` over a join of tables, batch by batch."""

    def __init__(self, streams: AuctionStreams, aware: bool) -> None:
        joined = streams.join(aware)
        self._batches, self._driver = joined.batches, joined.bound.driver()
        grouping = Grouping(("item_id",), {"bids": pt.count()})
        self._groups = joined.bound.seen_as(View.GROUPS, grouping).groups()
        self._done, self._final = 0, 0
        self.latest: Latest | None = None

    def up_to(self, batch: int) -> Reading:
        """Process all batches up to this one; returns the counters of the join after it."""
        for batches in self._batches[self._done : batch + 1]:
            groups = self._groups.process(self._driver.process(*batches))
            self._final += len(groups)
            self.latest = _last_group(groups) or self.latest
        self._done = max(self._done, batch + 1)
        counts = self._driver.counts()
        return Reading(
            tuples=counts["tuples_left"] + counts["tuples_right"],
            results=counts["results"],
            final=self._final,
            auctions_in_state=counts["state_left"],
            bids_in_state=counts["state_right"],
        )


def on_tables(streams: AuctionStreams, view: ProgressView) -> Generator[MeasuredBatch]:
    """Run the join with punctuations in this process; on a terminal the run takes some seconds."""
    with view.busy(LOADING):
        compile_beside(streams.kernels())
    query, pause = TableQuery(streams, aware=True), REPLAY_S / len(streams.auctions) if view.is_live else 0.0
    for batch in range(len(streams.auctions)):
        start = time.perf_counter()
        reading = query.up_to(batch)
        took = time.perf_counter() - start
        yield MeasuredBatch(batch, reading, took * 1000, query.latest)
        time.sleep(max(0.0, pause - took))


# On Spark


def on_spark(streams: AuctionStreams, view: ProgressView, log: Path) -> Generator[MeasuredBatch]:
    """Run the join with punctuations as a streaming query, one micro-batch per batch; Spark's messages go to `log`."""
    kernels = streams.kernels()
    with TemporaryDirectory(prefix="punctuated-demo-") as name, _session(Path(name), view, log, kernels) as spark:
        folder = Path(name)
        auctions, bids = (
            read_files(spark, write_files(folder / stream, tables))
            for stream, tables in (("auctions", streams.auctions), ("bids", streams.bids))
        )
        counts = pt.join(*declare(auctions, bids, aware=True)).group_by("item_id").agg(bids=pt.count())
        yield from _run_query(spark, counts, folder / "checkpoint", view, log)


@contextmanager
def _session(folder: Path, view: ProgressView, log: Path, kernels: tuple[Kernels, ...]) -> Iterator[Any]:
    """A local Spark; kernels that are not there yet are compiled while it starts, and while it plans the query."""
    with ThreadPoolExecutor(1) as beside, ExitStack() as stack:
        beside.submit(compile_beside, kernels)
        with view.busy("starting Spark"):
            spark = stack.enter_context(local_spark("punctuated demo", folder, log, SETTINGS))
        yield spark


def _run_query(spark: Any, counts: Any, checkpoint: Path, view: ProgressView, log: Path) -> Iterator[MeasuredBatch]:
    """Run the query to its end: its metrics give counters and times, its groups the final auctions."""
    reports: SimpleQueue[pt.metrics.JoinMetrics | None] = SimpleQueue()
    groups: dict[int, tuple[int, Latest | None]] = {}

    def add_groups(frame: Any, batch: int) -> None:
        table = frame.toArrow()
        groups[batch] = len(table), _last_group(table)

    pt.metrics.listen(spark, pt.metrics.Call(reports.put, lambda _: reports.put(None)))
    with view.busy(f"first micro-batch; Spark warms up, beside {LOADING}"):
        writer = counts.writeStream.foreachBatch(add_groups).option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        metrics = _next(reports, query)
    while metrics is not None:
        final = sum(n for batch, (n, _) in groups.items() if batch <= metrics.batch_id)
        latest = groups[metrics.batch_id][1]
        yield MeasuredBatch(metrics.batch_id, _reading(metrics.total, final), metrics.batch_ms, latest)
        metrics = _next(reports, query)
    failure = query.exception()
    if failure is not None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{failure}\n")
        raise PunctuatedError(f"the query on Spark failed; what Spark said is in {log}") from failure


def _next(reports: SimpleQueue[pt.metrics.JoinMetrics | None], query: Any) -> pt.metrics.JoinMetrics | None:
    """The next metrics; None after the end of the query, also if that was not reported."""
    while True:
        is_active = query.isActive
        try:
            return reports.get(timeout=5)
        except Empty:
            if not is_active:
                return None


def _reading(total: pt.metrics.Counters, final: int) -> Reading:
    return Reading(
        tuples=total.tuples_left + total.tuples_right,
        results=total.results,
        final=final,
        auctions_in_state=total.state_left,
        bids_in_state=total.state_right,
    )
