"""Figures 7, 8 and 9b of the W-join report: what two to six stores all sold within an hour (WJ-34, WJ-37 … WJ-40).

NLW-join is as fast as MW-join here: it has dropped whatever is out of the window when it scans, so a search in time
finds nothing to leave out.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import punctuated as pt
from papers.lab.claim import Claim, Result
from papers.lab.experiment import Run, tables_experiment
from papers.wjoin import plot
from papers.wjoin.claims import (
    SAME_RESULTS,
    TITLES,
    are_alike,
    does_not_grow,
    is_faster,
    is_more_ahead,
    lies_in_window,
    service,
)
from papers.wjoin.service_time import ManyJoin, measure_cases

TUPLES = 125_000  # of all stores together: two days
WINDOW = "1 hour"
TITLE = "What stores sold within an hour of each other"
FEW, MANY = (2, 3, 4), (2, 3, 4, 5, 6)
MOST_APART, MOST_GROWTH, MOST_IN_VAIN = 1.33, 1.25, 1.05


def stores_joined(numbers: Sequence[int], algorithms: Sequence[str], repeats: int) -> Callable[[Run], Result]:
    """Measures service times in joins of so many stores; the number of stores names the case."""

    def measure(run: Run) -> Result:
        n, within_an_hour = run.tuples(TUPLES), partial(pt.join, within=WINDOW)
        joins = {
            str(n_stores): ManyJoin(pt.streams.stores(n, n_stores, seed=1), within_an_hour, key="item", time="sold_at")
            for n_stores in numbers
        }
        return measure_cases(joins, algorithms, repeats, run.progress)

    return measure


def draw_stores(result: Result, path: Path, *, log: bool) -> None:
    """A panel for each number of stores."""
    panels = {f"{name} stores": case for name, case in result["cases"].items()}
    plot.draw_over_tuples(path, TITLE, panels, log=log, share_y=True)


def draw_numbers(result: Result, path: Path) -> None:
    """Typical times over the number of stores."""
    plot.draw_over_streams(path, TITLE, result["cases"])


NESTED_CLAIMS = (
    SAME_RESULTS,
    is_faster("NLW-join is faster than the ripple join", "NLW-join is faster than the ripple join", "nlw", "ripple"),
    is_faster("MW-join is faster than the ripple join", "MW-join is the fastest", "mw", "ripple"),
    are_alike(
        f"MW-join and NLW-join take the same, within a factor of {MOST_APART:g}",
        "NLW-join takes almost ten times as long as MW-join",
        "nlw",
        "mw",
        MOST_APART,
    ),
    lies_in_window("nlw", MOST_IN_VAIN),
    does_not_grow(("nlw", "mw"), MOST_GROWTH),
)

HASHED_CLAIMS = (
    SAME_RESULTS,
    is_faster("HW-join is faster than XJoin", "HW-join is faster than XJoin", "hw", "xjoin"),
    is_more_ahead(
        f"The more so with {FEW[-1]} stores than with {FEW[0]}",
        "HW-join is faster than XJoin",
        "hw",
        "xjoin",
        much=str(FEW[-1]),
        little=str(FEW[0]),
    ),
    does_not_grow(("hw",), MOST_GROWTH),
)


def _growths(result: Result) -> dict[str, float]:
    """How many times as long each algorithm takes with the most stores as with the fewest."""
    few, most = (result["cases"][str(n)] for n in (MANY[0], MANY[-1]))
    return {each: service(most, each) / service(few, each) for each in ("nlw", "mw", "hw")}


NUMBER_CLAIMS = (
    SAME_RESULTS,
    is_faster("HW-join is faster than NLW-join", "HW-join is the fastest of all", "hw", "nlw"),
    is_faster("HW-join is faster than MW-join", "HW-join is the fastest of all", "hw", "mw"),
    Claim(
        f"HW-join scales best from {MANY[0]} to {MANY[-1]} stores",
        "HW-join scales best",
        _growths,
        lambda grown: grown["hw"] < min(grown["nlw"], grown["mw"]),
        lambda grown: "; ".join(f"{TITLES[name]}: {times:.1f} times as long" for name, times in grown.items()),
    ),
    are_alike(
        f"NLW-join and MW-join take the same, within a factor of {MOST_APART:g}",
        "NLW-join and MW-join converge",
        "nlw",
        "mw",
        MOST_APART,
    ),
)

EXPERIMENTS = (
    tables_experiment(
        "wj_fig07",
        "Ripple join, NLW-join and MW-join of stores",
        "W-join report, figure 7",
        stores_joined(FEW, ("ripple", "nlw", "mw"), repeats=3),
        NESTED_CLAIMS,
        partial(draw_stores, log=True),
    ),
    tables_experiment(
        "wj_fig08",
        "XJoin and HW-join of stores",
        "W-join report, figure 8",
        stores_joined(FEW, ("xjoin", "hw"), repeats=5),
        HASHED_CLAIMS,
        partial(draw_stores, log=False),
    ),
    tables_experiment(
        "wj_fig09b",
        "Two to six stores",
        "W-join report, figure 9b",
        stores_joined(MANY, ("nlw", "mw", "hw"), repeats=2),
        NUMBER_CLAIMS,
        draw_numbers,
    ),
)
