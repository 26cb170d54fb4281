"""Figure 8 of the W-join report: XJoin and HW-join of two to four stores (WJ-38). The report: HW-join is faster."""

from functools import partial

from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_checks import does_not_grow, in_words, is_faster, same_results, times_as_long
from punctuated.experiments.store_joins import draw_stores, measure_stores

NUMBERS = (2, 3, 4)
REPEATS = 5
MOST_GROWTH = 1.25


def measure(scale: float, progress: Progress | None) -> Result:
    """Join stores by both algorithms."""
    return measure_stores(NUMBERS, ("xjoin", "hw"), REPEATS, scale, progress)


def checks(result: Result) -> list[Check]:
    """HW-join is ahead, and stays there."""
    cases = result["cases"]
    few, most = (cases[str(n)] for n in (NUMBERS[0], NUMBERS[-1]))
    return [
        same_results(cases),
        is_faster("HW-join is faster than XJoin", cases, "hw", "xjoin"),
        check(
            f"The more so with {NUMBERS[-1]} stores than with {NUMBERS[0]}",
            times_as_long(most, "xjoin", "hw") > times_as_long(few, "xjoin", "hw"),
            in_words({str(NUMBERS[0]): few, str(NUMBERS[-1]): most}, "xjoin", "hw"),
        ),
        does_not_grow(
            f"Times of HW-join do not build up: by a factor of {MOST_GROWTH:g} at most from the first half to the "
            "second",
            cases,
            ("hw",),
            MOST_GROWTH,
        ),
    ]


draw = partial(draw_stores, log=False)
EXPERIMENT = tables_experiment(
    "wj_fig08", "XJoin and HW-join of stores", "W-join report, figure 8", measure, checks, draw
)
