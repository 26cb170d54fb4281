"""How many results a join puts out per second: Eq. (12). With limited resources, give what is left of both."""

from collections.abc import Sequence

from punctuated.plan.cost.inputs import amount, positive, sides


def selectivity(distinct_left: float, distinct_right: float) -> float:
    """The share of all pairs that are results: sigma = `min(1/NKey(A), 1/NKey(B))` (KN-09).

    An approximation: it takes all values to be equally frequent, and the smaller window's to be among the larger
    one's (XD-22).

    Example:
        >>> selectivity(200, 100)
        0.005
    """
    return min(1 / positive(distinct_left, "distinct_left"), 1 / positive(distinct_right, "distinct_right"))


def output_rate(*, rates: Sequence[float], windows: Sequence[float], selectivity: float) -> float:
    """Eq. (12): `r_o = sigma * (lambda_a * B + lambda_b * A)`, results per second.

    Args:
        rates: Tuples per second of both streams, lambda_a and lambda_b.
        windows: Tuples in the windows of both streams, A and B.
        selectivity: Share of all pairs that are results, sigma.

    Example:
        >>> output_rate(rates=(800, 200), windows=(100, 200), selectivity=0.01)
        1800.0
    """
    (rate_a, rate_b), (a, b) = sides(rates, "rates"), sides(windows, "windows")
    return amount(selectivity, "selectivity") * (rate_a * b + rate_b * a)
