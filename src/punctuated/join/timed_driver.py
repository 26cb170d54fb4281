"""A driver with a stopwatch: what a join costs without its surroundings."""

from time import thread_time

from punctuated.join.driver import JoinDriver
from punctuated.join.intake import Intake
from punctuated.kernels.layout import Indices


class TimedDriver(JoinDriver):
    """Adds up the CPU time of its loop: the kernels, and the growth of their arrays.

    Left out is what turns Arrow columns into arrays and back, which is the same whatever the windows are kept in.
    """

    loop_s = 0.0

    def _run(self, order: Indices, at: int, stop: int, intakes: tuple[Intake, Intake]) -> int:
        start = thread_time()
        came_to = super()._run(order, at, stop, intakes)
        self.loop_s += thread_time() - start
        return came_to
