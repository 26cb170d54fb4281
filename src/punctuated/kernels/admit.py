"""Which tuples take part in the join, and what becomes of those that do not.

A tuple that breaks a promise of its stream is rejected, or accepted as the stream's policy says. One with a null key,
or with a value that is over in the output, is counted and matches nothing.
"""

from punctuated.kernels.forget import emit_unmatched
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import (
    ACCEPT,
    AFTER_OUTPUT,
    BROKE_PROMISE,
    BROKEN,
    EFFECT,
    ENDED,
    FAIL,
    NEVER,
    OUT,
    PROMISE,
    AnyState,
)
from punctuated.kernels.time_list import has_own_windows
from punctuated.kernels.value_index import find_run


@subroutine
def reject(state: AnyState, side: int, row: int, reason: int) -> None:
    """Write a tuple to `rejected`."""
    common = state.common[0]
    entry = state.rejected[common.n_rejected]
    entry.row, entry.side, entry.reason = row, side, reason
    common.n_rejected += 1
    common.rejected += 1


@subroutine
def breaks_ending(state: AnyState, side: int, index: int, ts: int) -> bool:
    """Whether a tuple comes after its stream has ended its value by name, or by a range that the name still hides."""
    covering = find_run(state.ranges, state.values[index].code)
    is_covered = covering >= 0 and state.ranges[covering].flags & (EFFECT << side) != 0
    return bool(is_covered or ts > state.endings[index].ended_ts[side])


@inlined
def breaks_promise(state: AnyState, side: int, index: int, ts: int, status: int) -> bool:
    """Whether a tuple comes although its own stream has promised that none such comes."""
    if ts < state.sides[side].floor or status & BROKEN:
        return True
    if index < 0:
        return False
    flags = state.values[index].flags
    if flags & (EFFECT << side):
        return True
    return bool(flags & (ENDED << side) and breaks_ending(state, side, index, ts))


@subroutine
def turn_away(state: AnyState, side: int, index: int, ts: int, row: int) -> bool:
    """Apply the stream's policy to a tuple that breaks a promise; true if it does not take part."""
    ours = state.sides[side]
    if ours.policy == FAIL:
        state.common[0].stopped_by = BROKE_PROMISE
    if ours.policy != ACCEPT:
        reject(state, side, row, PROMISE)
        return True
    if ts < ours.floor or (index >= 0 and state.values[index].flags & OUT):
        reject(state, side, row, AFTER_OUTPUT)
        return True
    return False


@inlined
def note_last(state: AnyState, side: int, index: int, ts: int, end: int) -> None:
    """Remember the time of a value's last tuple, and when the last of their windows ends."""
    ending = state.endings[index]
    if has_own_windows(state):
        known = state.last_ends[index, side] if ending.last_ts[side] != NEVER else end
        state.last_ends[index, side] = max(known, end)
    ending.last_ts[side] = max(ending.last_ts[side], ts)


@subroutine
def pass_by(state: AnyState, side: int, index: int, ts: int, row: int) -> None:
    """Count a tuple that can match nothing: its key is null, or its value is over in the output."""
    if index < 0:
        state.common[0].null_keys += 1
    else:
        state.common[0].dropped += 1
    if state.sides[side].preserved:
        emit_unmatched(state, side, row, ts)
