"""What a running window join knows of its streams, for the choice of its structures (KN-32).

Everything is counted in event time and by the state itself, so a batch that is repeated leads to the same choice.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.shedding.smoothing import smoothed
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.saved import Content, Loaded
from punctuated.kernels.layout import FOREVER, NEVER
from punctuated.model.side import LEFT, RIGHT

Pair = tuple[float, float]


@dataclass(frozen=True)
class Observation:
    """Rates in tuples per second, tuples in the windows, and matches per probe of each window."""

    rates: Pair
    windows: Pair
    matches: Pair = (0.0, 0.0)


def observation(rates: Pair, windows: Pair, results: float) -> Observation:
    """With the matches in each window, if so many results come of a tuple: the larger one gives more (KN-34).

    >>> observation(rates=(1, 1), windows=(100, 300), results=4).matches
    (2.0, 6.0)
    """
    meetings = rates[LEFT] * windows[RIGHT] + rates[RIGHT] * windows[LEFT]
    share = results * sum(rates) / meetings if meetings else 0.0
    return Observation(rates, windows, (share * windows[LEFT], share * windows[RIGHT]))


Chooser = Callable[[Observation, tuple[str, str]], tuple[str, str]]


class WindowStatistics:
    """Rates and matches, smoothed over batches."""

    def __init__(self) -> None:
        self._seen: npt.NDArray[np.float64] | None = None
        self._smooth: tuple[float, ...] | None = None

    def save(self) -> Content:
        """What was seen and smoothed so far."""
        seen = None if self._seen is None else self._seen.tolist()
        return Content({"smoothed": to_json([seen, self._smooth])})

    def load(self, saved: Loaded) -> None:
        """Go on from `save`."""
        seen, smooth = from_json(saved.plain["smoothed"])
        self._seen = None if seen is None else np.array(seen, np.float64)
        self._smooth = None if smooth is None else tuple(smooth)

    def observe(self, state: JoinState) -> Observation | None:
        """What is known after another batch; None until two batches tell how fast the streams are."""
        times = [int(time) for time in state.sides["newest"] if NEVER < time < FOREVER]
        totals = np.array([max(times, default=0), *state.sides["tuples"], state.common["results"][0]], np.float64)
        before, self._seen = self._seen, totals
        if before is None or totals[0] <= before[0]:
            return None
        seconds = (totals[0] - before[0]) / 1e6
        left, right, results = (totals - before)[1:].tolist()
        self._smooth = smoothed(self._smooth, (left / seconds, right / seconds, results / max(1.0, left + right)))
        *rates, matches = self._smooth
        in_left, in_right = state.sides["live"].tolist()
        return observation((rates[LEFT], rates[RIGHT]), (in_left, in_right), matches)
