"""The closer looks at PJoin: the spacing of punctuations (PJ-18 … PJ-20), and when they come out (PJ-21).

In closer looks 2 and 2.5 A punctuates every 10 tuples, B every 20 to 40. In closer look 3 punctuations come out
steadily here also where the streams punctuate differently.
"""

from collections.abc import Sequence
from pathlib import Path

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, each_below, rising
from papers.lab.experiment import Run, tables_experiment
from papers.pjoin.runs import growth, punctuated_streams, purge_policy, ratio, run_join, settled

TUPLES = 40_000

# Closer look 1

SPACINGS = (10, 20, 30, 40)
FLAT = 1.5


def measure_spacings(run: Run) -> Result:
    """PJoin over streams of every spacing."""
    n = run.tuples(TUPLES)
    return {
        "tuples": n,
        "runs": {
            str(spacing): run_join(
                punctuated_streams(n, (spacing, spacing)), "pjoin", share.progress, policy=purge_policy(1)
            )
            for spacing, share in run.each(SPACINGS)
        },
    }


SPACING_CLAIMS = (
    Claim(
        "The longer the spacing, the larger the state",
        "the longer the spacing, the larger the state",
        lambda m: [settled(run, "state") for run in m["runs"].values()],
        rising,
        "tuples at 10, 20, 30, 40: {:,.0f}",
    ),
    Claim(
        f"No state grows with the streams: in the last quarter at most {FLAT:g} times that of the second one",
        NOT_REPORTED,
        lambda m: [ratio(run, "state") for run in m["runs"].values()],
        lambda times: max(times) <= FLAT,
        "times at 10, 20, 30, 40: {:.2f}",
    ),
)


def draw_spacings(result: Result, path: Path) -> None:
    """A line per spacing."""
    colours = (plot.BLUE, plot.GREEN, plot.ORANGE, plot.VERMILLION)
    with plot.picture(path, "PJoin's state by the spacing of punctuations") as (axes,):
        for (name, run), colour in zip(result["runs"].items(), colours, strict=True):
            plot.curve(axes, run["series"], "state", f"every {name} tuples", color=colour)
        plot.label(axes, "time (s)", "tuples in state")
        plot.headroom(axes)
        plot.legend_below([axes], columns=4)


# Closer looks 2 and 2.5

OFTEN, SELDOM = 10, (20, 30, 40)  # tuples per punctuation of A, and of B
MODES = {"eager": 1, "lazy": 100}  # thresholds
STATES = {"A's state": "left", "B's state": "right"}


def measure_asymmetric(run: Run) -> Result:
    """PJoin with every spacing of B and with both purge modes."""
    n = run.tuples(TUPLES)
    runs: dict[str, dict[str, object]] = {mode: {} for mode in MODES}
    for spacing, share in run.each(SELDOM):
        tables = punctuated_streams(n, (OFTEN, spacing))
        for (mode, threshold), each in share.each(MODES.items()):
            runs[mode][str(spacing)] = run_join(tables, "pjoin", each.progress, policy=purge_policy(threshold))
    return {"tuples": n, "runs": runs}


def _of(result: Result, mode: str, what: str) -> list[float]:
    """A figure of all runs in one purge mode: `cpu_s`, `results`, or the mean of a series."""
    runs: Sequence[Result] = list(result["runs"][mode].values())
    return [run[what] if what in run else settled(run, what) for run in runs]


_SELDOM_PURGED = "the state that the rarely punctuating stream purges is the larger part"
ASYMMETRIC_CLAIMS = (
    Claim(
        "Both modes give the same results",
        NOT_REPORTED,
        lambda m: tuple(_of(m, mode, "results") for mode in MODES),
        lambda eager, lazy: eager == lazy,
        "{:,}",
    ),
    Claim(
        "A's state, which B purges, is larger than B's",
        _SELDOM_PURGED,
        lambda m: tuple(_of(m, "eager", side) for side in STATES.values()),
        lambda left, right: each_below(right, left),
        "A: {:,.0f}; B: {:,.0f}",
    ),
    Claim(
        "The less often B punctuates, the larger is A's state",
        _SELDOM_PURGED,
        lambda m: _of(m, "eager", "left"),
        rising,
        "A's tuples with 20, 30, 40: {:,.0f}",
    ),
    Claim(
        "A lazy purge is faster than an eager one",
        "where punctuations are frequent, a lazy purge is faster than an eager one",
        lambda m: tuple(_of(m, mode, "cpu_s") for mode in MODES),
        lambda eager, lazy: each_below(lazy, eager),
        "seconds of CPU, eager: {:.2f}; lazy: {:.2f}",
    ),
)


def draw_asymmetric(result: Result, path: Path) -> None:
    """States with an eager purge, and the time that both modes take."""
    with plot.picture(path, f"A punctuates every {OFTEN} tuples, B less often", panels=2, width=9) as axes:
        names = [f"B every {spacing}" for spacing in SELDOM]
        plot.bars(axes[0], names, {state: _of(result, "eager", side) for state, side in STATES.items()})
        axes[0].set(ylabel="tuples in state", title="State, eager purge")
        plot.bars(axes[1], names, {f"{mode} purge": _of(result, mode, "cpu_s") for mode in MODES})
        axes[1].set(ylabel="seconds of CPU", title="Time")
        for each in axes:
            plot.legend(each, "upper left")
            each.set_ylim(top=1.3 * each.get_ylim()[1])


# Closer look 3

ALIKE, UNLIKE = "both every 40", "A every 10, B every 40"
PAIRS = {ALIKE: (40, 40), UNLIKE: (10, 40)}
STEADY, ALL = 0.2, 0.02
EVERY = 10  # punctuations between two purges, and two propagations


def measure_propagation(run: Run) -> Result:
    """PJoin that pushes, by the index and Theorem 1."""
    n, policy = run.tuples(TUPLES), pt.Policy(purge="lazy", purge_threshold=EVERY, propagate_every=EVERY)
    return {
        "tuples": n,
        "values": {name: n // min(pair) for name, pair in PAIRS.items()},
        "runs": {
            name: run_join(punctuated_streams(n, pair), "pjoin", share.progress, policy=policy)
            for (name, pair), share in run.each(PAIRS.items())
        },
    }


def _steadily(name: str, report: str) -> Claim:
    return Claim(
        f"{name}: punctuations come out steadily, in the last quarter within {STEADY:.0%} of the second",
        report,
        lambda m: growth(m["runs"][name], "punctuations_out"),
        lambda times: abs(times - 1) <= STEADY,
        "{:.0%}",
    )


PROPAGATION_CLAIMS = (
    _steadily(ALIKE, "with the same spacing on both streams punctuations come out steadily"),
    _steadily(UNLIKE, NOT_REPORTED),
    Claim(
        f"Every value's end is given out by the end, within {ALL:.0%}",
        NOT_REPORTED,
        lambda m: [run["punctuations_out"] / m["values"][name] for name, run in m["runs"].items()],
        lambda shares: all(abs(share - 1) <= ALL for share in shares),
        "of the values: {:.1%}",
    ),
)


def draw_propagation(result: Result, path: Path) -> None:
    """Punctuations so far."""
    with plot.picture(path, "Punctuations of PJoin's output") as (axes,):
        for (name, run), colour in zip(result["runs"].items(), (plot.BLUE, plot.VERMILLION), strict=True):
            plot.curve(axes, run["series"], "punctuations_out", name, color=colour)
        plot.label(axes, "time (s)", "punctuations so far")
        plot.headroom(axes)
        plot.legend(axes, "upper left")


EXPERIMENTS = (
    tables_experiment(
        "pj_spacing", "Spacing of punctuations", "PJoin, closer look 1", measure_spacings, SPACING_CLAIMS, draw_spacings
    ),
    tables_experiment(
        "pj_asymmetric",
        "Asymmetric spacing of punctuations",
        "PJoin, closer looks 2 and 2.5",
        measure_asymmetric,
        ASYMMETRIC_CLAIMS,
        draw_asymmetric,
    ),
    tables_experiment(
        "pj_propagation",
        "Propagation",
        "PJoin, closer look 3",
        measure_propagation,
        PROPAGATION_CLAIMS,
        draw_propagation,
    ),
)
