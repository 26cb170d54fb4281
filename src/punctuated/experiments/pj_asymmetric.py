"""One stream punctuates less often than the other, with both purge modes (PJ-19, PJ-20): A every 10 tuples, B 20 to 40.

The paper: the state that the rarely punctuating stream purges, A's, is the larger part; where punctuations are
frequent, a lazy purge is faster than an eager one.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from punctuated.cli import plot
from punctuated.experiments.experiment import Check, Result, check, listed, scaled, tables_experiment
from punctuated.experiments.pj_purge import policy
from punctuated.experiments.pjoin_runs import punctuated_streams, run_join, settled
from punctuated.experiments.progress import Progress, part

TUPLES = 40_000
OURS, THEIRS = 10, (20, 30, 40)
LAZY = 100
MODES = {"eager": 1, "lazy": LAZY}
STATES = {"A's state": "left", "B's state": "right"}


def measure(scale: float, progress: Progress | None) -> Result:
    """PJoin with every spacing of B and with both purge modes."""
    n = scaled(TUPLES, scale)
    runs: dict[str, dict[str, object]] = {mode: {} for mode in MODES}
    for i, theirs in enumerate(THEIRS):
        tables = punctuated_streams(n, (OURS, theirs))
        for j, (mode, threshold) in enumerate(MODES.items()):
            share = part(progress, 2 * i + j, 2 * len(THEIRS))
            runs[mode][str(theirs)] = run_join(tables, "pjoin", share, policy=policy(threshold))
    return {"tuples": n, "runs": runs}


def spent(runs: Sequence[Result]) -> list[float]:
    """Seconds of CPU."""
    return [run["cpu_s"] for run in runs]


def checks(result: Result) -> list[Check]:
    """Whose state dominates, how it grows with the other's spacing, and which mode is faster."""
    eager, lazy = (list(result["runs"][mode].values()) for mode in MODES)
    left, right = ([settled(run, side) for run in eager] for side in ("left", "right"))
    times = spent(eager), spent(lazy)
    return [
        check(
            "Both modes give the same results",
            [run["results"] for run in eager] == [run["results"] for run in lazy],
            listed(run["results"] for run in eager),
        ),
        check(
            "A's state, which B purges, is larger than B's",
            all(a > b for a, b in zip(left, right, strict=True)),
            f"A: {listed(left)}; B: {listed(right)}",
        ),
        check(
            "The less often B punctuates, the larger is A's state",
            all(small < large for small, large in pairwise(left)),
            f"A's tuples with 20, 30, 40: {listed(left)}",
        ),
        check(
            "A lazy purge is faster than an eager one",
            all(b < a for a, b in zip(*times, strict=True)),
            f"seconds of CPU, eager: {listed(times[0], '.2f')}; lazy: {listed(times[1], '.2f')}",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """States with an eager purge, and the time that both modes take."""
    eager, lazy = (list(result["runs"][mode].values()) for mode in MODES)
    title = f"A punctuates every {OURS} tuples, B less often"
    with plot.picture(path, title, panels=2, width=9) as axes:
        names = [f"B every {spacing}" for spacing in THEIRS]
        plot.bars(axes[0], names, {side: [settled(run, of) for run in eager] for side, of in STATES.items()})
        axes[0].set(ylabel="tuples in state", title="State, eager purge")
        plot.bars(axes[1], names, {"eager purge": spent(eager), "lazy purge": spent(lazy)})
        axes[1].set(ylabel="seconds of CPU", title="Time")
        for each in axes:
            plot.legend(each, "upper left")
            each.set_ylim(top=1.3 * each.get_ylim()[1])


EXPERIMENT = tables_experiment(
    "pj_asymmetric", "Asymmetric spacing of punctuations", "PJoin, closer looks 2 and 2.5", measure, checks, draw
)
