"""Figure 11: punctuations given out so far, PWJoin with windows of 1 second against PJoin without window (PW-63).

The paper: early propagation lets PWJoin give out punctuations sooner. Both end at the same number, because both
streams end every value sooner or later; what differs is when the values are known to be over.
"""

from pathlib import Path

import numpy as np

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.engine import Engine, sample_each
from punctuated.experiments.experiment import Check, Experiment, Result, check, scaled
from punctuated.experiments.progress import Progress
from punctuated.experiments.series import Series
from punctuated.experiments.trial import SECOND_US, alike, generated

PATTERNS = ("punct-asc-30-40", "punct-random-30-40")
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOW_S = 1
STEP_S = 1
TIMES_AHEAD = 2


def measure(scale: float, progress: Progress | None, engine: Engine) -> Result:
    """Count the punctuations of both joins on the same streams."""
    n = scaled(TUPLES, scale)
    tables = generated(PATTERNS, n)
    trials = {
        "PWJoin": alike("pwjoin", tables, WINDOW_S, pt.when("last")),
        "PJoin": alike("pjoin", tables, None, pt.when("last")),
    }
    runs = sample_each(engine, trials, STEP_S * SECOND_US, ("punctuations_out", "state"), progress)
    return {"tuples": n, "window_s": WINDOW_S, "state_name": engine.state_name, "runs": runs}


def checks(result: Result) -> list[Check]:
    """Who is ahead, and how long it takes to give out a number of punctuations that both come to."""
    runs = result["runs"]
    pwjoin, pjoin = (runs[name]["punctuations_out"] for name in ("PWJoin", "PJoin"))
    behind = sum(ours < theirs for ours, theirs in zip(pwjoin, pjoin, strict=True))
    half = len(pwjoin) // 2
    goal = pjoin[-1] / 2
    ours_s, theirs_s = (_seconds_to(goal, runs[name]) for name in ("PWJoin", "PJoin"))
    return [
        check(
            "PWJoin has given out at least as many punctuations at every sample",
            behind == 0,
            f"behind at {behind} of {len(pwjoin)} samples",
        ),
        check(
            f"Half-way through it has given out at least {TIMES_AHEAD} times as many",
            pwjoin[half] >= TIMES_AHEAD * pjoin[half] and pwjoin[half] > 0,
            f"{pwjoin[half]:,} and {pjoin[half]:,}",
        ),
        check(
            f"Its output rate is higher overall: half of what PJoin comes to is out in 1/{TIMES_AHEAD} of the time",
            goal > 0 and TIMES_AHEAD * ours_s <= theirs_s,
            f"{goal:,.0f} after {ours_s:,.0f} s and after {theirs_s:,.0f} s",
        ),
    ]


def _seconds_to(goal: float, series: Series) -> float:
    """When so many punctuations were out; never, if the run ended before."""
    out = series["punctuations_out"]
    return float(np.interp(goal, out, series["seconds"])) if goal <= out[-1] else np.inf


def draw(result: Result, path: Path) -> None:
    """Two lines."""
    title = f"Punctuations given out\nA: {PATTERNS[0]}, B: {PATTERNS[1]}"
    plot.draw_counts(path, title, result, {"PWJoin": f"{result['window_s']} s windows", "PJoin": "no window"})


EXPERIMENT = Experiment(
    "fig11_punctuations", "Punctuation output rate, PWJoin vs. PJoin", "PWJoin figure 11", measure, checks, draw
)
