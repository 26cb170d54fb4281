"""The cost model of window joins: what it costs to probe, to update, and to join (KN-10 … KN-16).

A structure on window B serves the direction A → B: tuples of A probe it, tuples of B update it. All costs are in the
unit of the weights, see `weights`.
"""

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TypedDict

from punctuated.errors import CostError
from punctuated.join.tactics.window_statistics import Observation
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.plan.cost.inputs import (
    BUCKET_SIZE,
    NODE_SIZE,
    STRUCTURES,
    Sides,
    check_bucket_size,
    check_node_size,
    serving_structures,
    structures_of,
)
from punctuated.plan.cost.touched import tuples_probed, tuples_updated
from punctuated.plan.cost.weights import KANG_WEIGHTS, Weights


@dataclass(frozen=True)
class Candidate:
    """A pair of structures, its cost, and the costs of its directions A → B and B → A."""

    pair: str
    cost: float
    directions: Sides


class ModelOptions(TypedDict, total=False):
    """What a `CostModel` is made of, as options of functions that make one."""

    weights: Weights
    bucket_size: float
    node_size: int


@dataclass(frozen=True)
class CostModel:
    """Costs by the formulas of the paper, with these weights and these sizes of buckets and nodes.

    Args:
        weights: Costs of touching one tuple.
        bucket_size: Tuples per bucket of a hash index, B/|B|.
        node_size: Tuples per node of a tree, N.

    Example:
        >>> round(CostModel().join("TN", Observation.unshed(rates=(2, 998), windows=(9500, 500))), 2)
        4.67
    """

    weights: Weights = KANG_WEIGHTS
    bucket_size: float = BUCKET_SIZE
    node_size: int = NODE_SIZE

    def __post_init__(self) -> None:
        check_bucket_size(self.bucket_size)
        check_node_size(self.node_size)

    # One direction

    def probe(self, structure: str, window: float, matches: float = 0) -> float:
        """Cost of one search: tuples touched, times P, and the costs that the paper leaves out (see `Weight`)."""
        weight = self.weights.of(structure)
        in_tree = matches if weight.match is None else 0
        touched = tuples_probed(structure, window, self.bucket_size, self.node_size, in_tree, self.weights.ceilings)
        in_window = weight.search + weight.doubling * math.log2(max(1.0, window))
        return in_window + touched * weight.P + matches * (weight.match or 0.0)

    def insert(self, structure: str, window: float) -> float:
        """Cost of storing a tuple: tuples touched, times I, and the fixed cost if there is one."""
        weight = self.weights.of(structure)
        return weight.update + tuples_updated(structure, window, self.node_size, self.weights.ceilings) * weight.I

    def invalidate(self, structure: str, window: float) -> float:
        """Cost of forgetting the oldest tuple. It has to be found again, so it equals an insertion (KN-14, KN-16)."""
        return self.insert(structure, window)

    def one_way(self, structure: str, probes: float, updates: float, window: float, matches: float = 0) -> float:
        """Cost of these searches and updates per second; every tuple that is stored drives another one out (KN-03)."""
        searched = probes * self.probe(structure, window, matches)
        return searched + updates * (self.insert(structure, window) + self.invalidate(structure, window))

    # A join

    def directions(self, pair: str, seen: Observation) -> Sides:
        """Eq. (2): the costs of the directions A → B and B → A, each with the loop around the tuples that probe in it.

        A tuple that is shed goes through the loop, but neither searches nor updates (KN-38).
        """
        structures = structures_of(pair)
        left, right = (self._direction(structures[ours.other], ours, seen) for ours in (LEFT, RIGHT))
        return left, right

    def _direction(self, structure: str, ours: Side, seen: Observation) -> float:
        other = ours.other
        window, matches = seen.windows[other], seen.matches[other]
        worked = self.one_way(structure, seen.probing[ours], seen.storing[other], window, matches)
        return seen.rates[ours] * self.weights.loop + worked

    def join(self, pair: str, seen: Observation) -> float:
        """Eq. (1): the cost of both directions."""
        return sum(self.directions(pair, seen))

    def candidates(
        self, seen: Observation, predicate: str = "=", structures: str = "".join(STRUCTURES)
    ) -> list[Candidate]:
        """All pairs of these structures that the predicate allows, the cheapest first; ties by name."""
        serving = replace(self, weights=self.weights.serving(predicate))
        allowed = serving_structures(predicate, structures)
        costs = {pair: serving.directions(pair, seen) for pair in map("".join, product(allowed, repeat=2))}
        found = [Candidate(pair, sum(each), each) for pair, each in costs.items()]
        return sorted(found, key=lambda each: (each.cost, each.pair))

    def value_index(self, seen: Observation, n_values: float) -> float:
        """Cost of the index of values, if the tuples are spread evenly over `n_values` values.

        The fewer tuples of a value there are in both windows, the more often a new one finds none.
        """
        weight = self.weights.value_index
        if weight is None:
            raise CostError("these weights do not say what an index of values costs: calibrate again")
        is_new = math.exp(-sum(seen.windows) / n_values)
        (left, right), (in_left, in_right) = seen.probing, seen.matches
        arrivals = sum(seen.rates) * weight.arrival + sum(seen.storing) * is_new * weight.new_value
        return arrivals + (left * in_right + right * in_left) * weight.match
