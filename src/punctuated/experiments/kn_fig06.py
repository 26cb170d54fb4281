"""Figure 6 of Kang, Naughton and Viglas: five ways to share out memory that does not suffice for both windows (KN-40).

The paper: all of it to the window of the slower stream (MaxA) gives the most results. The complete windows are as large
as all memory, and what is kept of them is chosen at random.
"""

from pathlib import Path

from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Experiment, Progress, Result
from punctuated.experiments.shed_run import SheddingJoin
from punctuated.experiments.shed_strategies import Contest, draw_contest, is_order, order_check
from punctuated.experiments.tables_engine import TABLES

RATES, WINDOWS, VALUES, ROOM = (10.0, 50.0), (1000, 1000), (200, 100), 1000.0
SECONDS = 1500.0
STRATEGIES = {
    "MaxA": "max-left",
    "MaxB": "max-right",
    "proportional to rates": "by-rate",
    "inverse to rates": "inverse-rate",
    "equal": "equal",
}
EXPECTED = (250.0, 50.0, 83.33, 216.67, 150.0)
ORDER = ("MaxA", "inverse to rates", "equal", "proportional to rates", "MaxB")


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Try every strategy on the same streams."""
    contest = Contest(SheddingJoin(RATES, WINDOWS, VALUES, SECONDS * scale), STRATEGIES, tuples=ROOM, expected=EXPECTED)
    found = contest.run(progress)
    claim = "The more memory the slower stream's window gets, the more results"
    return contest.result(found, [order_check(claim, is_order(found, ORDER), found)])


def draw(result: Result, path: Path) -> None:
    """Bars."""
    draw_contest(
        result,
        path,
        "Memory for 1,000 tuples\n$\\lambda_a$=10, $\\lambda_b$=50, $\\sigma_a$=0.005, $\\sigma_b$=0.01, M=1,000",
    )


EXPERIMENT = Experiment("kn_fig06", "Strategies for limited memory", "Kang et al., figure 6", run, draw)
