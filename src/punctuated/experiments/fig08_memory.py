"""Figure 8: tuples in both states of PWJoin and of WJoin, with windows of 1, 5 and 15 seconds (PW-59).

The paper: the larger the window, the more memory punctuations save.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.engine import Engine, sample_each
from punctuated.experiments.experiment import Experiment, Progress, Result, check, listed, part, scaled
from punctuated.experiments.series import Series, mean_after
from punctuated.experiments.tables_engine import TABLES
from punctuated.experiments.trial import SECOND_US, rate, with_and_without

PATTERN = "punct-asc-100-40"
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOWS_S = (1, 5, 15)
STEP_S = 2


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Sample both joins with each window."""
    n = scaled(TUPLES, scale)
    left, right = (pt.streams.generate(PATTERN, n, seed=seed) for seed in (1, 2))
    runs: dict[str, dict[str, Series]] = {}
    for i, window in enumerate(WINDOWS_S):
        trials, share = with_and_without((left, right), window), part(progress, i, len(WINDOWS_S))
        runs[str(window)] = sample_each(engine, trials, STEP_S * SECOND_US, ("state", "results"), share)
    summary = {str(window): _summary(runs[str(window)], window, rate(left) + rate(right)) for window in WINDOWS_S}
    return {"engine": engine.name, "tuples": n, "runs": runs, "summary": summary, "checks": _checks(runs, summary)}


def _summary(runs: dict[str, Series], window: int, both_rates: float) -> dict[str, float]:
    """Means once the window has filled."""
    pwjoin, wjoin = (mean_after(runs[name], "state", window) for name in ("PWJoin", "WJoin"))
    return {
        "expected_wjoin": both_rates * window,
        "wjoin": wjoin,
        "pwjoin": pwjoin,
        "saved": wjoin - pwjoin,
        "saved_share": (wjoin - pwjoin) / wjoin if wjoin else 0.0,
    }


def _checks(runs: dict[str, dict[str, Series]], summary: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    saved = [each["saved"] for each in summary.values()]
    shares = [each["saved_share"] for each in summary.values()]
    plateaus = [(each["wjoin"], each["expected_wjoin"]) for each in summary.values()]
    pairs = [
        (ours, theirs)
        for each in runs.values()
        for ours, theirs in zip(each["PWJoin"]["state"], each["WJoin"]["state"], strict=True)
    ]
    same = all(each["PWJoin"]["results"] == each["WJoin"]["results"] for each in runs.values())
    return [
        check(
            "The larger the window, the more tuples PWJoin saves",
            all(small < large for small, large in pairwise(saved)),
            f"saved tuples at 1, 5, 15 s: {listed(saved)}",
        ),
        check(
            "The larger the window, the larger the share that PWJoin saves",
            all(small < large for small, large in pairwise(shares)),
            f"saved share at 1, 5, 15 s: {listed(shares, '.0%')}",
        ),
        check(
            "WJoin holds what its windows hold: the rate times the window of both streams, within 10 %",
            all(abs(measured - expected) <= 0.1 * expected for measured, expected in plateaus),
            "; ".join(f"{measured:,.0f} of {expected:,.0f} expected" for measured, expected in plateaus),
        ),
        check(
            "PWJoin never holds more than WJoin",
            all(ours <= theirs for ours, theirs in pairs),
            f"{sum(ours > theirs for ours, theirs in pairs)} of {len(pairs)} samples above",
        ),
        check(
            "Both have given the same number of results at every sample",
            same,
            f"results with 1, 5, 15 s: {listed(sum(each['PWJoin']['results'][-1:]) for each in runs.values())}",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Six lines: the algorithm by its colour, the window by its shade."""
    title = plot.titled(f"Tuples in state, {PATTERN} on both streams", result)
    with plot.picture(path, title, height=4.8) as (axes,):
        for (window, series), shade in zip(result["runs"].items(), (0.4, 0.7, 1.0), strict=True):
            for name in ("WJoin", "PWJoin"):
                shown = f"{name}, {window} s window"
                plot.curve(axes, series[name], "state", shown, alpha=shade, **plot.look(name))
        plot.label(axes, "time (s)", "tuples in both states")
        plot.headroom(axes)
        plot.legend_below([axes], columns=3)


EXPERIMENT = Experiment("fig08_memory", "Memory, PWJoin vs. WJoin", "PWJoin figure 8", run, draw)
