"""Figure 7 of Kang, Naughton and Viglas: five ways to share out CPU and memory if both are limited (KN-42).

The paper: all memory to one window and all CPU to the other stream's probes gives the most results, whichever is which;
an equal split comes next, and both to the same stream gives the fewest: none, if nothing is left for the other one.
"""

from pathlib import Path

from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Experiment, Progress, Result
from punctuated.experiments.shed_run import SheddingJoin
from punctuated.experiments.shed_strategies import Contest, draw_contest, order_check
from punctuated.experiments.tables_engine import TABLES

RATES, WINDOWS, VALUES = (20.0, 20.0), (100, 100), (100, 100)  # the paper names no rates; either could take all CPU
MU, ROOM = 10.0, 100.0
SECONDS = 3000.0
STRATEGIES = {
    "MaxA / Max λb": "left-window/right-rate",
    "MaxB / Max λa": "right-window/left-rate",
    "MaxA / Max λa": "left-window/left-rate",
    "MaxB / Max λb": "right-window/right-rate",
    "equal": "equal",
}
EXPECTED = (10.0, 10.0, 0.0, 0.0, 5.0)


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Try every strategy on the same streams."""
    contest = Contest(
        SheddingJoin(RATES, WINDOWS, VALUES, SECONDS * scale), STRATEGIES, rate=MU, tuples=ROOM, expected=EXPECTED
    )
    found = contest.run(progress)
    crossed_one, crossed_two, same_one, same_two, equal = (each["measured"] for each in found.values())
    holds = min(crossed_one, crossed_two) > equal > 0 == same_one == same_two
    return contest.result(
        found,
        [order_check("The crossed strategies are the best, equal comes next, the others give nothing", holds, found)],
    )


def draw(result: Result, path: Path) -> None:
    """Bars."""
    title = "CPU for 10 tuples/s and memory for 100 tuples\n$\\mu$=10, M=100, $\\sigma$=0.01"
    draw_contest(result, path, title)


EXPERIMENT = Experiment("kn_fig07", "Strategies for limited CPU and memory", "Kang et al., figure 7", run, draw)
