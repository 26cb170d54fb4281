"""Propagation (PJ-21): punctuations of the output over time, where the streams punctuate alike and where they do not.

The paper: with the same spacing on both streams punctuations come out steadily. Here they do with different ones, too.
"""

from pathlib import Path

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.experiment import Check, Result, check, listed, scaled, tables_experiment
from punctuated.experiments.pjoin_runs import growth, punctuated_streams, run_join
from punctuated.experiments.progress import Progress, part

TUPLES = 40_000
SPACINGS = {"both every 40": (40, 40), "A every 10, B every 40": (10, 40)}
STEADY = 0.2
ALL = 0.02
EVERY = 10  # punctuations between two purges, and two propagations


def measure(scale: float, progress: Progress | None) -> Result:
    """PJoin that pushes, by the index and Theorem 1."""
    n, policy = scaled(TUPLES, scale), pt.Policy(purge="lazy", purge_threshold=EVERY, propagate_every=EVERY)
    runs = {
        name: run_join(punctuated_streams(n, spacing), "pjoin", part(progress, i, len(SPACINGS)), policy=policy)
        for i, (name, spacing) in enumerate(SPACINGS.items())
    }
    return {"tuples": n, "values": {name: _values(n, min(each)) for name, each in SPACINGS.items()}, "runs": runs}


def _values(n: int, spacing: int) -> int:
    return n // spacing


def checks(result: Result) -> list[Check]:
    """Steadiness, and that every value that was ended is told by the end."""
    runs = result["runs"]
    said = [run["said"] / result["values"][name] for name, run in runs.items()]
    return [
        *(_steady(name, growth(run, "said")) for name, run in runs.items()),
        check(
            f"Every value is told by the end, within {ALL:.0%}",
            all(abs(share - 1) <= ALL for share in said),
            f"of the values: {listed(said, '.1%')}",
        ),
    ]


def _steady(name: str, grown: float) -> Check:
    return check(
        f"{name}: punctuations come out steadily, in the last quarter within {STEADY:.0%} of the second",
        abs(grown - 1) <= STEADY,
        f"{grown:.0%}",
    )


def draw(result: Result, path: Path) -> None:
    """Punctuations so far."""
    with plot.picture(path, "Punctuations of PJoin's output") as (axes,):
        for (name, run), colour in zip(result["runs"].items(), (plot.BLUE, plot.VERMILLION), strict=True):
            plot.curve(axes, run["series"], "said", name, color=colour)
        plot.label(axes, "time (s)", "punctuations so far")
        plot.headroom(axes)
        plot.legend(axes, "upper left")


EXPERIMENT = tables_experiment("pj_propagation", "Propagation", "PJoin, closer look 3", measure, checks, draw)
