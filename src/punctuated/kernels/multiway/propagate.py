"""Propagation in a join of any number of streams: when a value is over in the output.

Either all streams have ended it, or one has, by name, and no partner of its last tuple can come: every other stream has
ended the value or is beyond that tuple's reach. A deadline waits for one of those that are not; then the others are
looked at. It belongs to the stream it waits for, and its order says which stream has ended the value.
"""

from punctuated.kernels.by_state import deadline_due, propagate
from punctuated.kernels.forget import awaits_output, ended_ts, has_ended
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import BOTH, BY_WINDOW, EARLY, FOREVER, NEVER, NONE, OUT, UNBOUNDED
from punctuated.kernels.multiway.layout import MultiState
from punctuated.kernels.order import pack, unpack
from punctuated.kernels.output import punctuate_output
from punctuated.kernels.timers import due_at, pop_timer, push_timer


@subroutine
def regular_ts(state: MultiState, index: int) -> int:
    """The latest time at which a stream ended the value, if all have; else FOREVER."""
    latest = NEVER
    for side in range(state.sides.size):
        if not has_ended(state, side, index):
            return FOREVER
        latest = max(latest, ended_ts(state, side, index))
    return int(latest)


@inlined
def set_deadline(state: MultiState, watched: int, time: int, side: int, index: int) -> None:
    """Look at a value that `side` has ended when the watched stream's watermark is beyond `time`."""
    common, ours = state.common[0], state.sides[watched]
    common.timers += 1
    order = pack(common.timers, side)
    ours.n_deadlines = push_timer(state.deadlines[watched], ours.n_deadlines, time, order, index)
    common.due = min(common.due, due_at(state, watched, time + 1))


@deadline_due.of(MultiState)
@inlined
def deadline_due_of_many(state: MultiState, side: int, time: int) -> int:
    """The moment at which the stream's own watermark is beyond the time."""
    return due_at(state, side, time + 1)


@inlined
def progress(state: MultiState, side: int) -> int:
    """How far a stream has come; where it ends just now, its watermark may be behind that."""
    return int(max(state.sides[side].watermark, state.sides[side].floor))


@subroutine
def early_ts(state: MultiState, side: int, index: int, just_ended: bool, waits: bool) -> int:
    """Since when no partner can come of the last tuple of a value that `side` has ended; FOREVER if one can.

    In that case a deadline waits for a stream that can bring one. A value may have several deadlines: if a stream ends
    it that a deadline waits for, another deadline is set.
    """
    ts, last = ended_ts(state, side, index), state.endings[index].last_ts[side]
    if last == NEVER:
        return ts
    proved, long_ago = NEVER, just_ended
    for other in range(state.sides.size):
        if other == side:
            continue
        end = last + state.max_gaps[side, other]
        is_beyond, is_over = progress(state, other) > end, has_ended(state, other, index)
        if not is_beyond and not is_over:
            if waits and state.max_gaps[side, other] != UNBOUNDED:
                set_deadline(state, other, end, side, index)
            return FOREVER
        by_other = ended_ts(state, other, index) if is_over else FOREVER
        proved = max(proved, min(by_other, end + 1) if is_beyond else by_other)
        long_ago = long_ago and is_beyond and progress(state, side) > end + 1
    return int(ts if long_ago else max(ts, proved))


@subroutine
def propagate_early(state: MultiState, index: int, ended_by: int, met: int) -> None:
    """Punctuate the output for a value if any stream that has ended it proves that it is over; the first proof counts.

    `ended_by` has just ended it, or a deadline of `met` has passed; the other one is NONE.
    """
    first = FOREVER
    for side in range(state.sides.size):
        if state.sides[side].early_rule == BY_WINDOW and awaits_output(state, side, index):
            first = min(first, early_ts(state, side, index, side == ended_by, met in (side, NONE)))
    if first != FOREVER:
        punctuate_output(state, index, first, EARLY)


@propagate.of(MultiState)
@subroutine
def propagate_of_many(state: MultiState, side: int, index: int) -> None:
    """Punctuate the output if all streams have ended the value, or an ending of it waits for nothing else."""
    if not state.common[0].propagates or state.values[index].flags & OUT:
        return
    latest = regular_ts(state, index)
    if latest != FOREVER:
        punctuate_output(state, index, latest, BOTH)
    else:
        propagate_early(state, index, side, NONE)


@subroutine
def meet_deadlines(state: MultiState, watched: int) -> None:
    """Look at the ended values that have waited for this stream."""
    ours, heap = state.sides[watched], state.deadlines[watched]
    while ours.n_deadlines and heap[0].time < ours.watermark:
        ours.n_deadlines = pop_timer(heap, ours.n_deadlines)
        timer = heap[ours.n_deadlines]
        index, side = timer.value, unpack(timer.order)[1]
        if awaits_output(state, side, index):
            propagate_early(state, index, NONE, side)
