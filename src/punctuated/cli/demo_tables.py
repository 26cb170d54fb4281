"""The demo without Spark: its streams, and the same join over tables in this process."""

import time
import warnings
from collections.abc import Generator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.cli.demo_view import Reading, View
from punctuated.errors import UnboundedStateWarning
from punctuated.model.times import to_microseconds
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.grouping import Grouping
from punctuated.output.views import View as Output
from punctuated.runtime.kernel_groups import Kernels, kernels_of
from punctuated.runtime.warm_up import compile_beside

WINDOW = "10 minutes"
LOADING = "loading the join (the first time on a machine it is compiled: 10 to 20 s)"
REPLAY_S = 12.0  # on a terminal: so that there is something to watch


@dataclass(frozen=True)
class Streams:
    """Both streams, cut into batches of the same span of time."""

    opened: list[pa.Table]
    offered: list[pa.Table]
    step_s: float

    def joined(self, aware: bool) -> Any:
        """The join over tables; without punctuations its state is unbounded, which the demo is there to show."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnboundedStateWarning)
            return pt.join(*declare(self.opened, self.offered, aware), algorithm="pwjoin" if aware else "wjoin")


def make_streams(auctions: int, batches: int) -> Streams:
    """Auctions and bids up to the last opening; the streams would go on."""
    opened, offered = pt.streams.auctions(auctions, seed=1)
    step_us = int(to_microseconds(opened["opened_at"], "opened_at")[-1]) // batches + 1
    left, right = (
        _cut(table, column, step_us, batches) for table, column in ((opened, "opened_at"), (offered, "bid_at"))
    )
    return Streams(left, right, step_us / 1e6)


def _cut(table: pa.Table, time_column: str, step_us: int, n: int) -> list[pa.Table]:
    """Batches of equal time spans, so that batches of both streams cover the same time."""
    ts = to_microseconds(table[time_column], time_column)
    edges = np.searchsorted(ts, np.arange(n + 1) * step_us).tolist()
    return [table.slice(first, last - first) for first, last in pairwise(edges)]


def declare(opened: Any, offered: Any, aware: bool) -> tuple[pt.Stream, pt.Stream]:
    """Both streams, with or without what they promise."""
    left = pt.stream(
        opened,
        name="Auction",
        key="item_id",
        time="opened_at",
        window=WINDOW,
        punctuations=pt.unique() if aware else None,
    )
    right = pt.stream(
        offered, name="Bid", key="item_id", time="bid_at", punctuations=pt.when("closed") if aware else None
    )
    return left, right


# The join over tables


@dataclass(frozen=True)
class Measured:
    """Where the join with punctuations stands after a batch, how long that took, and an auction that it finished."""

    batch: int
    reading: Reading
    ms: float
    latest: tuple[int, int] | None = None  # item and its number of bids


class TableQuery:
    """`SELECT item_id, count(*) … GROUP BY item_id` over one join of tables."""

    def __init__(self, joined: Any) -> None:
        self._batches = joined.batches
        self.driver: JoinDriver = joined.bound.driver()
        grouping = Grouping(("item_id",), {"bids": pt.count()})
        self._groups = joined.bound.seen_as(Output.GROUPS, grouping).groups()
        self._done, self._final = 0, 0
        self.latest: tuple[int, int] | None = None

    def up_to(self, batch: int) -> Reading:
        """Process all batches up to this one."""
        for batches in self._batches[self._done : batch + 1]:
            self._take(self.driver.process(*batches))
        self._done = max(self._done, batch + 1)
        counts = self.driver.counts()
        return Reading(
            tuples=counts["tuples_left"] + counts["tuples_right"],
            results=counts["results"],
            final=self._final,
            auctions_in_state=counts["state_left"],
            bids_in_state=counts["state_right"],
        )

    def _take(self, batch: BatchResult) -> None:
        groups = self._groups.process(batch)
        self._final += len(groups)
        self.latest = last_row(groups) or self.latest


def last_row(groups: pa.Table) -> tuple[int, int] | None:
    """Item and number of bids of the last group."""
    return (groups["item_id"][-1].as_py(), groups["bids"][-1].as_py()) if len(groups) else None


def needed_kernels(given: Streams) -> tuple[Kernels, ...]:
    """What the join and its groups need."""
    return kernels_of(given.joined(aware=True).bound.spec)


def on_tables(given: Streams, view: View) -> Generator[Measured]:
    """The join with punctuations, in this process; on a terminal the streams are replayed over some seconds."""
    with view.busy(LOADING):
        compile_beside(needed_kernels(given))
    query, pause = TableQuery(given.joined(aware=True)), REPLAY_S / len(given.opened) if view.is_live else 0.0
    for batch in range(len(given.opened)):
        start = time.perf_counter()
        reading = query.up_to(batch)
        took = time.perf_counter() - start
        yield Measured(batch, reading, took * 1000, query.latest)
        time.sleep(max(0.0, pause - took))
