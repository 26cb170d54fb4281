"""Figure 9a of the W-join report: two to six streams of different rates, 100 to 1,000 tuples per second (WJ-39).

The report: NLW-join takes more than ten times as long as MW-join, however many streams there are. It names no window
and no number of values. Here both take the same: the slowest stream has a tuple every 10 ms, so that nothing waits for
it for longer than that, and NLW-join scans hardly more than the window.
"""

from functools import partial
from pathlib import Path

import numpy as np

import punctuated as pt
from punctuated.experiments import wjoin_plot
from punctuated.experiments.experiment import Check, Result, tables_experiment
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_checks import are_alike, is_faster, lies_in_window, same_results
from punctuated.experiments.service_time import ManyJoin, measure_cases
from punctuated.experiments.synthetic_streams import uniform_streams

NUMBERS = (2, 3, 4, 5, 6)
FASTEST, SLOWEST = 1000, 100
VALUES, WINDOW, SECONDS = 200, "1 second", 10
REPEATS = 3
MOST_APART, MOST_IN_VAIN = 1.33, 1.1


def measure(scale: float, progress: Progress | None) -> Result:
    """Join streams whose rates lie evenly between the fastest and the slowest."""
    joins = {}
    for n in NUMBERS:
        rates = np.linspace(FASTEST, SLOWEST, n).tolist()
        joins[str(n)] = ManyJoin(uniform_streams(rates, SECONDS * scale, VALUES), partial(pt.join, within=WINDOW))
    return measure_cases(joins, ("nlw", "mw", "hw"), REPEATS, progress)


def checks(result: Result) -> list[Check]:
    """Two are alike, whatever the number of streams, and why."""
    cases = result["cases"]
    return [
        same_results(cases),
        are_alike(
            f"MW-join and NLW-join take the same, within a factor of {MOST_APART:g}, for every number of streams "
            "(not so in the report: NLW-join takes more than ten times as long)",
            cases,
            "nlw",
            "mw",
            MOST_APART,
        ),
        lies_in_window(cases, "nlw", MOST_IN_VAIN),
        is_faster("HW-join is faster than MW-join", cases, "hw", "mw"),
    ]


def draw(result: Result, path: Path) -> None:
    """Typical times over the number of streams."""
    title = f"Streams of {SLOWEST} to {FASTEST:,} tuples/s, windows of {WINDOW}"
    wjoin_plot.draw_over_streams(path, title, result["cases"])


EXPERIMENT = tables_experiment(
    "wj_fig09a", "Two to six streams of different rates", "W-join report, figure 9a", measure, checks, draw
)
