"""The cost model of window joins: what it costs to probe, to update and to join, and which structures are cheapest.

A structure on window B serves the direction A → B: tuples of A probe it, tuples of B update it (KN-10 … KN-16). All
costs are in the unit of the weights, see `weights`. `CostModel` has the formulas; the functions below it are the same
formulas with checked arguments, for users. Beside their own arguments they take the options of a `CostModel`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Required, TypedDict, Unpack

from punctuated.errors import CostError
from punctuated.model.load import Observation
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.plan.cost.inputs import (
    BUCKET_SIZE,
    NODE_SIZE,
    STRUCTURES,
    Sides,
    amount,
    both_sides,
    check_bucket_size,
    check_node_size,
    serving_structures,
    sides,
    structures_of,
)
from punctuated.plan.cost.touched import tuples_probed, tuples_updated
from punctuated.plan.cost.weights import KANG_WEIGHTS, Weights

ALL_PAIRS = tuple(f"{on_a}{on_b}" for on_a, on_b in product(STRUCTURES, repeat=2))


@dataclass(frozen=True)
class Candidate:
    """A pair of structures, its cost, and the costs of its directions A → B and B → A."""

    pair: str
    cost: float
    directions: Sides


class ModelOptions(TypedDict, total=False):
    """The options of functions that make a `CostModel`."""

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

    # A structure

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


# One direction of a join: one stream probes a window, the other one updates it


def probe_cost(structure: str, window: float, *, matches: float = 0, **options: Unpack[ModelOptions]) -> float:
    """Cost of one search in a window: tuples touched, times P, and the fixed cost if there is one.

    Args:
        structure: `N` nested loops, `H` hash index, `B` B+tree or `T` T-tree.
        window: Tuples in the window, B.
        matches: Expected matches of a search; in a tree each is one more tuple touched, unless the weights say what a
            match costs. The paper has none.
        options: See `CostModel`.

    Example:
        >>> round(probe_cost("N", 5000), 6), round(probe_cost("H", 5000), 6)
        (1.5, 0.0055)
    """
    return CostModel(**options).probe(structure, amount(window, "window"), amount(matches, "matches"))


def insert_cost(structure: str, window: float, **options: Unpack[ModelOptions]) -> float:
    """Cost of storing a tuple in a window: tuples touched, times I, and the fixed cost if there is one.

    Example:
        >>> insert_cost("H", 5000)
        0.00078
    """
    return CostModel(**options).insert(structure, amount(window, "window"))


def invalidate_cost(structure: str, window: float, **options: Unpack[ModelOptions]) -> float:
    """Cost of forgetting the oldest tuple: it has to be found again, so that it equals an insertion (KN-14, KN-16).

    Example:
        >>> invalidate_cost("T", 5000) == insert_cost("T", 5000)
        True
    """
    return CostModel(**options).invalidate(structure, amount(window, "window"))


def one_way_cost(
    structure: str,
    *,
    probe_rate: float,
    update_rate: float,
    window: float,
    matches: float = 0,
    **options: Unpack[ModelOptions],
) -> float:
    """Cost of one direction, whatever the structure: a line of Eq. (2).

    Each tuple that updates the window is inserted and drives another one out (physical windows, KN-03). A tuple that
    probes also goes through the loop of the join, which the paper takes to be free.

    Example:
        >>> round(one_way_cost("T", probe_rate=998, update_rate=2, window=9500), 5)
        4.16896
    """
    model, probes = CostModel(**options), amount(probe_rate, "probe_rate")
    updates, window = amount(update_rate, "update_rate"), amount(window, "window")
    worked = model.one_way(structure, probes, updates, window, amount(matches, "matches"))
    return probes * model.weights.loop + worked


# A join: the sum of its two directions


class CostOptions(ModelOptions, total=False):
    """The options of functions that compute the cost of a join."""

    matches: float | Sequence[float]


def full_load(windows: Sequence[float], rates: Sequence[float], matches: float | Sequence[float] = 0) -> Observation:
    """The load of a join that sheds nothing, from the arguments of a user."""
    return Observation.unshed(sides(rates, "rates"), sides(windows, "windows"), both_sides(matches, "matches"))


def direction_costs(
    pair: str,
    *,
    windows: Sequence[float],
    rates: Sequence[float],
    matches: float | Sequence[float] = 0,
    **options: Unpack[ModelOptions],
) -> Sides:
    """Eq. (2): the costs of the directions A → B (left probes right) and B → A (right probes left).

    `C_{A→B} = lambda_a * probe(b) + lambda_b * (insert(b) + invalidate(b))`, and its mirror. Neither depends on the
    structure of the other, so the best pair is made of the best structure for each.

    Args:
        pair: Two letters: the structure on window A, then that on window B.
        windows: Tuples in the windows of the left (A) and the right stream (B).
        rates: Tuples per second of both streams, lambda_a and lambda_b.
        matches: Expected matches of a search, in window A and in window B; see `probe_cost`.
        options: `weights`, `bucket_size` and `node_size`, see `CostModel`.

    Example:
        >>> [round(cost, 4) for cost in direction_costs("TN", windows=(9500, 500), rates=(2, 998))]
        [0.4996, 4.169]
    """
    return CostModel(**options).directions(pair, full_load(windows, rates, matches))


def unit_time_cost(
    pair: str, *, windows: Sequence[float], rates: Sequence[float], **options: Unpack[CostOptions]
) -> float:
    """Eq. (1): what a join costs per unit of time, in seconds of CPU per 60 seconds of input (XD-23).

    `C = lambda_a * (probe(b) + insert(a) + invalidate(a)) + lambda_b * (probe(a) + insert(b) + invalidate(b))`; the
    arguments are those of `direction_costs`, which has the same terms grouped by window.

    Example:
        >>> round(unit_time_cost("TN", windows=(9500, 500), rates=(2, 998)), 2)
        4.67
    """
    return sum(direction_costs(pair, windows=windows, rates=rates, **options))


# The choice of structures (KN-05, KN-32)


class Choice(CostOptions, total=False):
    """The arguments of `candidates`."""

    windows: Required[Sequence[float]]
    rates: Required[Sequence[float]]
    predicate: str
    structures: str


def candidates(
    *,
    windows: Sequence[float],
    rates: Sequence[float],
    predicate: str = "=",
    structures: str = "NHBT",
    matches: float | Sequence[float] = 0,
    **options: Unpack[ModelOptions],
) -> list[Candidate]:
    """All pairs of structures that the predicate allows, the cheapest first; ties by name.

    Args:
        windows: Tuples in the windows of both streams.
        rates: Tuples per second of both streams; where tuples are shed, the effective ones (KN-38).
        predicate: `=`, one of `<`, `<=`, `>`, `>=`, `band` for ranges, or `any`.
        structures: The structures to choose from; the paper leaves out `B`, which takes more memory than `T` (KN-21).
        matches: Expected matches of a search, in window A and in window B; see `probe_cost`.
        options: `weights`, `bucket_size` and `node_size`, see `CostModel`.

    Example:
        >>> [each.pair for each in candidates(windows=(9500, 500), rates=(2, 998), predicate="<")[:3]]
        ['BN', 'TN', 'BT']
    """
    return CostModel(**options).candidates(full_load(windows, rates, matches), predicate, structures)


def best(**choice: Unpack[Choice]) -> str:
    """The cheapest pair of structures; the arguments are those of `candidates`.

    Example:
        >>> best(windows=(9500, 500), rates=(2, 998), structures="NHT")
        'TN'
    """
    return candidates(**choice)[0].pair
