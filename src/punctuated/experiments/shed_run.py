"""A window join with limited resources: what goes beyond them is shed at random (KN-33).

A tuple that is not stored still counts for the window, which holds the last n tuples of its stream. So a random share
of them is kept, not the most recent ones.
"""

from dataclasses import dataclass

import punctuated as pt
from punctuated.experiments.series import Series
from punctuated.experiments.trial import SECOND_US, join_quietly, times_us
from punctuated.model.shed import Shed

Sides = tuple[float, float]
_SAMPLES = 100  # of a run
_SPARE = 1.2  # of the time in which a window fills on average


@dataclass(frozen=True)
class SheddingJoin:
    """Two streams with uniform values, and the last tuples of each."""

    rates: Sides
    windows: tuple[int, int]
    values: tuple[int, int]  # distinct ones; those of the stream with fewer are among the other's
    seconds: float

    @property
    def selectivity(self) -> float:
        """Share of all pairs that match."""
        return min(1 / self.values[0], 1 / self.values[1])

    @property
    def filled_s(self) -> float:
        """When both windows are full for certain."""
        return _SPARE * max(window / rate for window, rate in zip(self.windows, self.rates, strict=True))

    def run(self, shed: Shed | None = None, seed: int = 1) -> Series:
        """Results so far, counted from the moment at which both windows are full."""
        left, right = self._stream(0, seed), self._stream(1, seed)
        step_us = round((self.seconds + self.filled_s) * SECOND_US / _SAMPLES)
        metrics = join_quietly(left, right, "HH", shed=shed, sample_every=step_us).metrics
        seconds, results = times_us(metrics) / SECOND_US, metrics["results"].to_numpy()
        end = min(int(times_us(each.batches[0])[-1]) for each in (left, right)) / SECOND_US
        kept = (seconds >= self.filled_s) & (seconds <= end)
        seconds, results = seconds[kept], results[kept]
        return {"seconds": (seconds - seconds[0]).tolist(), "results": (results - results[0]).tolist()}

    def _stream(self, side: int, seed: int) -> pt.Stream:
        rate = self.rates[side]
        n = round(rate * (self.seconds + self.filled_s))
        table = pt.streams.generate(
            f"uniform-{self.values[side]}", n, seed=2 * seed + side, gap=round(SECOND_US / rate)
        )
        return pt.stream(table, name="AB"[side], key="key", time="ts", window=pt.rows(self.windows[side]))
