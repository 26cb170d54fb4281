"""The synthetic streams of the W-join report: few values, exponential gaps (WJ-35)."""

from collections.abc import Sequence

import pyarrow as pa

import punctuated as pt
from punctuated.experiments.trial import SECOND_US

_SHORTEST_S = 0.3  # so that something happens


def uniform_streams(rates: Sequence[float], seconds: float, values: int) -> list[pa.Table]:
    """A stream for each rate, in tuples per second, all of the same values.

    >>> [len(table) for table in uniform_streams([1000, 300], seconds=2, values=5)]
    [2000, 600]
    """
    seconds = max(_SHORTEST_S, seconds)
    return [
        pt.streams.generate(f"uniform-{values}", round(rate * seconds), seed, gap=round(SECOND_US / rate))
        for seed, rate in enumerate(rates, 1)
    ]
