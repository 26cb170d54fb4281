"""What a pair of structures costs in a running join, in the unit of the model: seconds of CPU per 60 s of input.

Count windows over two generated streams. The windows are full before anything is timed. The time is that of the loop,
without Arrow on either side (see `timed`), and results are found and counted but not made into columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import pyarrow as pa

import punctuated as pt
from papers.lab.progress import Progress, each_part, silent
from papers.lab.trial import SECOND_US, join_quietly
from punctuated.expressions.builders import band
from punctuated.expressions.nodes import Expression
from punctuated.plan import cost
from punctuated.runtime.calibration.timed_join import timed

MINUTE_S = 60.0
Sides = tuple[float, float]
Tables = tuple[pa.Table, pa.Table]


@dataclass(frozen=True)
class WindowJoin:
    """Two streams of uniform values and the last tuples of each, joined by equal values or within a band."""

    windows: tuple[int, int]
    rates: Sides
    values: int = 50_000  # distinct ones, the same in both streams
    reach: int | None = None  # values differ by so much at most; None: they are equal

    @property
    def predicate(self) -> str:
        """The name of the predicate in the cost model."""
        return "=" if self.reach is None else "band"

    @property
    def where(self) -> Expression | None:
        """The predicate beside equal keys."""
        return None if self.reach is None else band("key", -self.reach, self.reach)

    @property
    def matches(self) -> Sides:
        """Expected matches of a probe, in each window."""
        share = (1 if self.reach is None else 2 * self.reach + 1) / self.values
        return share * self.windows[0], share * self.windows[1]

    def estimates(self, weights: cost.Weights) -> dict[str, float]:
        """What every pair costs by the model, from the cheapest on."""
        found = cost.candidates(
            windows=self.windows, rates=self.rates, predicate=self.predicate, matches=self.matches, weights=weights
        )
        return {each.pair: each.cost for each in found}

    def tables(self, seconds: float, n_batches: int) -> list[Tables]:
        """Tables that fill the windows, then `n_batches` of this length, each with its exact number of tuples."""
        name, (a, b) = f"uniform-{self.values}", self.windows
        filling = pt.streams.generate(name, a, seed=1, gap=1), pt.streams.generate(name, b, seed=2, gap=1)
        counts = [round(rate * seconds) for rate in self.rates]
        left, right = (
            pt.streams.generate(name, n_batches * count, seed, gap=max(1, round(SECOND_US / rate)), start=SECOND_US)
            for seed, (count, rate) in enumerate(zip(counts, self.rates, strict=True), 3)
        )
        return [filling] + [
            (left.slice(i * counts[0], counts[0]), right.slice(i * counts[1], counts[1])) for i in range(n_batches)
        ]


@dataclass(frozen=True)
class Measured:
    """Seconds of CPU per 60 s of input, batch by batch."""

    costs: Mapping[str, Sequence[float]]
    results: int  # that each pair found, those of the filling included

    def cheapest(self) -> dict[str, float]:
        """Per pair the cost of its cheapest batch: what other programs on the machine add is not the pair's."""
        return {pair: min(costs) for pair, costs in self.costs.items()}

    def sums(self) -> dict[str, list[float]]:
        """Per pair what all batches so far have cost."""
        return {pair: [0.0, *accumulate(costs)] for pair, costs in self.costs.items()}


def measure_pairs(
    join: WindowJoin,
    pairs: Sequence[str],
    seconds: float = MINUTE_S,
    n_batches: int = 5,
    progress: Progress = silent,
) -> Measured:
    """Costs of pairs that process the same batches in turns, so that a slow spell of the machine hits all of them."""
    lefts, rights = zip(*join.tables(seconds, n_batches), strict=True)
    key = "key" if join.reach is None else None
    left, right = (
        pt.stream(list(tables), name=name, key=key, time="ts", window=pt.rows(n))
        for tables, name, n in zip((lefts, rights), "AB", join.windows, strict=True)
    )
    joins = {pair: join_quietly(left, right, pair, where=join.where) for pair in pairs}
    drivers = {pair: joined.bound.driver() for pair, joined in joins.items()}
    stopwatches = {pair: timed(driver) for pair, driver in drivers.items()}
    costs: dict[str, list[float]] = {pair: [] for pair in pairs}
    filling, *timed_batches = joins[pairs[0]].batches
    for driver in drivers.values():
        driver.process(*filling)
    for batches, _ in each_part(progress, timed_batches):
        for pair, driver in drivers.items():
            before = stopwatches[pair].loop_s
            driver.process(*batches)
            costs[pair].append((stopwatches[pair].loop_s - before) * MINUTE_S / seconds)
    found = {int(driver.state.common["results"][0]) for driver in drivers.values()}
    assert len(found) == 1, f"pairs found {found} results"
    return Measured(costs, found.pop())
