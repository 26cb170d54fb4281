"""Figure 11: punctuations given out so far, PWJoin with windows of 1 second against PJoin without window (PW-63).

The paper: early propagation lets PWJoin give out punctuations sooner. Both end at the same number, because both
streams end every value sooner or later; what differs is when the values are known to be over.
"""

from pathlib import Path
from typing import Any

import numpy as np

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.engine import Engine, sample_each
from punctuated.experiments.experiment import Experiment, Progress, Result, check, scaled
from punctuated.experiments.series import Series
from punctuated.experiments.tables_engine import TABLES
from punctuated.experiments.trial import SECOND_US, alike

PATTERNS = ("punct-asc-30-40", "punct-random-30-40")
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOW_S = 1
STEP_S = 1
TIMES_AHEAD = 2


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Count the punctuations of both joins on the same streams."""
    n = scaled(TUPLES, scale)
    tables = [pt.streams.generate(pattern, n, seed=seed) for seed, pattern in enumerate(PATTERNS, 1)]
    trials = {
        "PWJoin": alike("pwjoin", tables, WINDOW_S, pt.when("last")),
        "PJoin": alike("pjoin", tables, None, pt.when("last")),
    }
    runs = sample_each(engine, trials, STEP_S * SECOND_US, ("punctuations_out", "state"), progress)
    return {"engine": engine.name, "tuples": n, "window_s": WINDOW_S, "runs": runs, "checks": _checks(runs)}


def _checks(runs: dict[str, Series]) -> list[dict[str, Any]]:
    pwjoin, pjoin = (runs[name]["punctuations_out"] for name in ("PWJoin", "PJoin"))
    behind = sum(ours < theirs for ours, theirs in zip(pwjoin, pjoin, strict=True))
    half = len(pwjoin) // 2
    ours, theirs = float(np.mean(pwjoin)), float(np.mean(pjoin))
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
            "Its output rate is higher overall: averaged over the run, more punctuations are out",
            ours > theirs,
            f"{ours:,.0f} and {theirs:,.0f}",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Two lines."""
    title = f"Punctuations given out\nA: {PATTERNS[0]}, B: {PATTERNS[1]}"
    plot.draw_counts(path, title, result, {"PWJoin": f"{result['window_s']} s windows", "PJoin": "no window"})


EXPERIMENT = Experiment(
    "fig11_punctuations", "Punctuation output rate, PWJoin vs. PJoin", "PWJoin figure 11", run, draw
)
