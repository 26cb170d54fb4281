"""Invalidation in a join of two: tuples leave by window (PW-11, PW-23), proved by the other watermark (PW-12).

Count windows evict their tuples here, too.
"""

from punctuated.kernels.by_state import advance, settle, sweep, tidy
from punctuated.kernels.forget import awaits_output, ended_ts, forget_tuple
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import BY_OWN_STATE, BY_WINDOW, DEAD, EARLY, FOREVER, State
from punctuated.kernels.output import punctuate_output
from punctuated.kernels.propagate import leave_own_state, meet_deadlines
from punctuated.kernels.purge import window_proof
from punctuated.kernels.time_list import advance_head, expiry, has_own_windows, next_position, unlink_first


@inlined
def invalidate(state: State, side: int, watermark: int) -> None:
    """Drop the side's oldest tuples as far as the other watermark has left their window; skip shells (XD-06)."""
    ours = state.sides[side]
    while ours.length:
        position = ours.head
        node = state.nodes[position]
        if node.value >= 0:
            dead = node.mark & DEAD
            proof = expiry(state, side, position)
            if proof >= watermark and not (dead and not ours.rows):
                return
            if ours.preserved and state.common[0].purge_threshold > 1:
                proof = window_proof(state, side, position)
            unlink_first(state, side, node.value)
            if not dead:
                state.common[0].invalidated += 1
                forget_tuple(state, side, position, proof)
        advance_head(state, side)


@sweep.of(State)
@subroutine
def sweep_of_two(state: State, side: int) -> None:
    """Invalidate also what lies behind a younger tuple, where tuples arrived out of order.

    A tuple stored after one with time t has at least t - lateness: what is further behind need not be looked at. Only
    where tuples have windows of their own, any may be out of it.
    """
    ours, watermark = state.sides[side], state.sides[1 - side].watermark
    position, soonest = ours.head, FOREVER
    for _ in range(ours.length):
        node, last = state.nodes[position], expiry(state, side, position)
        if not has_own_windows(state) and last - ours.lateness >= watermark:
            return
        if node.value >= 0 and node.mark & DEAD == 0:
            if last < watermark:
                node.mark |= DEAD
                state.common[0].invalidated += 1
                proof = last if state.common[0].purge_threshold == 1 else window_proof(state, side, position)
                forget_tuple(state, side, position, proof)
            else:
                soonest = min(soonest, last)
        position = next_position(state, side, position)
    ours.soonest = soonest


@tidy.of(State)
@inlined
def tidy_of_two(state: State) -> None:
    """Sweep both sides where that can find anything: tuples came out of order or have windows of their own."""
    for side in range(2):
        ours, other = state.sides[side], state.sides[1 - side]
        if ours.soonest < other.watermark if has_own_windows(state) else ours.lateness:
            sweep_of_two(state, side)


@settle.of(State)
@inlined
def settle_of_two(state: State, index: int) -> None:
    """Do nothing: in a join of two, a tuple's own window and value say all that is known of it."""


@advance.of(State)
@inlined
def advance_of_two(state: State, side: int) -> None:
    """Move the side's watermark on: tuples of the other leave their window, and with the last of them ended values."""
    ours, other = state.sides[side], state.sides[1 - side]
    watermark = max(ours.newest - ours.lateness, ours.floor)
    if watermark <= ours.watermark:
        return
    ours.watermark = watermark
    invalidate(state, 1 - side, watermark)
    if other.n_deadlines and state.deadlines[1 - side][0].time < watermark:
        meet_deadlines(state, 1 - side)


@inlined
def evict_first(state: State, side: int, index: int, ts: int) -> None:
    """Evict the oldest tuple of a value from a count window; it may be the last one of an ended value."""
    value = state.values[index]
    position = value.head[side]
    dead = state.nodes[position].mark & DEAD
    unlink_first(state, side, index)
    if not dead:
        state.common[0].evicted += 1
        forget_tuple(state, side, position, ts)
    if state.sides[side].early_rule == BY_OWN_STATE:
        leave_own_state(state, side, index, ts)
    is_last = value.count[side] == 0 and state.sides[side].early_rule == BY_WINDOW
    if is_last and awaits_output(state, side, index):
        last = state.endings[index].last_ts[side]
        punctuate_output(state, index, max(ended_ts(state, side, index), last, ts), EARLY)


@inlined
def evict(state: State, side: int, index: int, ts: int) -> None:
    """Keep a count window to its size after a tuple at `ts` has been accepted; `index` is its value, or NONE."""
    ours = state.sides[side]
    if ours.rows_per_key:
        if index >= 0 and state.values[index].count[side] > ours.rows:
            evict_first(state, side, index, ts)
        return
    while ours.length and state.seq[ours.head] <= ours.accepted - ours.rows:
        if state.nodes[ours.head].value >= 0:
            evict_first(state, side, state.nodes[ours.head].value, ts)
        advance_head(state, side)
