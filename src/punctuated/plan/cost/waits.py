"""How many tuples a state holds: their rate, times how long each of them waits.

A stored tuple waits until its window has passed or the other stream has ended its value, whichever comes first; one
whose value is over when it comes is not stored at all. So the state is `rate * E[min(window, wait)]`: what the window
would hold, less what punctuations remove. Waits are taken to be spread exponentially around their mean, as they are if
any open value may be the next to end.

Eq. (1) of PWJoin is no such model: it takes off all values that have ever ended, also those that no longer come.
"""

import math
from dataclasses import dataclass


def window_state(rate: float, window_s: float) -> float:
    """Tuples in a state that only its window bounds: `lambda * T` (PW-48), which no state exceeds on average.

    >>> window_state(rate=100, window_s=15)
    1500
    """
    return rate * window_s


@dataclass(frozen=True)
class Waits:
    """How long a stream's tuples wait for the other stream to end their values.

    Args:
        mean_s: Mean seconds, of tuples whose value ends after they came.
        ended: Their share of all tuples.
        over: Share of tuples whose value was over when they came. The rest waits for its window.
    """

    mean_s: float = 0.0
    ended: float = 0.0
    over: float = 0.0

    @staticmethod
    def counted(values: float, ended_per_s: float, elapsed_s: float) -> "Waits":
        """What counts tell: so many values came within this time, and so many of them are ended in a second.

        Those that came and were not ended are open, and as many as are open now will end in their mean lifetime
        (Little's law). Where as many end as come, nothing is known, and tuples are taken to wait for their windows.

        >>> Waits.counted(values=350, ended_per_s=1, elapsed_s=300)
        Waits(mean_s=50.0, ended=1.0, over=0.0)
        """
        still_open = values - ended_per_s * elapsed_s
        if ended_per_s <= 0 or still_open <= 0:
            return FOR_THE_WINDOW
        return Waits(still_open / ended_per_s, ended=1.0)

    def stored_s(self, window_s: float) -> float:
        """Mean seconds for which a tuple is stored, if its window is so long.

        >>> round(Waits(mean_s=15, ended=1).stored_s(15), 2), Waits(mean_s=16, ended=0.5, over=0.5).stored_s(1024)
        (9.48, 8.0)
        """
        waits = window_s / self.mean_s if self.mean_s > 0 else math.inf
        part_of_window = -math.expm1(-waits) / waits if waits > 0 else 1.0
        return window_s * (self.ended * part_of_window + max(0.0, 1 - self.ended - self.over))

    def state(self, rate: float, window_s: float) -> float:
        """Tuples in the state.

        >>> Waits().state(rate=100, window_s=15), Waits(over=1).state(rate=100, window_s=15)
        (1500.0, 0.0)
        """
        return rate * self.stored_s(window_s)


FOR_THE_WINDOW = Waits()  # where nothing ends a value
