"""What a tuple costs in a join of many streams: its service time, averaged over each 1,000 input tuples (WJ-36).

All algorithms get the same slices of the input in turns, so that a slow spell of the machine hits all of them, and the
whole is repeated: of each slice its cheapest run counts, for what other programs add is not the join's. The time is
that of the loop, without Arrow on either side (see `timed`); results are counted but not made into columns.

The report's synthetic streams have few values and exponential gaps (WJ-35).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from papers.lab.claim import Result
from papers.lab.progress import Progress, each_part, silent
from papers.lab.trial import SECOND_US
from punctuated.bind.bound_join import BoundJoin
from punctuated.model.batch import StreamBatch
from punctuated.model.reach import Reach, farthest
from punctuated.model.times import to_microseconds
from punctuated.operator.driver import JoinDriver
from punctuated.runtime.calibration.timed_join import timed

SLICE = 1000  # input tuples of all streams together
NAMES = "ABCDEFGH"
_SHORTEST_S = 0.3  # of a synthetic stream, so that something happens


@dataclass(frozen=True)
class ManyJoin:
    """Streams, and what joins them: `pt.join` or `pt.path`, with the windows of a result as options."""

    tables: Sequence[pa.Table]
    how: Callable[..., Any]
    key: str = "key"
    time: str = "ts"
    reach: Reach | None = None  # instead of what follows from the windows

    def joined(self, algorithm: str, parts: Sequence[Sequence[pa.Table]]) -> Any:
        """The join over these parts of each stream, batch by batch."""
        named = zip(parts, NAMES, strict=False)
        streams = [pt.stream(list(each), name=name, key=self.key, time=self.time) for each, name in named]
        return self.how(*streams, algorithm=algorithm)

    def bound(self, joined: Any) -> BoundJoin:
        """The bound join, from which drivers are made."""
        bound: BoundJoin = joined.bound
        return bound if self.reach is None else replace(bound, spec=replace(bound.spec, reaches=(self.reach,)))


def slices(tables: Sequence[pa.Table], time: str = "ts", size: int = SLICE) -> list[list[pa.Table]]:
    """Each stream's part of each slice of `size` tuples of all streams, in the order of time.

    The tuples after the last whole slice are left out, unless there is no whole slice.

    >>> one, other = pa.table({"ts": [1, 2, 6, 9]}), pa.table({"ts": [3, 4, 5]})
    >>> [[part["ts"].to_pylist() for part in each] for each in slices([one, other], size=3)]
    [[[1, 2], [6]], [[3], [4, 5]]]
    """
    stream = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    order = stream[np.argsort(np.concatenate([to_microseconds(table[time], time) for table in tables]), kind="stable")]
    size = min(size, order.size)
    edges = np.arange(0, order.size + 1, size)
    cut = []
    for i, table in enumerate(tables):
        so_far = np.concatenate([[0], np.cumsum(order == i)])[edges].tolist()
        cut.append([table.slice(first, last - first) for first, last in pairwise(so_far)])
    return cut


def measure_cases(
    joins: Mapping[str, ManyJoin], algorithms: Sequence[str], repeats: int, progress: Progress = silent
) -> Result:
    """Service times of several joins, each a case."""
    parts = each_part(progress, list(joins.items()))
    return {"cases": {name: measure_services(join, algorithms, repeats, share) for (name, join), share in parts}}


def measure_services(
    join: ManyJoin, algorithms: Sequence[str], repeats: int = 1, progress: Progress = silent
) -> dict[str, Any]:
    """For each algorithm its service times in microseconds, slice by slice, its results, and its mean stored tuples.

    `in_reach` is how many tuples a later one may still match, on average; what is kept beyond is kept in vain.
    """
    parts = slices(join.tables, join.time)
    joins = {name: join.joined(name, parts) for name in algorithms}
    batches: list[tuple[StreamBatch, ...]] = joins[algorithms[0]].batches
    bounds = {name: join.bound(joined) for name, joined in joins.items()}
    for bound in bounds.values():  # whatever is compiled is compiled here
        driver = bound.driver()
        timed(driver)
        driver.process(*batches[0])
    rounds = []
    for _ in each_part(progress, range(repeats)):
        drivers = {name: bound.driver() for name, bound in bounds.items()}
        rounds.append(_run(drivers, batches))
    return {
        "tuples": np.cumsum([sum(len(each.rows) for each in batch) for batch in batches]).tolist(),
        "in_reach": _in_reach(join, max(map(max, farthest(bounds[algorithms[0]].spec.reaches))), len(batches)),
        "runs": {
            name: {
                "service_us": np.min([each[name]["service_us"] for each in rounds], axis=0).tolist(),
                "stored": float(np.mean(rounds[-1][name]["stored"])),
                "results": rounds[-1][name]["results"],
            }
            for name in algorithms
        },
    }


def _run(drivers: Mapping[str, JoinDriver], batches: Sequence[tuple[StreamBatch, ...]]) -> dict[str, Any]:
    stopwatches = {name: timed(driver) for name, driver in drivers.items()}
    for driver in drivers.values():
        driver.state.arrays.pairs.fill(0)  # the system gives out its pages here, not while the clock runs
    runs: dict[str, Any] = {name: {"service_us": [], "stored": []} for name in drivers}
    for batch in batches:
        n = sum(len(each.rows) for each in batch)
        for name, driver in drivers.items():
            before = stopwatches[name].loop_s
            driver.process(*batch)
            runs[name]["service_us"].append((stopwatches[name].loop_s - before) / n * 1e6)
            runs[name]["stored"].append(int(driver.state.sides["live"].sum()))
    for name, driver in drivers.items():
        runs[name]["results"] = int(driver.state.common["results"][0])
    return runs


def _in_reach(join: ManyJoin, reach_us: int, n_slices: int) -> float:
    """Tuples of the last so many microseconds, on average at the end of a slice."""
    ts = np.sort(np.concatenate([to_microseconds(table[join.time], join.time) for table in join.tables]))
    size = min(SLICE, ts.size)
    ends = np.arange(1, n_slices + 1) * size
    return float(np.mean(ends - np.searchsorted(ts, ts[ends - 1] - reach_us)))


# Synthetic streams


def uniform_streams(rates: Sequence[float], seconds: float, values: int) -> list[pa.Table]:
    """A stream for each rate, in tuples per second, all of the same values.

    >>> [len(table) for table in uniform_streams([1000, 300], seconds=2, values=5)]
    [2000, 600]
    """
    seconds = max(_SHORTEST_S, seconds)
    return [
        pt.streams.generate(f"uniform-{values}", round(rate * seconds), seed, gap=round(SECOND_US / rate))
        for seed, rate in enumerate(rates, 1)
    ]
