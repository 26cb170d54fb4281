"""Figure 9b of the W-join report: two to six stores, which sell about as much as each other (WJ-40).

The report: NLW-join and MW-join converge, and HW-join scales best and is the fastest of all.
"""

from pathlib import Path

from punctuated.experiments import wjoin_plot
from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_checks import TITLES, are_alike, is_faster, same_results, service
from punctuated.experiments.store_joins import TITLE, measure_stores

NUMBERS = (2, 3, 4, 5, 6)
ALGORITHMS = ("nlw", "mw", "hw")
REPEATS = 2
MOST_APART = 1.33


def measure(scale: float, progress: Progress | None) -> Result:
    """Join stores by the three algorithms."""
    return measure_stores(NUMBERS, ALGORITHMS, REPEATS, scale, progress)


def checks(result: Result) -> list[Check]:
    """Who is the fastest, and how the others relate."""
    cases = result["cases"]
    few, most = (cases[str(n)] for n in (NUMBERS[0], NUMBERS[-1]))
    grown = {each: service(most, each) / service(few, each) for each in ALGORITHMS}
    return [
        same_results(cases),
        is_faster("HW-join is faster than NLW-join", cases, "hw", "nlw"),
        is_faster("HW-join is faster than MW-join", cases, "hw", "mw"),
        check(
            f"HW-join scales best from {NUMBERS[0]} to {NUMBERS[-1]} stores",
            grown["hw"] < min(grown["nlw"], grown["mw"]),
            "; ".join(f"{TITLES[name]}: {times:.1f} times as long" for name, times in grown.items()),
        ),
        are_alike(
            f"NLW-join and MW-join take the same, within a factor of {MOST_APART:g} (in the report they converge)",
            cases,
            "nlw",
            "mw",
            MOST_APART,
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Typical times over the number of stores."""
    wjoin_plot.draw_over_streams(path, TITLE, result["cases"])


EXPERIMENT = tables_experiment("wj_fig09b", "Two to six stores", "W-join report, figure 9b", measure, checks, draw)
