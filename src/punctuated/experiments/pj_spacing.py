"""Punctuations every 10, 20, 30 and 40 tuples (PJ-18). The paper: the longer the spacing, the larger the state."""

from itertools import pairwise
from pathlib import Path

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.experiment import Check, Result, check, listed, scaled, tables_experiment
from punctuated.experiments.pjoin_runs import punctuated_streams, ratio, run_join, settled
from punctuated.experiments.progress import Progress, part

TUPLES = 40_000
SPACINGS = (10, 20, 30, 40)
FLAT = 1.5


def measure(scale: float, progress: Progress | None) -> Result:
    """PJoin over streams of every spacing."""
    n, policy = scaled(TUPLES, scale), pt.Policy(purge="eager", propagate="pull")
    runs = {
        str(spacing): run_join(
            punctuated_streams(n, (spacing, spacing)), "pjoin", part(progress, i, len(SPACINGS)), policy=policy
        )
        for i, spacing in enumerate(SPACINGS)
    }
    return {"tuples": n, "runs": runs}


def checks(result: Result) -> list[Check]:
    """The order of the states, and that none of them grows."""
    runs = list(result["runs"].values())
    states, growths = [settled(run, "state") for run in runs], [ratio(run, "state") for run in runs]
    return [
        check(
            "The longer the spacing, the larger the state",
            all(small < large for small, large in pairwise(states)),
            f"tuples at 10, 20, 30, 40: {listed(states)}",
        ),
        check(
            f"No state grows with the streams: in the last quarter at most {FLAT:g} times that of the second one",
            max(growths) <= FLAT,
            f"times at 10, 20, 30, 40: {listed(growths, '.2f')}",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """A line per spacing."""
    with plot.picture(path, "PJoin's state by the spacing of punctuations") as (axes,):
        for (name, run), colour in zip(
            result["runs"].items(), (plot.BLUE, plot.GREEN, plot.ORANGE, plot.VERMILLION), strict=True
        ):
            plot.curve(axes, run["series"], "state", f"every {name} tuples", color=colour)
        plot.label(axes, "time (s)", "tuples in state")
        plot.headroom(axes)
        plot.legend_below([axes], columns=4)


EXPERIMENT = tables_experiment("pj_spacing", "Spacing of punctuations", "PJoin, closer look 1", measure, checks, draw)
