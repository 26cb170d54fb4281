"""What a join costs without its surroundings: its tactic with a stopwatch, and results that are only counted."""

from collections.abc import Sequence
from time import thread_time

from punctuated.kernels.layout import Ints, Objects
from punctuated.operator.driver import JoinDriver
from punctuated.operator.tactic import Tactic
from punctuated.output.members import MultiwayCollector
from punctuated.output.pairs import PairCollector
from punctuated.state.arrays import JoinState


class TimedTactic:
    """Adds up the CPU time of the loop, and hands everything else on.

    Left out is what turns Arrow columns into arrays and back, which is the same whatever the windows are kept in.
    """

    def __init__(self, tactic: Tactic) -> None:
        self._tactic = tactic
        self.loop_s = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._tactic, name)

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        """The loop, timed."""
        start = thread_time()
        came_to = self._tactic.run(order, at, stop, inputs)
        self.loop_s += thread_time() - start
        return came_to


class _Counting:
    """Counts results without making columns of them."""

    def drain_pairs(self, state: JoinState) -> None:
        """They are counted already."""
        state.common["n_pairs"] = 0


class CountingCollector(_Counting, PairCollector):
    """Of two streams."""


class CountingMultiwayCollector(_Counting, MultiwayCollector):
    """Of any number of streams."""


def timed(driver: JoinDriver) -> TimedTactic:
    """Put a stopwatch into a driver that has seen nothing yet, and let it make no results."""
    stopwatch = TimedTactic(driver.tactic)
    driver.tactic = stopwatch  # type: ignore[assignment]  # it hands on what it does not have itself
    counting = CountingMultiwayCollector if driver.spec.reaches else CountingCollector
    driver.collector = counting(driver.setup, driver.codec, driver.rows, None)
    return stopwatch
