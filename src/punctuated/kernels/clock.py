"""The clock of a batch: it runs through the times of the batch, and whatever falls due happens at its own moment.

At a moment t every stream is at t, or at the newest time that the batch brings of it. That is sound, since later
objects of the batch are not earlier than t. It also depends on nothing but times, so a bucket of a cluster, which sees
a part of the objects, has the same clock as all others.
"""

from punctuated.kernels.by_state import advance, deadline_due, n_streams
from punctuated.kernels.clusters import end_clusters, next_leaving
from punctuated.kernels.endings import fire_pending
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import FOREVER, RANGE_DUE, AnyState
from punctuated.kernels.timers import due_at


@inlined
def reach(state: AnyState, moment: int) -> None:
    """Move all streams on to this moment."""
    for side in range(n_streams(state)):
        ours = state.sides[side]
        newest = min(moment, ours.batch_newest)
        if newest > ours.newest:
            ours.newest = newest
            advance(state, side)


@subroutine
def next_due(state: AnyState) -> int:
    """The next moment at which a timer goes off."""
    due = FOREVER
    for side in range(n_streams(state)):
        ours = state.sides[side]
        due = min(due, due_at(state, side, ours.range_time))
        if ours.n_pending:
            due = min(due, due_at(state, side, state.pending[side][0].time))
        if ours.n_clusters:
            due = min(due, next_leaving(state, side))
        if ours.n_deadlines:
            due = min(due, deadline_due(state, side, state.deadlines[side][0].time))
    return due


@subroutine
def fire_all(state: AnyState) -> bool:
    """Let the endings of one moment take effect, side by side, after its objects; false if a range ending is next."""
    for side in range(n_streams(state)):
        if state.sides[side].n_clusters:
            end_clusters(state, side)
        if not fire_pending(state, side):
            return False
    return True


@subroutine
def run_clock(state: AnyState, until: int) -> bool:
    """Let everything happen that is due up to a moment; false if a range ending is next, which is the driver's work."""
    common = state.common[0]
    while common.due <= until:
        if common.due > common.now:
            common.now = common.due
            reach(state, common.now)
        if not fire_all(state):
            return False
        common.due = next_due(state)
    return True


@inlined
def move_clock(state: AnyState, ts: int) -> bool:
    """Move the clock on to the time of an object; false if a range ending is due before, which is the driver's work."""
    common = state.common[0]
    if ts <= common.now:
        return True
    if common.due < ts and not run_clock(state, ts - 1):
        common.stopped_by = RANGE_DUE
        return False
    common.now = ts
    reach(state, ts)
    return True
