"""How many results limited resources leave, as the paper derives it: Eq. (13) to (19).

Symbols: lambda_a', lambda_b' are the *effective rates*, what is left of the streams' rates when the join operator can
take only mu tuples per second (`rate`); A and B are the tuples kept of both windows when there is room for M
(`tuples`). What is shed is shed at random (KN-33); windows are kept complete, which is taken to be cheap (KN-35).
Allocations are found by Eq. (12) itself, see `punctuated.plan.allocation`.
"""

from collections.abc import Sequence

from punctuated.errors import CostError
from punctuated.plan.cost.cardinality import output_rate
from punctuated.plan.cost.inputs import Sides, amount, positive, sides

_ROUNDING = 1e-9  # relative; sums of shares may exceed a limit by so much


def cpu_limited_output_rate(
    effective_rates: Sequence[float],
    *,
    rates: Sequence[float],
    windows: Sequence[float],
    rate: float,
    selectivity: float,
) -> float:
    """Eq. (13): Eq. (12) of effective rates that sum up to at most mu, each at most its stream's rate.

    Args:
        effective_rates: Tuples per second that are taken of both streams, lambda_a' and lambda_b'.
        rates: Tuples per second of both streams, lambda_a and lambda_b.
        windows: Tuples in the windows of both streams, A and B.
        rate: Tuples per second that the join can take, mu.
        selectivity: Share of all pairs that are results, sigma.

    Example:
        >>> cpu_limited_output_rate((100, 0), rates=(800, 200), windows=(100, 200), rate=100, selectivity=0.01)
        200.0
    """
    effective = _within(effective_rates, rates, "rates")
    _at_most(sum(effective), positive(rate, "rate"), "effective_rates", "rate")
    return output_rate(rates=effective, windows=windows, selectivity=selectivity)


def output_rate_of_left_rate(left_rate: float, *, windows: Sequence[float], rate: float, selectivity: float) -> float:
    """Eq. (14): `r_o = sigma * (B - A) * lambda_a' + sigma * mu * A`, Eq. (13) with the other stream taking the rest.

    Linear in lambda_a': all to the stream that probes the larger window; with equal windows it does not matter.

    Example:
        >>> output_rate_of_left_rate(100, windows=(500, 1000), rate=100, selectivity=1)
        100000.0
    """
    (a, b), rate = sides(windows, "windows"), positive(rate, "rate")
    left_rate = _at_most(amount(left_rate, "left_rate"), rate, "left_rate", "rate")
    sigma = amount(selectivity, "selectivity")
    return sigma * (b - a) * left_rate + sigma * rate * a


def memory_limited_output_rate(
    windows: Sequence[float], *, rates: Sequence[float], tuples: float, selectivity: float
) -> float:
    """Eq. (15): Eq. (12) of windows that hold at most M tuples together.

    Args:
        windows: Tuples that are kept of both windows, A and B.
        rates: Tuples per second of both streams, lambda_a and lambda_b.
        tuples: Tuples for which there is room, M.
        selectivity: Share of all pairs that are results, sigma.

    Example:
        >>> memory_limited_output_rate((1000, 0), rates=(10, 50), tuples=1000, selectivity=0.005)
        250.0
    """
    kept = sides(windows, "windows")
    _at_most(sum(kept), positive(tuples, "tuples"), "windows", "tuples")
    return output_rate(rates=rates, windows=kept, selectivity=selectivity)


def output_rate_of_left_window(
    left_window: float, *, rates: Sequence[float], tuples: float, selectivity: float
) -> float:
    """Eq. (16): `r_o = sigma * (lambda_b - lambda_a) * A + sigma * lambda_a * M`, Eq. (15) with B taking the rest.

    Linear in A: all memory to the slower stream's window; with equal rates it does not matter.

    Example:
        >>> output_rate_of_left_window(500, rates=(10, 50), tuples=1000, selectivity=0.005)
        150.0
    """
    (rate_a, rate_b), tuples = sides(rates, "rates"), positive(tuples, "tuples")
    a = _at_most(amount(left_window, "left_window"), tuples, "left_window", "tuples")
    sigma = amount(selectivity, "selectivity")
    return sigma * (rate_b - rate_a) * a + sigma * rate_a * tuples


def limited_output_rate(
    effective_rates: Sequence[float],
    windows: Sequence[float],
    *,
    rates: Sequence[float],
    rate: float,
    tuples: float,
    selectivity: float,
) -> float:
    """Eq. (17): Eq. (12) under both limits, the arguments being those of Eq. (13) and (15).

    Example:
        >>> limited_output_rate((0, 10), (100, 0), rates=(10, 10), rate=10, tuples=100, selectivity=0.01)
        10.0
    """
    kept = sides(windows, "windows")
    _at_most(sum(kept), positive(tuples, "tuples"), "windows", "tuples")
    return cpu_limited_output_rate(effective_rates, rates=rates, windows=kept, rate=rate, selectivity=selectivity)


def split_resources(share: float, left_window: float, *, rate: float, tuples: float) -> tuple[Sides, Sides]:
    """Eq. (18): `lambda_a' = x * mu`, `lambda_b' = (1 - x) * mu`, `B = M - A`; effective rates and windows.

    Args:
        share: The left stream's share of the CPU, x.
        left_window: Tuples that are kept of window A.
        rate: Tuples per second that the join can take, mu.
        tuples: Tuples for which there is room, M.

    Example:
        >>> split_resources(0.25, 60, rate=10, tuples=100)
        ((2.5, 7.5), (60.0, 40.0))
    """
    x = _checked_share(share)
    rate, tuples = positive(rate, "rate"), positive(tuples, "tuples")
    a = _at_most(amount(left_window, "left_window"), tuples, "left_window", "tuples")
    return (x * rate, (1 - x) * rate), (a, tuples - a)


def output_rate_of_split(share: float, left_window: float, *, rate: float, tuples: float, selectivity: float) -> float:
    """Eq. (19): `r_o = sigma * (x * mu * M - (2x - 1) * mu * A)`, Eq. (17) of the split of Eq. (18).

    At most `sigma * mu * M`, with all memory for one window and all CPU for the other stream's probes (KN-41).

    Example:
        >>> output_rate_of_split(0.5, 50, rate=10, tuples=100, selectivity=0.01)
        5.0
    """
    x = _checked_share(share)
    rate, tuples = positive(rate, "rate"), positive(tuples, "tuples")
    a = _at_most(amount(left_window, "left_window"), tuples, "left_window", "tuples")
    return amount(selectivity, "selectivity") * (x * rate * tuples - (2 * x - 1) * rate * a)


def _within(effective: Sequence[float], own: Sequence[float], name: str) -> Sides:
    left, right = sides(effective, f"effective_{name}")
    own_left, own_right = sides(own, name)
    _at_most(left, own_left, f"effective_{name}[0]", f"{name}[0]")
    _at_most(right, own_right, f"effective_{name}[1]", f"{name}[1]")
    return left, right


def _at_most(value: float, limit: float, name: str, limit_name: str) -> float:
    if value > limit * (1 + _ROUNDING):
        raise CostError(f"{name} takes {value:g}, more than {limit_name}={limit:g}: take less, or raise the limit")
    return value


def _checked_share(share: float) -> float:
    if amount(share, "share") > 1:
        raise CostError(f"share={share!r}: give a number between 0 and 1")
    return share
