"""How many tuples a state holds, and how many results come out per second.

A stored tuple waits until its window has passed or the other stream has ended its value, whichever comes first. A tuple
whose value is over when it comes is not stored at all. So a state holds `rate * E[min(window, lifetime)]` tuples: those
that the window would hold, less those that punctuations purge. Lifetimes are assumed to be distributed exponentially,
as they are if any open value may be the next to end.

Eq. (1) of PWJoin is not used here: it subtracts all values that have ever ended, also those that no longer come.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.plan.cost.inputs import amount, positive, sides


def window_state(rate: float, window_s: float) -> float:
    """Tuples in a state that only its window bounds: `lambda * T` (PW-48), which no state exceeds on average.

    >>> window_state(rate=100, window_s=15)
    1500
    """
    return rate * window_s


@dataclass(frozen=True)
class Lifetime:
    """How long the tuples of a stream wait for the other stream to end their values; other tuples wait for the window.

    Args:
        mean_s: Mean seconds that a tuple waits whose value ends after it came.
        ended: Share of the tuples whose value ends after they came.
        over: Share of the tuples whose value was over when they came.
    """

    mean_s: float = 0.0
    ended: float = 0.0
    over: float = 0.0

    @staticmethod
    def from_counts(values: float, ended_per_s: float, elapsed_s: float) -> "Lifetime":
        """The lifetime if this many values came in the elapsed time, and this many are ended per second.

        Values that came and were not ended are open, and as many as are open now will end in their mean lifetime
        (Little's law). If as many end as come, nothing is known, and tuples are assumed to wait for their windows.

        >>> Lifetime.from_counts(values=350, ended_per_s=1, elapsed_s=300)
        Lifetime(mean_s=50.0, ended=1.0, over=0.0)
        """
        still_open = values - ended_per_s * elapsed_s
        if ended_per_s <= 0 or still_open <= 0:
            return WHOLE_WINDOW
        return Lifetime(still_open / ended_per_s, ended=1.0)

    def stored_s(self, window_s: float) -> float:
        """Mean seconds for which a tuple is stored in a window of this length.

        >>> round(Lifetime(mean_s=15, ended=1).stored_s(15), 2), Lifetime(mean_s=16, ended=0.5, over=0.5).stored_s(1024)
        (9.48, 8.0)
        """
        windows = window_s / self.mean_s if self.mean_s > 0 else math.inf
        part_of_window = -math.expm1(-windows) / windows if windows > 0 else 1.0
        return window_s * (self.ended * part_of_window + max(0.0, 1 - self.ended - self.over))

    def state(self, rate: float, window_s: float) -> float:
        """Tuples in the state of a stream with this rate and a window of this length.

        >>> Lifetime().state(rate=100, window_s=15), Lifetime(over=1).state(rate=100, window_s=15)
        (1500.0, 0.0)
        """
        return rate * self.stored_s(window_s)


WHOLE_WINDOW = Lifetime()  # no value is ended


# Results


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
