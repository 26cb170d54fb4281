"""Which structures to join with: the cheapest pair that the predicate allows (KN-05, KN-32)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from punctuated.errors import CostError
from punctuated.plan.cost.full_join import direction_costs
from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE, STRUCTURES, Sides, check_structure
from punctuated.plan.cost.weights import KANG_WEIGHTS, Weights

# A hash index finds equal keys only, a tree also those of a range, and a scan whatever it is asked (KN-05).
_EQUALITY, _RANGE, _ARBITRARY = "NHBT", "NBT", "N"
PREDICATES = {
    "=": _EQUALITY,
    "<": _RANGE,
    "<=": _RANGE,
    ">": _RANGE,
    ">=": _RANGE,
    "band": _RANGE,
    "any": _ARBITRARY,
}
ALL_PAIRS = tuple(f"{on_a}{on_b}" for on_a, on_b in product(STRUCTURES, repeat=2))


@dataclass(frozen=True)
class Candidate:
    """A pair of structures, its cost, and the costs of its directions A → B and B → A."""

    pair: str
    cost: float
    directions: Sides


def candidates(
    *,
    windows: Sequence[float],
    rates: Sequence[float],
    predicate: str = "=",
    structures: str = "NHBT",
    weights: Weights = KANG_WEIGHTS,
    bucket_size: float = BUCKET_SIZE,
    node_size: int = NODE_SIZE,
    matches: float | Sequence[float] = 0,
) -> list[Candidate]:
    """All pairs of structures that the predicate allows, the cheapest first; ties by name.

    Args:
        windows: Tuples in the windows of both streams.
        rates: Tuples per second of both streams; where tuples are shed, the effective ones (KN-38).
        predicate: `=`, one of `<`, `<=`, `>`, `>=`, `band` for ranges, or `any`.
        structures: The structures to choose from; the paper leaves out `B`, which takes more memory than `T` (KN-21).
        weights: Costs of touching one tuple.
        bucket_size: Tuples per bucket of a hash index.
        node_size: Tuples per node of a tree.
        matches: Expected matches of a search, in window A and in window B; see `probe_cost`.

    Example:
        >>> [each.pair for each in candidates(windows=(9500, 500), rates=(2, 998), predicate="<")[:3]]
        ['BN', 'TN', 'BT']
    """
    allowed = _allowed(predicate, structures)
    found = []
    for pair in map("".join, product(allowed, repeat=2)):
        costs = direction_costs(
            pair,
            windows=windows,
            rates=rates,
            weights=weights.serving(predicate),
            bucket_size=bucket_size,
            node_size=node_size,
            matches=matches,
        )
        found.append(Candidate(pair, sum(costs), costs))
    return sorted(found, key=lambda each: (each.cost, each.pair))


def best(
    *,
    windows: Sequence[float],
    rates: Sequence[float],
    predicate: str = "=",
    structures: str = "NHBT",
    weights: Weights = KANG_WEIGHTS,
    bucket_size: float = BUCKET_SIZE,
    node_size: int = NODE_SIZE,
    matches: float | Sequence[float] = 0,
) -> str:
    """The cheapest pair of structures; the arguments are those of `candidates`.

    Example:
        >>> best(windows=(9500, 500), rates=(2, 998), structures="NHT")
        'TN'
    """
    ordered = candidates(
        windows=windows,
        rates=rates,
        predicate=predicate,
        structures=structures,
        weights=weights,
        bucket_size=bucket_size,
        node_size=node_size,
        matches=matches,
    )
    return ordered[0].pair


def _allowed(predicate: str, structures: str) -> list[str]:
    if predicate not in PREDICATES:
        raise CostError(f"no predicate is called {predicate!r}; known are: {', '.join(PREDICATES)}")
    wanted = {check_structure(structure) for structure in structures}
    allowed = [structure for structure in PREDICATES[predicate] if structure in wanted]
    if not allowed:
        raise CostError(
            f"none of structures={structures!r} serves the predicate {predicate!r}: "
            f"give one of {', '.join(PREDICATES[predicate])}"
        )
    return allowed
