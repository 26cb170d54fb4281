"""Clustered streams (PW-13): they leave a value when they come to another one, which is thereby ended.

A boundary is the time at which a batch of the stream first brings a value. An open value, of which a tuple was accepted
and which has not been ended since, ends at the first boundary of another value after its last tuple. The ending comes
as soon as the stream has got there, and takes effect as any other punctuation inside the stream does. So a tuple that
is late but allowed finds its cluster open.
"""

from punctuated.kernels.endings import end_value
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import FOREVER, NEVER, NONE, OPEN, AnyState
from punctuated.kernels.timers import pop_timer, push_timer


@subroutine
def first_boundary_after(state: AnyState, side: int, time: int) -> int:
    """Position of the side's first boundary that is later."""
    boundaries = state.boundaries[side]
    first, last = 0, state.sides[side].n_boundaries
    while first < last:
        middle = (first + last) >> 1
        if boundaries[middle].time <= time:
            first = middle + 1
        else:
            last = middle
    return int(first)


@subroutine
def next_boundary(state: AnyState, side: int) -> int:
    """Position of the first boundary that may end an open value; beyond the last one if there is none."""
    ours = state.sides[side]
    if ours.n_clusters == 0:
        return int(ours.n_boundaries)
    return int(max(ours.boundary, first_boundary_after(state, side, state.clusters[side][0].time)))


@subroutine
def next_leaving(state: AnyState, side: int) -> int:
    """The moment of the batch's clock at which the side may leave an open value; FOREVER if there is none."""
    ours, at = state.sides[side], next_boundary(state, side)
    if at == ours.n_boundaries:
        return FOREVER
    time = state.boundaries[side][at].time
    return int(state.common[0].now if time <= ours.newest else time)


@inlined
def watch_value(state: AnyState, side: int, index: int) -> None:
    """Enter an open value into the heap, by the time of its last tuple."""
    ours, last = state.sides[side], state.endings[index].last_ts[side]
    ours.n_clusters = push_timer(state.clusters[side], ours.n_clusters, last, state.values[index].code, index)


@subroutine
def open_value(state: AnyState, side: int, index: int) -> None:
    """Note that a clustered stream has brought a tuple of this value; a boundary that it has passed may end it."""
    ours, value, common = state.sides[side], state.values[index], state.common[0]
    if value.flags & (OPEN << side):
        return
    value.flags |= OPEN << side
    watch_value(state, side, index)
    ours.boundary = min(ours.boundary, first_boundary_after(state, side, state.endings[index].last_ts[side]))
    common.due = min(common.due, next_leaving(state, side))


@subroutine
def end_before(state: AnyState, side: int, at: int) -> None:
    """End the open values whose last tuple is before a boundary, but for the value that comes there itself.

    A value's own boundary can be later than its last tuple only if tuples of it were rejected.
    """
    ours, heap, boundary = state.sides[side], state.clusters[side], state.boundaries[side][at]
    own = NONE
    while ours.n_clusters and heap[0].time < boundary.time:
        ours.n_clusters = pop_timer(heap, ours.n_clusters)
        timer = heap[ours.n_clusters]
        index, known = timer.value, timer.time
        value, last = state.values[index], state.endings[index].last_ts[side]
        if last > known:  # it has had tuples since: its turn comes by its last one
            watch_value(state, side, index)
        elif boundary.is_here and boundary.code == value.code:
            own = index
        else:
            value.flags &= ~(OPEN << side)
            if last != NEVER:  # else it was forgotten
                end_value(state, side, index, boundary.time, False)
    if own >= 0:
        watch_value(state, side, own)


@subroutine
def end_clusters(state: AnyState, side: int) -> None:
    """End the open values that the stream has left by now."""
    ours = state.sides[side]
    at = next_boundary(state, side)
    while at < ours.n_boundaries and state.boundaries[side][at].time <= ours.newest:
        ours.boundary = at + 1
        end_before(state, side, at)
        at = next_boundary(state, side)
