"""Joins of stores: what was sold in all of them within an hour (WJ-09), the data of figures 7, 8 and 9b (WJ-34)."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import punctuated as pt
from punctuated.experiments import wjoin_plot
from punctuated.experiments.experiment import Result, scaled
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_time import ManyJoin, measure_cases

TUPLES = 125_000  # of all stores together: two days
WINDOW = "1 hour"
TITLE = "What stores sold within an hour of each other"


def measure_stores(
    numbers: Sequence[int], algorithms: Sequence[str], repeats: int, scale: float, progress: Progress | None
) -> Result:
    """Service times in joins of so many stores; the number of stores names the case."""
    n, within_an_hour = scaled(TUPLES, scale), partial(pt.join, within=WINDOW)
    joins = {
        str(n_stores): ManyJoin(pt.streams.stores(n, n_stores, seed=1), within_an_hour, key="item", time="sold_at")
        for n_stores in numbers
    }
    return measure_cases(joins, algorithms, repeats, progress)


def draw_stores(result: Result, path: Path, *, log: bool) -> None:
    """One panel per number of stores."""
    panels = {f"{name} stores": case for name, case in result["cases"].items()}
    wjoin_plot.draw_over_tuples(path, TITLE, panels, log=log, share_y=True)
