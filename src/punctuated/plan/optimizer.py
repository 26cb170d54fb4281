"""The optimizer: which structures the windows of a running join should have (KN-32, KN-38)."""

from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.join.tactics.range_predicate import RangePredicate
from punctuated.join.tactics.window_statistics import Observation
from punctuated.model.algorithm import PWJOIN
from punctuated.model.spec import JoinSpec
from punctuated.plan.cost.machine import machine_weights
from punctuated.plan.cost.model import Candidate, CostModel
from punctuated.plan.statistics import StreamStatistics, expected, n_values

_GAIN = 0.2  # of the cost that a change must save: rebuilding a structure is not free, and rates waver


@dataclass(frozen=True)
class StructureChooser:
    """Chooses the cheapest pair that the predicate allows."""

    model: CostModel
    predicate: str

    def candidates(self, seen: Observation) -> list[Candidate]:
        """All pairs, the cheapest first."""
        return self.model.candidates(seen, self.predicate)

    def __call__(self, seen: Observation, now: tuple[str, str]) -> tuple[str, str]:
        """The structures to go on with."""
        found = self.candidates(seen)
        cost = {each.pair: each.cost for each in found}
        if found[0].cost >= (1 - _GAIN) * cost["".join(now)]:
            return now
        return found[0].pair[0], found[0].pair[1]


def structure_chooser(spec: JoinSpec, ranged: RangePredicate | None) -> StructureChooser:
    """The chooser for a join with such a predicate, by the weights of this machine."""
    predicate = "=" if spec.left.key else "any" if ranged is None else "band"
    return StructureChooser(CostModel(machine_weights(), spec.bucket_size, spec.node_size), predicate)


def describe_candidates(
    spec: JoinSpec, ranged: RangePredicate | None, statistics: Sequence[StreamStatistics] | None
) -> list[str]:
    """The structures that were weighed against each other, with their costs; nothing where there was no choice."""
    chooser = structure_chooser(spec, ranged)
    if not spec.adaptive and (spec.algorithm != PWJOIN or any(stream.punctuated for stream in spec.streams)):
        return []
    if statistics is None:
        names = ", ".join(sorted(each.pair for each in chooser.candidates(Observation.unshed((1, 1), (1, 1)))))
        measured = f"  candidates: {names}; costs depend on rates that are measured while it runs"
        return [measured] if spec.adaptive else []
    seen = expected(spec, statistics)
    costs = {each.pair: each.cost for each in chooser.candidates(seen)}
    if spec.left.key:
        costs["index of values"] = chooser.model.value_index(seen, n_values(statistics))
    ordered = sorted(costs.items(), key=lambda each: each[1])
    shown = ", ".join(f"{name} {cost:.3g}" for name, cost in ordered)
    return [f"  candidates, in seconds of CPU per minute: {shown}"]
