"""Figure 12: punctuations given out when only B has any, with a window of 5 seconds on B (PW-64).

The paper: PWJoin gives out punctuations steadily, as B's last tuple of each value leaves the window; PJoin, which waits
for the punctuation of the other stream (PW-08), gives out none. The window is on B, as the caption says (XD-14).
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.engine import Engine, sample_each
from punctuated.experiments.experiment import Check, Experiment, Result, check, listed, scaled
from punctuated.experiments.progress import Progress
from punctuated.experiments.trial import SECOND_US, Input, Trial, generated

PATTERNS = ("uniform-15000", "punct-asc-30-40")
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOW_S = 5
STEP_S = 1
PARTS, MOST_DEVIATION = 10, 0.35


def measure(scale: float, progress: Progress | None, engine: Engine) -> Result:
    """Count the punctuations of both joins on the same streams."""
    n = scaled(TUPLES, scale)
    left, right = generated(PATTERNS, n)
    trials = {
        name: Trial(name.lower(), Input(left), Input(right, window, pt.when("last")))
        for name, window in (("PWJoin", WINDOW_S), ("PJoin", None))
    }
    runs = sample_each(engine, trials, STEP_S * SECOND_US, ("punctuations_out", "punctuations_right"), progress)
    return {"tuples": n, "window_s": WINDOW_S, "runs": runs}


def checks(result: Result) -> list[Check]:
    """The paper's claims."""
    runs = result["runs"]
    seconds, out = runs["PWJoin"]["seconds"], runs["PWJoin"]["punctuations_out"]
    given, received = max(runs["PJoin"]["punctuations_out"]), runs["PJoin"]["punctuations_right"][-1]
    first = min(int(np.searchsorted(seconds, WINDOW_S)), len(out) - 1)  # nothing can leave the window before
    edges = np.linspace(first, len(out) - 1, PARTS + 1).astype(int).tolist()
    gains = [out[stop] - out[start] for start, stop in pairwise(edges)]
    spans = [seconds[stop] - seconds[start] for start, stop in pairwise(edges)]
    rates = [gain / span if span else 0.0 for gain, span in zip(gains, spans, strict=True)]
    mean_rate = sum(gains) / sum(spans) if sum(spans) else 0.0
    return [
        check(
            "PJoin gives out no punctuation", given == 0 and received > 0, f"{given:,} of the {received:,} it received"
        ),
        check(
            "PWJoin gives out punctuations in every tenth of the run",
            all(gain > 0 for gain in gains),
            f"per tenth: {listed(gains)}",
        ),
        check(
            f"PWJoin's rate is steady: no tenth differs from the mean by more than {MOST_DEVIATION:.0%}",
            mean_rate > 0 and all(abs(rate - mean_rate) <= MOST_DEVIATION * mean_rate for rate in rates),
            f"{mean_rate:.2f} per second on average, {min(rates):.2f} to {max(rates):.2f} in the tenths",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Two lines, one of them at zero."""
    title = f"Punctuations given out, only B has any\nA: {PATTERNS[0]}, B: {PATTERNS[1]}"
    plot.draw_counts(path, title, result, {"PWJoin": f"{result['window_s']} s window on B", "PJoin": "no window"})


EXPERIMENT = Experiment(
    "fig12_one_sided", "Punctuations from one stream only", "PWJoin figure 12", measure, checks, draw
)
