"""Endings of single values by a stream: when they take effect, and what they purge (PW-25 … PW-27).

An ending takes effect once the stream's watermark has reached its time, or is beyond it if it was announced apart from
the stream. Until then it waits in the heap of pending endings.
"""

from punctuated.kernels.by_state import propagate, purge_for_ending
from punctuated.kernels.forget import has_ended
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import (
    ANNOUNCED,
    ARCHIVED,
    EFFECT,
    ENDED,
    ENDED_ANY,
    FOREVER,
    OUT,
    OUT_RECALLED,
    RECALLED,
    AnyState,
)
from punctuated.kernels.timers import due_at, pop_timer, push_timer
from punctuated.kernels.value_index import find_run


@inlined
def take_effect(state: AnyState, side: int, index: int) -> None:
    """Let an ending take effect: from now on the side is known to bring no tuple of this value."""
    state.values[index].flags |= EFFECT << side
    purge_for_ending(state, side, index)
    propagate(state, side, index)


@subroutine
def archive_again(state: AnyState, index: int) -> None:
    """Archive a finished value anew, because another stream has now ended it, too (PW-35)."""
    common, value = state.common[0], state.values[index]
    finished = find_run(state.runs, value.code)
    if finished >= 0:  # what the run said of it is its own again
        value.flags &= ~((state.runs[finished].flags & ENDED_ANY) * RECALLED)
    value.flags &= ~(ARCHIVED | OUT_RECALLED)
    state.done[common.n_done] = index
    common.n_done += 1


@inlined
def effect_ts(state: AnyState, side: int, index: int) -> int:
    """The watermark from which the side's ending of a value is in effect."""
    announced = state.values[index].flags & (ANNOUNCED << side) != 0
    return int(state.endings[index].ended_ts[side] + announced)


@inlined
def note_ending(state: AnyState, side: int, index: int, ts: int, announced: bool) -> bool:
    """Remember that the side ended a value at `ts`; false if that was known already (XD-13: repeating is harmless)."""
    value, ending = state.values[index], state.endings[index]
    if value.flags & (EFFECT << side) or state.sides[side].end_ts != FOREVER:
        return False
    if value.flags & (ENDED << side):
        known = ending.ended_ts[side]
        if ts > known or (ts == known and ts + announced >= effect_ts(state, side, index)):
            return False
    else:
        ending.touched = state.common[0].seq
    value.flags |= ENDED << side
    value.flags &= ~((RECALLED | ANNOUNCED) << side)
    if announced:
        value.flags |= ANNOUNCED << side
    ending.ended_ts[side] = ts
    if value.flags & OUT:
        archive_again(state, index)
    return True


@inlined
def end_value(state: AnyState, side: int, index: int, ts: int, announced: bool) -> None:
    """End a single value by a punctuation of `side`, at once or when the watermark gets there."""
    ours, effect = state.sides[side], ts + announced
    is_repeated = state.values[index].flags & (ENDED << side)
    if not note_ending(state, side, index, ts, announced):
        return
    if ours.watermark >= effect and not is_repeated:
        take_effect(state, side, index)
    else:
        state.common[0].timers += 1
        order = state.common[0].timers
        ours.n_pending = push_timer(state.pending[side], ours.n_pending, effect, order, index)
        state.common[0].due = min(state.common[0].due, due_at(state, side, effect))


@subroutine
def end_at_once(state: AnyState, side: int, index: int, ts: int) -> None:
    """End a value by a constraint of the stream, with effect whatever the watermark."""
    if not has_ended(state, side, index):
        note_ending(state, side, index, ts, False)
        take_effect(state, side, index)


@subroutine
def end_pending(state: AnyState, side: int, index: int, ts: int) -> bool:
    """Put a pending ending into effect because its stream is over, without propagating yet; false if it was none."""
    flags = state.values[index].flags
    if flags & (ENDED << side) == 0 or flags & (EFFECT << side):
        return False
    ending = state.endings[index]
    ending.ended_ts[side] = min(ending.ended_ts[side], ts)
    state.values[index].flags |= EFFECT << side
    purge_for_ending(state, side, index)
    return True


@subroutine
def range_is_first(state: AnyState, side: int) -> bool:
    """Whether the next ending to take effect is one of a range, which is the driver's work."""
    ours = state.sides[side]
    if ours.range_time > ours.watermark:
        return False
    first = state.pending[side][0]
    if ours.n_pending == 0 or ours.range_time < first.time:
        return True
    return bool(ours.range_time == first.time and ours.range_order < first.order)


@subroutine
def fire_pending(state: AnyState, side: int) -> bool:
    """Put the endings into effect that the side's watermark has reached; false if a range ending is next."""
    ours, heap = state.sides[side], state.pending[side]
    while not range_is_first(state, side) and ours.n_pending and heap[0].time <= ours.watermark:
        ours.n_pending = pop_timer(heap, ours.n_pending)
        index = heap[ours.n_pending].value
        flags = state.values[index].flags
        is_due = effect_ts(state, side, index) <= ours.watermark  # else the timer is of a forgotten ending
        if is_due and flags & (ENDED << side) and flags & (EFFECT << side) == 0:
            take_effect(state, side, index)
    return not range_is_first(state, side)
