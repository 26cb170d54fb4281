"""What a running window join knows of its streams, for the choice of its structures (KN-32, KN-38).

Everything is counted in event time and saved with the state, so a batch that is repeated leads to the same choice.
"""

from collections.abc import Sequence

import numpy as np

from punctuated.arrow.ipc import from_json, to_json
from punctuated.kernels.layout import FOREVER, NEVER, NO_PROBE, NO_STORE, NULL_KEY, Objects
from punctuated.model.load import Observation, matches_in, smoothed
from punctuated.model.spec import Side
from punctuated.snapshot.parts import Content, Loaded
from punctuated.state.arrays import JoinState


class WindowStatistics:
    """Rates and results, smoothed over batches."""

    def __init__(self) -> None:
        self._counted = np.zeros((3, len(Side)), np.int64)  # came, probed, were stored
        self._seen: list[int] | None = None  # newest time and totals after the last batch
        self._smooth: tuple[float, ...] | None = None

    def count(self, objects: Sequence[Objects]) -> None:
        """Count the tuples of a batch as they come to the loop, where those that are shed are marked (KN-38)."""
        for side in Side:
            status = objects[side].status
            keyed = status & NULL_KEY == 0
            probing, stored = (keyed & (status & shed == 0) for shed in (NO_PROBE, NO_STORE))
            self._counted[:, side] += np.array([status.size, np.count_nonzero(probing), np.count_nonzero(stored)])

    def observe(self, state: JoinState) -> Observation | None:
        """What is known after another batch; None until two batches tell how fast the streams are."""
        times = [int(time) for time in state.sides["newest"] if NEVER < time < FOREVER]
        before = self._seen
        totals = [max(times, default=0), *self._counted.ravel().tolist(), int(state.common["results"][0])]
        self._seen = totals
        if before is None or totals[0] <= before[0]:
            return None
        seconds = (totals[0] - before[0]) / 1e6
        self._smooth = smoothed(
            self._smooth, [(now - was) / seconds for now, was in zip(totals, before, strict=True)][1:]
        )
        *rates, results = self._smooth
        came, probing, storing = ((rates[i], rates[i + 1]) for i in (0, 2, 4))
        in_left, in_right = state.sides["live"].tolist()
        windows = float(in_left), float(in_right)
        return Observation(came, probing, storing, windows, matches_in(probing, windows, results))

    def save(self) -> Content:
        """What was counted and smoothed so far."""
        return Content({"observed": to_json([self._counted.tolist(), self._seen, self._smooth])})

    def load(self, saved: Loaded) -> None:
        """Go on where `save` was."""
        counted, self._seen, smooth = from_json(saved.plain["observed"])
        self._counted = np.array(counted, np.int64)
        self._smooth = None if smooth is None else tuple(smooth)
