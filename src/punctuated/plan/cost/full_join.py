"""The cost of a whole join per unit of time: the sum of its two directions (KN-10, KN-11, KN-19)."""

from collections.abc import Sequence

from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE, Sides, both_sides, sides, structures_of
from punctuated.plan.cost.one_way import one_way_cost
from punctuated.plan.cost.weights import KANG_WEIGHTS, Weights


def direction_costs(
    pair: str,
    *,
    windows: Sequence[float],
    rates: Sequence[float],
    weights: Weights = KANG_WEIGHTS,
    bucket_size: float = BUCKET_SIZE,
    node_size: int = NODE_SIZE,
    matches: float | Sequence[float] = 0,
) -> Sides:
    """Eq. (2): the costs of the directions A → B (left probes right) and B → A (right probes left).

    `C_{A→B} = lambda_a * probe(b) + lambda_b * (insert(b) + invalidate(b))`, and its mirror. Neither depends on the
    structure of the other, so the best pair is made of the best structure for each.

    Args:
        pair: Two letters: the structure on window A, then that on window B.
        windows: Tuples in the windows of the left (A) and the right stream (B).
        rates: Tuples per second of both streams, lambda_a and lambda_b.
        weights: Costs of touching one tuple.
        bucket_size: Tuples per bucket of a hash index, B/|B|.
        node_size: Tuples per node of a tree, N.
        matches: Expected matches of a search, in window A and in window B; see `probe_cost`.

    Example:
        >>> [round(cost, 4) for cost in direction_costs("TN", windows=(9500, 500), rates=(2, 998))]
        [0.4996, 4.169]
    """
    on_a, on_b = structures_of(pair)
    a, b = sides(windows, "windows")
    rate_a, rate_b = sides(rates, "rates")
    in_a, in_b = both_sides(matches, "matches")
    return (
        one_way_cost(
            on_b,
            probe_rate=rate_a,
            update_rate=rate_b,
            window=b,
            weights=weights,
            bucket_size=bucket_size,
            node_size=node_size,
            matches=in_b,
        ),
        one_way_cost(
            on_a,
            probe_rate=rate_b,
            update_rate=rate_a,
            window=a,
            weights=weights,
            bucket_size=bucket_size,
            node_size=node_size,
            matches=in_a,
        ),
    )


def unit_time_cost(
    pair: str,
    *,
    windows: Sequence[float],
    rates: Sequence[float],
    weights: Weights = KANG_WEIGHTS,
    bucket_size: float = BUCKET_SIZE,
    node_size: int = NODE_SIZE,
    matches: float | Sequence[float] = 0,
) -> float:
    """Eq. (1): what a join costs per unit of time, in seconds of CPU per 60 seconds of input (XD-23).

    `C = lambda_a * (probe(b) + insert(a) + invalidate(a)) + lambda_b * (probe(a) + insert(b) + invalidate(b))`; the
    arguments are those of `direction_costs`, which has the same terms grouped by window.

    Example:
        >>> round(unit_time_cost("TN", windows=(9500, 500), rates=(2, 998)), 2)
        4.67
    """
    return sum(
        direction_costs(
            pair,
            windows=windows,
            rates=rates,
            weights=weights,
            bucket_size=bucket_size,
            node_size=node_size,
            matches=matches,
        )
    )
