"""Propagation in a join of two: when a value that is over in an input is over in the output too (PW-08, PW-32, PJ-09).

For early propagation the paper uses a pointer of the value list's last T-Node, the punctuated ring (PW-34). Here it
is a heap of deadlines: that stays right when tuples arrive out of order, when the last tuple was never
stored, and when a promise was broken (XD-08 … XD-10).
"""

from punctuated.kernels.by_state import deadline_due, propagate
from punctuated.kernels.forget import awaits_output, ended_ts, has_ended, has_stored
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import (
    BOTH,
    BY_OWN_STATE,
    BY_WINDOW,
    EARLY,
    FOREVER,
    NEVER,
    NONE,
    OUT,
    OWN_STATE,
    UNBOUNDED,
    State,
)
from punctuated.kernels.output import punctuate_output
from punctuated.kernels.time_list import last_expiry
from punctuated.kernels.timers import due_at, pop_timer, push_timer


@propagate.of(State)
@inlined
def propagate_of_two(state: State, side: int, index: int) -> None:
    """Punctuate the output for a value that `side` has ended with effect, if a rule allows it by now."""
    if not state.common[0].propagates or state.values[index].flags & OUT:
        return
    ts, rule, reason = ended_ts(state, side, index), state.sides[side].early_rule, NONE
    if has_ended(state, 1 - side, index):
        ts, reason = max(ts, ended_ts(state, 1 - side, index)), BOTH
    elif rule == BY_OWN_STATE:
        if not has_stored(state, side, index):
            reason = OWN_STATE
    elif rule == BY_WINDOW:
        ts = early_ts(state, side, index, ts)
        reason = EARLY if ts != FOREVER else NONE
    if reason != NONE:
        punctuate_output(state, index, ts, reason)


@subroutine
def leave_own_state(state: State, side: int, index: int, ts: int) -> None:
    """Punctuate the output if the tuple that left at `ts` was the last one of an ended value (PJ-09)."""
    if awaits_output(state, side, index) and not has_stored(state, side, index):
        punctuate_output(state, index, max(ended_ts(state, side, index), ts), OWN_STATE)


@inlined
def early_ts(state: State, side: int, index: int, ts: int) -> int:
    """The time of an early output punctuation; FOREVER if it is too early, and then a deadline is set if need be.

    By Theorem 4.1 the value is over once its last tuple is gone, which may be now (XD-09) or at a deadline.
    """
    ours, other = state.sides[side], state.sides[1 - side]
    gone = last_expiry(state, side, index)
    if state.endings[index].last_ts[side] == NEVER or (ours.rows and state.values[index].count[side] == 0):
        return ts
    if ours.forget_after == UNBOUNDED or gone == UNBOUNDED:
        return FOREVER
    if other.watermark <= gone:
        set_deadline(state, side, index, gone)
        return FOREVER
    return ts if ours.watermark > gone + 1 else max(ts, gone + 1)


@deadline_due.of(State)
@inlined
def deadline_due_of_two(state: State, side: int, time: int) -> int:
    """The moment at which the other watermark is beyond the time."""
    return due_at(state, 1 - side, time + 1)


@inlined
def set_deadline(state: State, side: int, index: int, time: int) -> None:
    """Look at an ended value again when the other watermark is beyond `time`."""
    common, ours = state.common[0], state.sides[side]
    common.timers += 1
    ours.n_deadlines = push_timer(state.deadlines[side], ours.n_deadlines, time, common.timers, index)
    common.due = min(common.due, deadline_due_of_two(state, side, time))


@subroutine
def meet_deadlines(state: State, side: int) -> None:
    """Propagate the side's ended values whose last tuple the other watermark has left behind."""
    ours, watermark = state.sides[side], state.sides[1 - side].watermark
    heap = state.deadlines[side]
    while ours.n_deadlines and heap[0].time < watermark:
        ours.n_deadlines = pop_timer(heap, ours.n_deadlines)
        index = heap[ours.n_deadlines].value
        if not awaits_output(state, side, index):
            continue
        gone = last_expiry(state, side, index)
        if gone >= watermark:  # a tuple was accepted in spite of the punctuation
            set_deadline(state, side, index, gone)
        else:
            punctuate_output(state, index, max(ended_ts(state, side, index), gone + 1), EARLY)
