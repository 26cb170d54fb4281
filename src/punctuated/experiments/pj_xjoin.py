"""PJoin against XJoin, state and output (PJ-16): punctuations every 40 tuples, and the same memory for both.

The paper: PJoin's state stays small, XJoin's grows with the streams; PJoin's output rate stays, XJoin's decays.
"""

from pathlib import Path

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.experiment import Check, Result, check, scaled, tables_experiment
from punctuated.experiments.pjoin_runs import growth, punctuated_streams, ratio, run_join, settled
from punctuated.experiments.progress import Progress, part

TUPLES = 60_000  # per stream: two minutes
SPACING = 40
MEMORY = 400  # tuples of both streams; PJoin holds 240 on average
FLAT, GROWN, DECAYED, STEADY = 1.5, 1.8, 0.85, 0.8


def measure(scale: float, progress: Progress | None) -> Result:
    """Both joins over the same streams."""
    n = scaled(TUPLES, scale)
    tables = punctuated_streams(n, (SPACING, SPACING))
    policy = pt.Policy(purge="eager", propagate="pull")
    runs = {
        name: run_join(tables, name.lower(), part(progress, i, 2), memory=MEMORY, policy=policy)
        for i, name in enumerate(("PJoin", "XJoin"))
    }
    return {"tuples": n, "runs": runs}


def checks(result: Result) -> list[Check]:
    """The paper's claims, and the ground they stand on."""
    pjoin, xjoin = result["runs"]["PJoin"], result["runs"]["XJoin"]
    return [
        check(
            "Both give the same number of results by the end",
            pjoin["results"] == xjoin["results"] > 0,
            f"{pjoin['results']:,} and {xjoin['results']:,}",
        ),
        check(
            f"PJoin's state is flat: in the last quarter at most {FLAT:g} times that of the second one",
            ratio(pjoin, "state") <= FLAT,
            f"{settled(pjoin, 'state'):,.0f} tuples, {ratio(pjoin, 'state'):.2f} times",
        ),
        check(
            f"XJoin's state grows with the streams: in the last quarter {GROWN:g} times that of the second one or more",
            ratio(xjoin, "state") >= GROWN,
            f"{xjoin['series']['state'][-1]:,.0f} tuples at the end, {ratio(xjoin, 'state'):.2f} times",
        ),
        check(
            f"PJoin's output rate stays: in the last quarter at least {STEADY:.0%} of the second one's",
            growth(pjoin, "results") >= STEADY,
            f"{growth(pjoin, 'results'):.0%}",
        ),
        check(
            f"XJoin gives less while the streams run: at most {DECAYED:.0%} of PJoin's results by their end",
            xjoin["series"]["results"][-1] <= DECAYED * pjoin["series"]["results"][-1],
            f"{xjoin['series']['results'][-1]:,.0f} of {pjoin['series']['results'][-1]:,.0f}; "
            "the rest comes out of the clean-up",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """State and results over time."""
    looks = {"PJoin": plot.look("PJoin"), "XJoin": {"color": plot.GREY, "linestyle": "--"}}
    with plot.picture(path, f"PJoin and XJoin, a punctuation every {SPACING} tuples", panels=2, width=9) as axes:
        for name, run in result["runs"].items():
            plot.curve(axes[0], run["series"], "state", name, 1e3, **looks[name])
            plot.curve(axes[1], run["series"], "results", name, 1e6, **looks[name])
        plot.label(axes[0], "time (s)", "tuples in state (thousands)", "State, memory and disk")
        plot.label(axes[1], "time (s)", "results so far (millions)", "Output while the streams run")
        for each in axes:
            plot.headroom(each)
        plot.legend_below(axes, columns=2)


EXPERIMENT = tables_experiment("pj_xjoin", "PJoin and XJoin, state and output", "PJoin, round 1", measure, checks, draw)
