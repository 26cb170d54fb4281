"""Figure 5 of Kang, Naughton and Viglas: five ways to share out CPU that does not suffice for all tuples (KN-37).

The paper: all of it to the stream that probes the larger window (MaxA) gives the most results, the opposite (MaxB) the
fewest. A tuple that gets no CPU is stored all the same, but does not probe.
"""

from pathlib import Path

from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Experiment, Progress, Result
from punctuated.experiments.shed_run import SheddingJoin
from punctuated.experiments.shed_strategies import Contest, draw_contest, order_check, ranked
from punctuated.experiments.tables_engine import TABLES

RATES, WINDOWS, VALUES, MU = (800.0, 200.0), (100, 200), (100, 100), 100.0
SECONDS = 300.0
STRATEGIES = {
    "MaxA": "max-left",
    "MaxB": "max-right",
    "proportional to rates": "by-rate",
    "proportional to windows": "by-window",
    "equal": "equal",
}
EXPECTED = (200.0, 100.0, 180.0, 133.33, 150.0)


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Try every strategy on the same streams."""
    contest = Contest(SheddingJoin(RATES, WINDOWS, VALUES, SECONDS * scale), STRATEGIES, rate=MU, expected=EXPECTED)
    found = contest.run(progress)
    order = ranked(found)
    return contest.result(
        found,
        [order_check("MaxA gives the most results, MaxB the fewest", (order[0], order[-1]) == ("MaxA", "MaxB"), found)],
    )


def draw(result: Result, path: Path) -> None:
    """Bars."""
    draw_contest(
        result,
        path,
        "CPU for 100 of 1,000 tuples/s\n$\\lambda_a$=800, $\\lambda_b$=200, A=100, B=200, $\\sigma$=0.01, $\\mu$=100",
    )


EXPERIMENT = Experiment("kn_fig05", "Strategies for limited CPU", "Kang et al., figure 5", run, draw)
