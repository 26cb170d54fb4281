"""The optimizer: which structures the windows of a running join should have (KN-32, KN-38)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.join.tactics.range_predicate import RangePredicate
from punctuated.join.tactics.window_statistics import Observation
from punctuated.model.algorithm import PWJOIN
from punctuated.model.side import LEFT, RIGHT
from punctuated.model.spec import JoinSpec
from punctuated.plan.cost import Candidate, Weights, candidates
from punctuated.plan.cost.calibration import BATCH_S, machine_weights
from punctuated.plan.explain import StreamStatistics, expected_state

# Seconds of CPU of a tuple in the index of values that both windows share, what it costs more if its value is not there
# yet, and what each match costs, as measured for docs/decisions/008.
_TUPLE_S, _NEW_VALUE_S, _MATCH_S = 45e-9, 20e-9, 3e-9
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


def expected(spec: JoinSpec, statistics: Sequence[StreamStatistics]) -> Observation:
    """What is to be expected of streams with such statistics."""
    windows = expected_state(spec, LEFT, statistics), expected_state(spec, RIGHT, statistics)
    rates = statistics[LEFT].rate, statistics[RIGHT].rate
    if not spec.left.key:
        return Observation(rates, windows)
    n_values = _n_values(statistics)
    return Observation(rates, windows, (windows[LEFT] / n_values, windows[RIGHT] / n_values))


def value_index_cost(seen: Observation, n_values: float) -> float:
    """What the index of values costs, in the unit of the model, if tuples have one of so many values, evenly.

    The fewer tuples of a value there are in both windows, the more often one comes when there is none.
    """
    (left, right), (in_left, in_right) = seen.rates, seen.matches
    new = math.exp(-sum(seen.windows) / n_values)
    tuples = (left + right) * (_TUPLE_S + new * _NEW_VALUE_S)
    return BATCH_S * (tuples + (left * in_right + right * in_left) * _MATCH_S)


def _n_values(statistics: Sequence[StreamStatistics]) -> int:
    return max(1, *(each.distinct_values for each in statistics))


def describe_candidates(
    spec: JoinSpec, ranged: RangePredicate | None, statistics: Sequence[StreamStatistics] | None
) -> list[str]:
    """The structures that were weighed against each other, with their costs; nothing where there was no choice."""
    chooser = structure_chooser(spec, ranged)
    if not spec.adaptive and (spec.algorithm != PWJOIN or any(stream.punctuated for stream in spec.streams)):
        return []
    if statistics is None:
        names = ", ".join(sorted(each.pair for each in chooser.candidates(Observation((1, 1), (1, 1)))))
        measured = f"  candidates: {names}; costs depend on rates that are measured while it runs"
        return [measured] if spec.adaptive else []
    seen = expected(spec, statistics)
    costs = {each.pair: each.cost for each in chooser.candidates(seen)}
    if spec.left.key:
        costs["index of values"] = value_index_cost(seen, _n_values(statistics))
    ordered = sorted(costs.items(), key=lambda each: each[1])
    shown = ", ".join(f"{name} {cost:.3g}" for name, cost in ordered)
    return [f"  candidates, in seconds of CPU per minute: {shown}"]


def structure_chooser(spec: JoinSpec, ranged: RangePredicate | None) -> StructureChooser:
    """The chooser for a join with such a predicate."""
    predicate = "=" if spec.left.key else "any" if ranged is None else "band"
    return StructureChooser(predicate, machine_weights(), spec.bucket_size, spec.node_size)
