"""A driver with a stopwatch: what a join costs without its surroundings, or one step of it without the others."""

from time import thread_time

from punctuated.join.driver import JoinDriver
from punctuated.join.intake.take_in import Intake
from punctuated.kernels.layout import Indices
from punctuated.model.batch import StreamBatch
from punctuated.model.side import Side


class TimedDriver(JoinDriver):
    """Adds up the CPU time of its loop: the kernels, and the growth of their arrays.

    Left out is what turns Arrow columns into arrays and back, which is the same whatever the windows are kept in.
    """

    loop_s = 0.0
    left_out = (0, 0)  # what tuples of either side do not do: NO_PROBE, NO_STORE

    def _take_in(self, side: Side, batch: StreamBatch) -> Intake:
        intake = super()._take_in(side, batch)
        intake.objects.status[:] |= self.left_out[side]
        return intake

    def _run(self, order: Indices, at: int, stop: int, intakes: tuple[Intake, Intake]) -> int:
        start = thread_time()
        came_to = super()._run(order, at, stop, intakes)
        self.loop_s += thread_time() - start
        return came_to
