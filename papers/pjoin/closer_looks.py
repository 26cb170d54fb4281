"""The closer looks at PJoin: the spacing of punctuations (PJ-18 … PJ-20), and when they come out (PJ-21).

In closer looks 2 and 2.5 A punctuates every 10 tuples, B every 20 to 40. In closer look 3 punctuations come out
steadily here also where the streams punctuate differently.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, Verdict, each_below, listed, rising
from papers.lab.experiment import ON_TABLES, Experiment, Run
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


def _all_flat(result: Result) -> Verdict:
    growths = [ratio(run, "state") for run in result["runs"].values()]
    return max(growths) <= FLAT, f"times at 10, 20, 30, 40: {listed(growths, '.2f')}"


SPACING_CLAIMS = (
    Claim(
        "The longer the spacing, the larger the state",
        "the longer the spacing, the larger the state",
        lambda result: rising([settled(run, "state") for run in result["runs"].values()], "tuples at 10, 20, 30, 40"),
    ),
    Claim(
        f"No state grows with the streams: in the last quarter at most {FLAT:g} times that of the second one",
        NOT_REPORTED,
        _all_flat,
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


def _same_in_both_modes(result: Result) -> Verdict:
    eager, lazy = (_of(result, mode, "results") for mode in MODES)
    return eager == lazy, listed(eager)


def _a_is_larger(result: Result) -> Verdict:
    left, right = (_of(result, "eager", side) for side in STATES.values())
    return each_below(right, left), f"A: {listed(left)}; B: {listed(right)}"


def _lazy_is_faster(result: Result) -> Verdict:
    eager, lazy = (_of(result, mode, "cpu_s") for mode in MODES)
    return each_below(lazy, eager), f"seconds of CPU, eager: {listed(eager, '.2f')}; lazy: {listed(lazy, '.2f')}"


ASYMMETRIC_CLAIMS = (
    Claim("Both modes give the same results", NOT_REPORTED, _same_in_both_modes),
    Claim(
        "A's state, which B purges, is larger than B's",
        "the state that the rarely punctuating stream purges is the larger part",
        _a_is_larger,
    ),
    Claim(
        "The less often B punctuates, the larger is A's state",
        "the state that the rarely punctuating stream purges is the larger part",
        lambda result: rising(_of(result, "eager", "left"), "A's tuples with 20, 30, 40"),
    ),
    Claim(
        "A lazy purge is faster than an eager one",
        "where punctuations are frequent, a lazy purge is faster than an eager one",
        _lazy_is_faster,
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


def _is_steady(name: str, result: Result) -> Verdict:
    grown = growth(result["runs"][name], "punctuations_out")
    return abs(grown - 1) <= STEADY, f"{grown:.0%}"


def _all_come_out(result: Result) -> Verdict:
    shares = [run["punctuations_out"] / result["values"][name] for name, run in result["runs"].items()]
    return all(abs(share - 1) <= ALL for share in shares), f"of the values: {listed(shares, '.1%')}"


_STEADILY = f"punctuations come out steadily, in the last quarter within {STEADY:.0%} of the second"
PROPAGATION_CLAIMS = (
    Claim(
        f"{ALIKE}: {_STEADILY}",
        "with the same spacing on both streams punctuations come out steadily",
        partial(_is_steady, ALIKE),
    ),
    Claim(f"{UNLIKE}: {_STEADILY}", NOT_REPORTED, partial(_is_steady, UNLIKE)),
    Claim(f"Every value's end is given out by the end, within {ALL:.0%}", NOT_REPORTED, _all_come_out),
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
    Experiment(
        "pj_spacing",
        "Spacing of punctuations",
        "PJoin, closer look 1",
        measure_spacings,
        SPACING_CLAIMS,
        draw_spacings,
        ON_TABLES,
    ),
    Experiment(
        "pj_asymmetric",
        "Asymmetric spacing of punctuations",
        "PJoin, closer looks 2 and 2.5",
        measure_asymmetric,
        ASYMMETRIC_CLAIMS,
        draw_asymmetric,
        ON_TABLES,
    ),
    Experiment(
        "pj_propagation",
        "Propagation",
        "PJoin, closer look 3",
        measure_propagation,
        PROPAGATION_CLAIMS,
        draw_propagation,
        ON_TABLES,
    ),
)
