"""A window join with limited resources: what goes beyond them is shed at random (KN-33).

A tuple that is not stored still counts for the window, which holds the last n tuples of its stream. So a random share
of them is kept, not the most recent ones.
"""

from dataclasses import dataclass

import pyarrow as pa

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
        tables = [self._table(side, seed) for side in (0, 1)]
        left, right = (
            pt.stream(table, name=name, key="key", time="ts", window=pt.rows(n))
            for table, name, n in zip(tables, "AB", self.windows, strict=True)
        )
        step_us = round((self.seconds + self.filled_s) * SECOND_US / _SAMPLES)
        metrics = join_quietly(left, right, "HH", shed=shed, sample_every=step_us).metrics
        seconds, results = times_us(metrics) / SECOND_US, metrics["results"].to_numpy()
        end = min(int(times_us(table)[-1]) for table in tables) / SECOND_US
        kept = (seconds >= self.filled_s) & (seconds <= end)
        seconds, results = seconds[kept], results[kept]
        return {"seconds": (seconds - seconds[0]).tolist(), "results": (results - results[0]).tolist()}

    def _table(self, side: int, seed: int) -> pa.Table:
        rate = self.rates[side]
        n = round(rate * (self.seconds + self.filled_s))
        name, gap = f"uniform-{self.values[side]}", round(SECOND_US / rate)
        return pt.streams.generate(name, n, seed=2 * seed + side, gap=gap)
