"""Joins of stores: what was sold in all of them within an hour (WJ-09), the data of figures 7, 8 and 9b (WJ-34)."""

from collections.abc import Sequence
from functools import partial

import punctuated as pt
from punctuated.experiments.experiment import Result, scaled
from punctuated.experiments.progress import Progress, part
from punctuated.experiments.service_time import ManyJoin, measure_services

TUPLES = 125_000  # of all stores together: two days
WINDOW = "1 hour"


def measure_stores(
    numbers: Sequence[int], algorithms: Sequence[str], repeats: int, scale: float, progress: Progress | None
) -> Result:
    """Service times in joins of so many stores; the number of stores names the case."""
    n, within_an_hour = scaled(TUPLES, scale), partial(pt.join, within=WINDOW)
    cases = {}
    for i, n_stores in enumerate(numbers):
        join = ManyJoin(pt.streams.stores(n, n_stores, seed=1), within_an_hour, key="item", time="sold_at")
        cases[str(n_stores)] = measure_services(join, algorithms, repeats, part(progress, i, len(numbers)))
    return {"cases": cases}
