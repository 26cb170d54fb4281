"""Figure 7 of the W-join report: ripple join, NLW-join and MW-join of two to four stores (WJ-37).

The report: MW-join is the fastest, almost ten times as fast as NLW-join, which is faster than the ripple join; times of
its own algorithms do not build up. Here NLW-join has let go of whatever is out of the window when it scans, so a search
in time finds nothing to leave out, and both take the same.
"""

from functools import partial

from punctuated.experiments.experiment import Check, Result, tables_experiment
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_checks import are_alike, does_not_grow, is_faster, lies_in_window, same_results
from punctuated.experiments.store_joins import draw_stores, measure_stores

NUMBERS = (2, 3, 4)
REPEATS = 3
MOST_APART, MOST_GROWTH, MOST_IN_VAIN = 1.33, 1.25, 1.05


def measure(scale: float, progress: Progress | None) -> Result:
    """Join stores by the three algorithms."""
    return measure_stores(NUMBERS, ("ripple", "nlw", "mw"), REPEATS, scale, progress)


def checks(result: Result) -> list[Check]:
    """The order of the three, and why two of them are alike."""
    cases = result["cases"]
    return [
        same_results(cases),
        is_faster("NLW-join is faster than the ripple join", cases, "nlw", "ripple"),
        is_faster("MW-join is faster than the ripple join", cases, "mw", "ripple"),
        are_alike(
            f"MW-join and NLW-join take the same, within a factor of {MOST_APART:g} "
            "(not so in the report: NLW-join takes almost ten times as long)",
            cases,
            "nlw",
            "mw",
            MOST_APART,
        ),
        lies_in_window(cases, "nlw", MOST_IN_VAIN),
        does_not_grow(
            f"Times of NLW-join and MW-join do not build up: by a factor of {MOST_GROWTH:g} at most from the first "
            "half to the second",
            cases,
            ("nlw", "mw"),
            MOST_GROWTH,
        ),
    ]


draw = partial(draw_stores, log=True)
EXPERIMENT = tables_experiment(
    "wj_fig07", "Ripple join, NLW-join and MW-join of stores", "W-join report, figure 7", measure, checks, draw
)
