"""Divides short resources between two streams: CPU as effective rates, memory as window sizes (KN-33 … KN-42).

Invariants: no stream gets more than its own rate or window, or less than the floor (unless it brings less itself), and
what one stream cannot use goes to the other. The join sheds at random what is not allocated (KN-33).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.errors import CostError
from punctuated.model.shed import Shed
from punctuated.plan.cost.cardinality import output_rate
from punctuated.plan.cost.inputs import Sides, amount, positive, sides

# Memory first, then CPU; the crossed ones are the best candidates (KN-41) and win ties.
_CORNERS = {
    "left-window/right-rate": ("max-left", "max-right"),
    "right-window/left-rate": ("max-right", "max-left"),
    "left-window/left-rate": ("max-left", "max-left"),
    "right-window/right-rate": ("max-right", "max-right"),
}
STRATEGIES = {
    "rate": ("optimal", "max-left", "max-right", "by-rate", "by-window", "equal"),
    "tuples": ("optimal", "max-left", "max-right", "by-rate", "inverse-rate", "equal"),
    "both": ("optimal", *_CORNERS, "equal"),
}
_SMALLEST_SHARE = 0.05  # for each stream where groups are estimated: a tuple without a chance cannot be estimated
_PLENTY = 1e12


@dataclass(frozen=True)
class Allocation:
    """The effective rates of both streams, and the tuples to keep of both windows."""

    rates: Sides
    windows: Sides


def allocate_rate(
    strategy: str, rates: Sequence[float], windows: Sequence[float], rate: float, floor: float = 0
) -> Sides:
    """The effective rates of both streams if the join can take only `rate` tuples per second (KN-35).

    Args:
        strategy: `optimal` (most results: the stream that probes the larger window first), `max-left`, `max-right`,
            `by-rate`, `by-window` or `equal`.
        rates: Tuples per second of both streams, lambda_a and lambda_b.
        windows: Tuples in the windows of both streams, A and B.
        rate: Tuples per second that the join can take, mu.
        floor: Tuples per second to take of each stream at least.

    Example:
        >>> allocate_rate("optimal", rates=(800, 200), windows=(500, 1000), rate=100, floor=10)
        (90.0, 10.0)
    """
    _check(strategy, "rate")
    rates, windows = sides(rates, "rates"), sides(windows, "windows")
    if strategy == "optimal":
        strategy = _best_for_rate(windows)
    room = _Room.of(rates, positive(rate, "rate"), amount(floor, "floor"), "rate")
    return room.split(_left_share(strategy, rates, windows))


def allocate_memory(
    strategy: str, rates: Sequence[float], windows: Sequence[float], tuples: float, floor: float = 0
) -> Sides:
    """The tuples to keep of both windows if there is room for only so many (KN-39).

    Args:
        strategy: `optimal` (most results: the slower stream's window first), `max-left`, `max-right`, `by-rate`,
            `inverse-rate` or `equal`.
        rates: Tuples per second of both streams, lambda_a and lambda_b.
        windows: Tuples in the complete windows of both streams.
        tuples: Tuples for which there is room, M.
        floor: Tuples to keep of each stream at least.

    Example:
        >>> allocate_memory("optimal", rates=(10, 50), windows=(600, 1000), tuples=1000)
        (600.0, 400.0)
    """
    _check(strategy, "tuples")
    rates, windows = sides(rates, "rates"), sides(windows, "windows")
    if strategy == "optimal":
        strategy = _best_for_memory(rates)
    room = _Room.of(windows, positive(tuples, "tuples"), amount(floor, "floor"), "tuples")
    return room.split(_left_share(strategy, rates, windows))


def allocate(
    strategy: str,
    rates: Sequence[float],
    windows: Sequence[float],
    rate: float | None = None,
    tuples: float | None = None,
    floor: float = 0,
) -> Allocation:
    """Allocates what is limited: CPU by `rate`, memory by `tuples`, or both (Table 2 of the paper, KN-07).

    Args:
        strategy: One of `STRATEGIES["rate"]`, `["tuples"]` or `["both"]`, according to what is limited.
        rates: Tuples per second of both streams.
        windows: Tuples in the complete windows of both streams.
        rate: Tuples per second that the join can take, mu; `None` if that is no limit.
        tuples: Tuples for which there is room, M; `None` if that is no limit.
        floor: The least to give each stream of what is limited, in tuples per second and in tuples to keep.

    Example:
        >>> allocate("optimal", rates=(4, 20), windows=(80, 300), rate=10, tuples=100)
        Allocation(rates=(0.0, 10.0), windows=(80.0, 20.0))
    """
    own = Allocation(sides(rates, "rates"), sides(windows, "windows"))
    if rate is None and tuples is None:
        return own
    if tuples is None and rate is not None:
        return Allocation(allocate_rate(strategy, rates, windows, rate, floor), own.windows)
    if rate is None and tuples is not None:
        return Allocation(own.rates, allocate_memory(strategy, rates, windows, tuples, floor))
    assert rate is not None and tuples is not None
    _check(strategy, "both")

    def combined(for_memory: str, for_rate: str) -> Allocation:
        return Allocation(
            allocate_rate(for_rate, own.rates, own.windows, rate, floor),
            allocate_memory(for_memory, own.rates, own.windows, tuples, floor),
        )

    if strategy == "optimal":
        # Eq. (17) is linear in lambda_a' and in A, so one of the corners is the best whatever bounds there are.
        return max((combined(*corner) for corner in _CORNERS.values()), key=_relative_output)
    return combined(*_CORNERS.get(strategy, (strategy, strategy)))


@dataclass(frozen=True)
class ShedAllocation:
    """Divides what `shed=` leaves a join, in one of `n_buckets` equal buckets."""

    shed: Shed
    n_buckets: int = 1
    estimates: bool = False

    def __call__(self, rates: Sides, windows: Sides, limit: float | None = None) -> tuple[Sides, Sides]:
        """Effective rates, and tuples to keep; `limit` is a rate that was measured in this bucket."""
        limits = self.shed.rate, self.shed.tuples
        rate, tuples = (None if each is None else each / self.n_buckets for each in limits)
        rate = limit if limit is not None else rate
        floor = self.shed.floor / self.n_buckets
        if self.estimates and not floor:
            floor = _SMALLEST_SHARE * min(each for each in (rate, tuples) if each is not None)
        granted = allocate(self.shed.strategy, rates, windows, rate=rate, tuples=tuples, floor=floor)
        return granted.rates, granted.windows


def shed_allocation(shed: Shed, n_buckets: int = 1, estimates: bool = False) -> ShedAllocation:
    """The allocation for a join; raises if no streams could meet its strategy or its floor."""
    allocation = ShedAllocation(shed, n_buckets, estimates)
    limit = None if shed.trigger_us is None else _PLENTY
    allocation((_PLENTY, _PLENTY), (_PLENTY, _PLENTY), limit)
    return allocation


def _relative_output(allocation: Allocation) -> float:
    return output_rate(rates=allocation.rates, windows=allocation.windows, selectivity=1)


def _check(strategy: str, limited: str) -> None:
    if strategy not in STRATEGIES[limited]:
        what = {"rate": "the rate", "tuples": "memory", "both": "rate and memory"}[limited]
        raise CostError(f"no strategy for {what} is called {strategy!r}; known are: {', '.join(STRATEGIES[limited])}")


def _best_for_rate(windows: Sides) -> str:
    """Probe the larger window (Eq. (14)); with equal ones shed the same share of both streams."""
    a, b = windows
    return "max-left" if b > a else "max-right" if a > b else "by-rate"


def _best_for_memory(rates: Sides) -> str:
    """Keep the slower stream's window (Eq. (16))."""
    rate_a, rate_b = rates
    return "max-left" if rate_a < rate_b else "max-right" if rate_b < rate_a else "equal"


def _left_share(strategy: str, rates: Sides, windows: Sides) -> float:
    """The share of the left stream in all that there is, before limits and floors."""
    rate_a, rate_b = rates
    parts = {
        "max-left": (1, 0),
        "max-right": (0, 1),
        "by-rate": rates,
        "inverse-rate": (rate_b, rate_a),
        "by-window": windows,
        "equal": (1, 1),
    }
    left, right = parts[strategy]
    return left / (left + right) if left + right > 0 else 0.5


@dataclass(frozen=True)
class _Room:
    """A total to divide, of which the left stream gets between `lowest` and `highest`."""

    total: float
    lowest: float
    highest: float
    right_own: float

    @staticmethod
    def of(own: Sides, limit: float, floor: float, name: str) -> "_Room":
        left, right = own
        total = min(limit, left + right)
        left_floor, right_floor = min(floor, left), min(floor, right)
        if left_floor + right_floor > total:
            raise CostError(
                f"floor={floor:g} for both streams takes {left_floor + right_floor:g}, more than {name}={limit:g}: "
                "lower the floor, or raise the limit"
            )
        return _Room(total, max(left_floor, total - right), min(left, total - right_floor), right)

    def split(self, left_share: float) -> Sides:
        left = min(self.highest, max(self.lowest, self.total * left_share))
        return left, min(self.right_own, self.total - left)
