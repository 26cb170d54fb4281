"""Figure 8: tuples in both states of PWJoin and of WJoin, with windows of 1, 5 and 15 seconds (PW-59).

The paper: the larger the window, the more memory punctuations save.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.experiment import Experiment, Progress, Result, check, report, scaled
from punctuated.experiments.run import SECOND_US, Series, declare, mean_after, rate, sample

PATTERN = "punct-asc-100-40"
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOWS_S = (1, 5, 15)
STEP_S = 2


def run(scale: float = 1.0, progress: Progress | None = None) -> Result:
    """Sample both joins with each window."""
    n = scaled(TUPLES, scale)
    left, right = (pt.streams.generate(PATTERN, n, seed=seed) for seed in (1, 2))
    runs: dict[str, dict[str, Series]] = {}
    for i, window in enumerate(WINDOWS_S):
        flags = pt.when("last")
        pwjoin = sample(
            declare("A", left, window, flags), declare("B", right, window, flags), "pwjoin", STEP_S * SECOND_US
        )
        wjoin = sample(declare("A", left, window), declare("B", right, window), "wjoin", STEP_S * SECOND_US)
        kept = ("seconds", "state", "results")
        runs[str(window)] = {"PWJoin": {k: pwjoin[k] for k in kept}, "WJoin": {k: wjoin[k] for k in kept}}
        report(progress, (i + 1) / len(WINDOWS_S))
    summary = {str(window): _summary(runs[str(window)], window, rate(left) + rate(right)) for window in WINDOWS_S}
    return {"tuples": n, "step_s": STEP_S, "runs": runs, "summary": summary, "checks": _checks(runs, summary)}


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
            "saved tuples at 1, 5, 15 s: " + ", ".join(f"{each:,.0f}" for each in saved),
        ),
        check(
            "The larger the window, the larger the share that PWJoin saves",
            all(small < large for small, large in pairwise(shares)),
            "saved share at 1, 5, 15 s: " + ", ".join(f"{each:.0%}" for each in shares),
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
            "results with 1, 5, 15 s: "
            + ", ".join(
                f"{each['PWJoin']['results'][-1] if each['PWJoin']['results'] else 0:,}" for each in runs.values()
            ),
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Six lines: the algorithm by its colour, the window by its shade."""
    with plot.picture(path, f"Tuples in state, {PATTERN} on both streams", height=4.8) as (axes,):
        for (window, series), shade in zip(result["runs"].items(), (0.4, 0.7, 1.0), strict=True):
            for name in ("WJoin", "PWJoin"):
                axes.plot(
                    series[name]["seconds"],
                    series[name]["state"],
                    plot.LINES[name],
                    color=plot.COLOURS[name],
                    alpha=shade,
                    linewidth=1.8,
                    label=f"{name}, {window} s window",
                )
        plot.label(axes, "time (s)", "tuples in both states")
        plot.headroom(axes)
        plot.legend_below([axes], columns=3)


EXPERIMENT = Experiment("fig08_memory", "Memory, PWJoin vs. WJoin", "PWJoin figure 8", run, draw)
