"""Eager and lazy purge (PJ-17): thresholds of 1, 100, 400 and 800 punctuations.

The paper: the larger the threshold, the larger the state; throughput rises with fewer purges, and falls again when the
state is too large. Here a tuple looks at tuples of its own value only, so a larger state does not slow it down.
"""

from itertools import pairwise
from pathlib import Path

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.experiment import Check, Result, check, listed, scaled, tables_experiment
from punctuated.experiments.pjoin_runs import punctuated_streams, run_join, settled
from punctuated.experiments.progress import Progress, part

TUPLES = 60_000
SPACING = 10
THRESHOLDS = (1, 100, 400, 800)
REPEATS = 3
GAIN = 1.2


def policy(threshold: int) -> pt.Policy:
    """One that purges so lazily."""
    lazy = {"purge": "lazy", "purge_threshold": threshold} if threshold > 1 else {"purge": "eager"}
    return pt.Policy(propagate="pull", **lazy)


def measure(scale: float, progress: Progress | None) -> Result:
    """The same streams with every threshold; of several runs the fastest counts."""
    n = scaled(TUPLES, scale)
    tables = punctuated_streams(n, (SPACING, SPACING))
    runs = {}
    for i, threshold in enumerate(THRESHOLDS):
        share = part(progress, i, len(THRESHOLDS))
        tried = [
            run_join(tables, "pjoin", part(share, repeat, REPEATS), policy=policy(threshold))
            for repeat in range(REPEATS)
        ]
        runs[str(threshold)] = min(tried, key=lambda run: float(run["cpu_s"]))  # type: ignore[arg-type]
    return {"tuples": n, "runs": runs}


def rates(result: Result) -> list[float]:
    """Input tuples per second of CPU, by threshold."""
    return [2 * result["tuples"] / run["cpu_s"] for run in result["runs"].values()]


def checks(result: Result) -> list[Check]:
    """What the thresholds cost, and what they gain."""
    runs = list(result["runs"].values())
    states, speed = [settled(run, "state") for run in runs], rates(result)
    names = ", ".join(map(str, THRESHOLDS))
    return [
        check(
            "Every threshold gives the same number of results",
            len({run["results"] for run in runs}) == 1 and runs[0]["results"] > 0,
            listed(run["results"] for run in runs),
        ),
        check(
            "The larger the threshold, the larger the state",
            all(small < large for small, large in pairwise(states)),
            f"tuples at {names}: {listed(states)}",
        ),
        check(
            f"A lazy purge gains throughput: every threshold above 1 at least {GAIN:g} times that of the eager one",
            min(speed[1:]) >= GAIN * speed[0],
            f"tuples per second at {names}: {listed(speed)}",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """State and throughput by threshold."""
    with plot.picture(path, f"Eager and lazy purge, a punctuation every {SPACING} tuples", panels=2, width=9) as axes:
        names = ["1 (eager)" if name == "1" else name for name in result["runs"]]
        plot.bars(axes[0], names, {"state": [settled(run, "state") for run in result["runs"].values()]})
        plot.bars(axes[1], names, {"rate": [each / 1e3 for each in rates(result)]})
        axes[0].set(xlabel="purge threshold", ylabel="tuples in state, on average", title="State")
        axes[1].set(xlabel="purge threshold", ylabel="thousand input tuples per second of CPU", title="Throughput")


EXPERIMENT = tables_experiment("pj_purge", "Eager and lazy purge", "PJoin, round 2", measure, checks, draw)
