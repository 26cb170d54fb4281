"""The cost of a whole join per unit of time: the sum of its two directions (KN-10, KN-11, KN-19)."""

from collections.abc import Sequence
from typing import Unpack

from punctuated.join.tactics.window_statistics import Observation
from punctuated.plan.cost.inputs import Sides, both_sides, sides
from punctuated.plan.cost.model import CostModel, ModelOptions


class JoinOptions(ModelOptions, total=False):
    """Options of all functions that weigh whole joins."""

    matches: float | Sequence[float]


def full_load(windows: Sequence[float], rates: Sequence[float], matches: float | Sequence[float] = 0) -> Observation:
    """The load of a join that sheds nothing, from numbers that users gave."""
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
    pair: str, *, windows: Sequence[float], rates: Sequence[float], **options: Unpack[JoinOptions]
) -> float:
    """Eq. (1): what a join costs per unit of time, in seconds of CPU per 60 seconds of input (XD-23).

    `C = lambda_a * (probe(b) + insert(a) + invalidate(a)) + lambda_b * (probe(a) + insert(b) + invalidate(b))`; the
    arguments are those of `direction_costs`, which has the same terms grouped by window.

    Example:
        >>> round(unit_time_cost("TN", windows=(9500, 500), rates=(2, 998)), 2)
        4.67
    """
    return sum(direction_costs(pair, windows=windows, rates=rates, **options))
