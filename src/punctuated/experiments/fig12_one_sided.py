"""Figure 12: punctuations given out when only B has any, with a window of 5 seconds on B (PW-64).

The paper: PWJoin gives out punctuations steadily, as B's last tuple of each value leaves the window; PJoin, which waits
for the punctuation of the other stream (PW-08), gives out none. The window is on B, as the caption says (XD-14).
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.experiment import Experiment, Progress, Result, check, report, scaled
from punctuated.experiments.run import SECOND_US, Series, declare, sample

PATTERNS = ("uniform-15000", "punct-asc-30-40")
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOW_S = 5
STEP_S = 1
PARTS, MOST_DEVIATION = 10, 0.35


def run(scale: float = 1.0, progress: Progress | None = None) -> Result:
    """Count the punctuations of both joins on the same streams."""
    n = scaled(TUPLES, scale)
    left, right = (pt.streams.generate(pattern, n, seed=seed) for seed, pattern in enumerate(PATTERNS, 1))
    runs: dict[str, Series] = {}
    for i, (name, window) in enumerate((("PWJoin", WINDOW_S), ("PJoin", None))):
        streams = declare("A", left, None), declare("B", right, window, pt.when("last"))
        series = sample(*streams, name.lower(), STEP_S * SECOND_US)
        runs[name] = {key: series[key] for key in ("seconds", "punctuations_out", "punctuations_right")}
        report(progress, (i + 1) / 2)
    return {"tuples": n, "window_s": WINDOW_S, "step_s": STEP_S, "runs": runs, "checks": _checks(runs)}


def _checks(runs: dict[str, Series]) -> list[dict[str, Any]]:
    seconds, out = runs["PWJoin"]["seconds"], runs["PWJoin"]["punctuations_out"]
    given, received = max(runs["PJoin"]["punctuations_out"]), runs["PJoin"]["punctuations_right"][-1]
    first = int(np.searchsorted(seconds, WINDOW_S))  # nothing can leave the window before
    edges = np.linspace(first, len(out) - 1, PARTS + 1).astype(int).tolist()
    gains = [out[stop] - out[start] for start, stop in pairwise(edges)]
    rates = [
        gain / (seconds[stop] - seconds[start]) for gain, (start, stop) in zip(gains, pairwise(edges), strict=True)
    ]
    mean_rate = (out[edges[-1]] - out[edges[0]]) / (seconds[edges[-1]] - seconds[edges[0]])
    return [
        check(
            "PJoin gives out no punctuation", given == 0 and received > 0, f"{given:,} of the {received:,} it received"
        ),
        check(
            "PWJoin gives out punctuations in every tenth of the run",
            all(gain > 0 for gain in gains),
            "per tenth: " + ", ".join(f"{gain:,}" for gain in gains),
        ),
        check(
            f"PWJoin's rate is steady: no tenth differs from the mean by more than {MOST_DEVIATION:.0%}",
            all(abs(rate - mean_rate) <= MOST_DEVIATION * mean_rate for rate in rates),
            f"{mean_rate:.2f} per second on average, {min(rates):.2f} to {max(rates):.2f} in the tenths",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Two lines, one of them at zero."""
    with plot.picture(path, f"Punctuations given out, only B has any\nA: {PATTERNS[0]}, B: {PATTERNS[1]}") as (axes,):
        for name, note in (("PWJoin", f"{result['window_s']} s window on B"), ("PJoin", "no window")):
            plot.draw_count(axes, name, result["runs"][name], note)
        plot.label(axes, "time (s)", "punctuations so far")
        plot.headroom(axes)
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])
        plot.legend(axes, "upper left")


EXPERIMENT = Experiment("fig12_one_sided", "Punctuations from one stream only", "PWJoin figure 12", run, draw)
