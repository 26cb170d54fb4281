"""Output punctuations: when a value that is over in an input is over in the output too (PW-08, PW-32, PJ-09).

The paper hangs early propagation on a pointer of the value list's last T-Node, the punctuated ring (PW-34). Here a
heap of deadlines stands in its place: it stays right when tuples arrive out of order, when the last tuple was never
stored, and when a promise was broken (XD-08 … XD-10).
"""

from punctuated.kernels._jit import inlined, part
from punctuated.kernels.heap import due_at, pop_timer, push_timer
from punctuated.kernels.layout import (
    BOTH,
    BY_OWN_STATE,
    BY_WINDOW,
    EARLY,
    EFFECT,
    ENDED,
    FOREVER,
    NEVER,
    OUT,
    OWN_STATE,
    RECALLED,
    UNBOUNDED,
    State,
)
from punctuated.kernels.purge import ended_ts, has_stored, purge_value
from punctuated.kernels.time_list import has_own_windows


@inlined
def has_ended(state: State, side: int, index: int) -> bool:
    """Whether the side has ended a value, with effect."""
    return bool(state.values[index].flags & (EFFECT << side) or state.sides[side].end_ts != FOREVER)


@inlined
def awaits_output(state: State, side: int, index: int) -> bool:
    """Whether the side has ended a value by name, with effect, and the output has not been told yet."""
    flags = state.values[index].flags
    return bool(flags & (EFFECT << side) and flags & (OUT | (RECALLED << side)) == 0)


@part
def finish_value(state: State, index: int) -> None:
    """The value is over in the output. What is left of it goes first, so that its unmatched rows come before."""
    common = state.common[0]
    for side in range(2):
        purge_value(state, side, index, ended_ts(state, 1 - side, index))
    for side in range(2):
        if has_ended(state, side, index):
            state.endings[index].ended_ts[side] = ended_ts(state, side, index)
            state.values[index].flags |= (ENDED | EFFECT) << side
            state.values[index].flags &= ~(RECALLED << side)
    state.values[index].flags |= OUT
    state.endings[index].touched = common.seq
    state.done[common.n_done] = index
    common.n_done += 1


@part
def punctuate_output(state: State, index: int, ts: int, reason: int) -> None:
    """Say in the output that a value is over."""
    finish_value(state, index)
    common = state.common[0]
    entry = state.punctuations[common.n_punctuations]
    entry.code, entry.ts, entry.reason = state.values[index].code, ts, reason
    common.n_punctuations += 1
    common.punctuations_out += 1


@inlined
def propagate(state: State, side: int, index: int) -> None:
    """Punctuate the output for a value that `side` has ended with effect, if a rule allows it by now."""
    if not state.common[0].propagates or state.values[index].flags & OUT:
        return
    ts, alone = ended_ts(state, side, index), state.sides[side].alone
    if has_ended(state, 1 - side, index):
        punctuate_output(state, index, max(ts, ended_ts(state, 1 - side, index)), BOTH)
    elif alone == BY_OWN_STATE:
        if not has_stored(state, side, index):
            punctuate_output(state, index, ts, OWN_STATE)
    elif alone == BY_WINDOW:
        propagate_early(state, side, index, ts)


@part
def leave_own_state(state: State, side: int, index: int, ts: int) -> None:
    """A tuple at `ts` made one of an ended value leave the side's state, perhaps the last one (PJ-09)."""
    if awaits_output(state, side, index) and not has_stored(state, side, index):
        punctuate_output(state, index, max(ended_ts(state, side, index), ts), OWN_STATE)


@inlined
def last_expiry(state: State, side: int, index: int) -> int:
    """When the last of a side's tuples of a value so far is out of its window, if there was one."""
    ours, last = state.sides[side], state.endings[index].last_ts[side]
    if has_own_windows(state) and last != NEVER:
        last = state.last_ends[index, side]
    return int(last + ours.forget_after)


@inlined
def propagate_early(state: State, side: int, index: int, ts: int) -> None:
    """By Theorem 4.1 the value is over once its last tuple is gone, which may be now (XD-09) or at a deadline."""
    ours, other = state.sides[side], state.sides[1 - side]
    gone = last_expiry(state, side, index)
    if state.endings[index].last_ts[side] == NEVER or (ours.rows and state.values[index].count[side] == 0):
        punctuate_output(state, index, ts, EARLY)
    elif ours.forget_after == UNBOUNDED or gone == UNBOUNDED:
        return
    elif other.watermark <= gone:
        set_deadline(state, side, index, gone)
    else:
        punctuate_output(state, index, ts if ours.watermark > gone + 1 else max(ts, gone + 1), EARLY)


@inlined
def set_deadline(state: State, side: int, index: int, time: int) -> None:
    """Look at an ended value again when the other watermark is beyond `time`."""
    common, ours = state.common[0], state.sides[side]
    common.timers += 1
    ours.n_deadlines = push_timer(state.deadlines[side], ours.n_deadlines, time, common.timers, index)
    common.due = min(common.due, due_at(state, 1 - side, time + 1))


@part
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
