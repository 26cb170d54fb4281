"""The optimizer: which structures the windows of a running join should have (KN-32, KN-38).

A choice is made from an observed or an expected load, by the weights of this machine. A running join changes its
structures only for a clear gain.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from punctuated.model.algorithm import ALGORITHMS, PWJOIN
from punctuated.model.load import Observation
from punctuated.model.spec import JoinSpec, Side
from punctuated.operator.windows.predicate import RangePredicate
from punctuated.plan.cost.model import Candidate, CostModel
from punctuated.plan.cost.weights import machine_weights
from punctuated.plan.statistics import StreamStatistics, expected_load, expected_state, n_values

VALUE_INDEX = "index of values"
_WEIGHED = ("pwjoin", "windows")  # families whose work the cost model knows
_GAIN = 0.2  # share of the cost that a change must save: rebuilding a structure is not free, and rates waver


@dataclass(frozen=True)
class StructureChooser:
    """Chooses the cheapest pair of structures that the predicate allows."""

    model: CostModel
    predicate: str

    def candidates(self, seen: Observation) -> list[Candidate]:
        """All pairs that the predicate allows, the cheapest first."""
        return self.model.candidates(seen, self.predicate)

    def __call__(self, seen: Observation, now: tuple[str, str]) -> tuple[str, str]:
        """The structures to go on with: those of `now`, unless another pair is clearly cheaper."""
        found = self.candidates(seen)
        cost = {each.pair: each.cost for each in found}
        if found[0].cost >= (1 - _GAIN) * cost["".join(now)]:
            return now
        return found[0].pair[0], found[0].pair[1]


def structure_chooser(spec: JoinSpec, ranged: RangePredicate | None) -> StructureChooser:
    """The chooser for a join with this range predicate, by the weights of this machine."""
    predicate = "=" if spec.left.key else "any" if ranged is None else "band"
    return StructureChooser(CostModel(machine_weights(), spec.bucket_size, spec.node_size), predicate)


@dataclass(frozen=True)
class Comparison:
    """The structures that a join could have, with their costs in seconds of CPU per minute.

    There are no costs as long as rates are unknown.
    """

    chosen: str
    names: tuple[str, ...]  # the cheapest first, where costs are known
    costs: Mapping[str, float]

    @property
    def others(self) -> list[str]:
        """The structures that were not chosen."""
        return [name for name in self.names if name != self.chosen]


def compare_structures(
    spec: JoinSpec, ranged: RangePredicate | None, statistics: Sequence[StreamStatistics] | None
) -> Comparison | None:
    """Compares the structures that a join of two streams could have; None where nothing is known of them.

    Structures of windows know nothing of punctuations. Where a join uses punctuations, only the index of values is
    possible.
    """
    chooser, structures = structure_chooser(spec, ranged), spec.algorithm.structures
    chosen = VALUE_INDEX if structures is None else "".join(structures)
    is_choice = structures is not None or (
        spec.algorithm == PWJOIN and not any(stream.punctuated for stream in spec.streams)
    )
    if spec.family not in _WEIGHED or (statistics is None and not spec.adaptive):
        return None
    if statistics is None:
        names = sorted(each.pair for each in chooser.candidates(Observation.unshed((1, 1), (1, 1))))
        return Comparison(chosen, tuple(names), {})
    seen = expected_load(spec, statistics)
    costs = {each.pair: each.cost for each in chooser.candidates(seen)} if is_choice else {}
    if spec.left.key and chooser.model.weights.value_index is not None:
        costs[VALUE_INDEX] = chooser.model.value_index(seen, n_values(statistics))
    return Comparison(chosen, tuple(sorted(costs, key=lambda name: (costs[name], name))), costs)


def other_states(spec: JoinSpec, statistics: Sequence[StreamStatistics] | None) -> dict[str, float]:
    """The tuples that each other algorithm over the index of values would hold of both streams."""
    if statistics is None or spec.is_staged or spec.algorithm.structures is not None:
        return {}
    others = {
        name: replace(spec, algorithm=each)
        for name, each in ALGORITHMS.items()
        if name != spec.algorithm.name and each.family == PWJOIN.family
    }
    return {name: sum(expected_state(each, side, statistics) for side in Side) for name, each in others.items()}
