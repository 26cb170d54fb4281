"""Races: runs of several joins timed in turns, so that a slow spell of the machine hits all of them."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np

from papers.lab.progress import Progress, each_part, silent
from papers.lab.trial import Series

_MOST_POINTS = 200  # of a curve in a result file


def race(
    runs: Mapping[str, Callable[[], Series]], repeats: int, progress: Progress = silent
) -> dict[str, dict[str, Any]]:
    """Run all of them in turns; each run returns its results so far at seconds of wall-clock time.

    Returns per run the seconds of all repetitions, their median, and the curve of the repetition nearest to the
    median. A first round only warms up.
    """
    rounds: dict[str, list[Series]] = {name: [] for name in runs}
    for _, share in each_part(progress, range(repeats + 1)):
        for (name, run), _ in each_part(share, list(runs.items())):
            rounds[name].append(run())
    return {name: _typical(curves[1:]) for name, curves in rounds.items()}


def _typical(curves: list[Series]) -> dict[str, Any]:
    totals = [curve["seconds"][-1] for curve in curves]
    return summary(totals, curves[int(np.argmin(np.abs(np.subtract(totals, median(totals)))))])


def summary(repetitions_s: list[float], curve: Series) -> dict[str, Any]:
    """What is kept of a join: its times, and one curve of results over time."""
    shown = np.unique(np.linspace(0, len(curve["seconds"]) - 1, _MOST_POINTS).astype(int)).tolist()
    return {
        "repetitions_s": repetitions_s,
        "median_s": median(repetitions_s),
        "results": curve["results"][-1],
        "curve": {name: [values[i] for i in shown] for name, values in curve.items()},
    }


def ratios(slower: Mapping[str, Any], faster: Mapping[str, Any]) -> list[float]:
    """How many times longer the one took than the other, repetition by repetition."""
    pairs = zip(slower["repetitions_s"], faster["repetitions_s"], strict=True)
    return [one / two for one, two in pairs]


def ratio(slower: Mapping[str, Any], faster: Mapping[str, Any]) -> float:
    """The median of the ratios."""
    return float(median(ratios(slower, faster)))


def compared(slower: Mapping[str, Any], faster: Mapping[str, Any]) -> str:
    """The comparison in words, with the middle half of the ratios; a share of the streams is a micro-batch.

    >>> one, two = {"repetitions_s": [2, 9, 4], "median_s": 4}, {"repetitions_s": [1, 3, 2], "median_s": 2}
    >>> compared(one | {"timed_share": 1}, two)
    '2.00 times as long, mostly 2.00 to 2.50 (4.000 s and 2.000 s)'
    >>> compared(one | {"timed_share": 0.2}, two)
    '2.00 times as long, mostly 2.00 to 2.50 (4.000 s and 2.000 s per micro-batch, 3 of each)'
    """
    low, middle, high = np.quantile(ratios(slower, faster), (0.25, 0.5, 0.75))
    what = "" if slower["timed_share"] == 1 else f" per micro-batch, {len(slower['repetitions_s'])} of each"
    times = f"{slower['median_s']:.3f} s and {faster['median_s']:.3f} s{what}"
    return f"{middle:.2f} times as long, mostly {low:.2f} to {high:.2f} ({times})"
