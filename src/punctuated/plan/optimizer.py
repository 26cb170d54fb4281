"""The optimizer: which structures the windows of a running join should have (KN-32, KN-38)."""

from dataclasses import dataclass

from punctuated.join.range_predicate import RangePredicate
from punctuated.join.window_statistics import Observation
from punctuated.model.spec import JoinSpec
from punctuated.plan.cost import Candidate, Weights, candidates
from punctuated.plan.cost.calibration import machine_weights

_GAIN = 0.2  # of the cost that a change must save: rebuilding a structure is not free, and rates waver


@dataclass(frozen=True)
class StructureChooser:
    """Chooses the cheapest pair that the predicate allows, by the weights of this machine."""

    predicate: str
    weights: Weights
    bucket_size: int
    node_size: int

    def candidates(self, seen: Observation) -> list[Candidate]:
        """All pairs, the cheapest first."""
        return candidates(
            windows=seen.windows,
            rates=seen.rates,
            predicate=self.predicate,
            weights=self.weights,
            bucket_size=self.bucket_size,
            node_size=self.node_size,
            matches=seen.matches,
        )

    def __call__(self, seen: Observation, now: tuple[str, str]) -> tuple[str, str]:
        """The structures to go on with."""
        found = self.candidates(seen)
        cost = {each.pair: each.cost for each in found}
        if found[0].cost >= (1 - _GAIN) * cost["".join(now)]:
            return now
        return found[0].pair[0], found[0].pair[1]


def structure_chooser(spec: JoinSpec, ranged: RangePredicate | None) -> StructureChooser:
    """The chooser for a join with such a predicate."""
    predicate = "=" if spec.left.key else "any" if ranged is None else "band"
    return StructureChooser(predicate, machine_weights(), spec.bucket_size, spec.node_size)
