"""The loop of PWJoin: objects of both streams in order, each processed completely before the next (PW-06, PW-22).

For each object the clock moves on, and thereby tuples are invalidated, values end and output punctuations are due
(`clock`, `invalidate`, `endings`, `propagate`). Then a tuple probes the other state and is stored in its own
(`process_tuple`), and a punctuation purges (`punctuations`, `purge`). The loop comes back to the driver when a buffer
is full or a range ending is due, and says why in `stopped_by`.
"""

from punctuated.kernels.admit import breaks_promise, note_last, pass_by, turn_away
from punctuated.kernels.batch import has_room, timer_quota
from punctuated.kernels.clock import move_clock
from punctuated.kernels.clusters import open_value
from punctuated.kernels.endings import end_at_once
from punctuated.kernels.forget import emit_unmatched, ended_ts
from punctuated.kernels.invalidate import evict
from punctuated.kernels.jit import in_place, inlined
from punctuated.kernels.layout import (
    BY_OWN_STATE,
    DEAD,
    DONE,
    EFFECT,
    FIRST_MATCH,
    FOREVER,
    MATCHED,
    NEEDS_ROOM,
    NEEDS_TIMERS,
    NEVER,
    NO_PROBE,
    NO_STORE,
    NONE,
    NULL_KEY,
    OUT,
    Ints,
    Objects,
    State,
)
from punctuated.kernels.order import unpack_object
from punctuated.kernels.probe import consume_matches, find_first, probe_pairs
from punctuated.kernels.propagate import leave_own_state
from punctuated.kernels.punctuations import process_punctuation
from punctuated.kernels.time_list import append_node, has_own_windows
from punctuated.kernels.value_index import add_value, find_value


@inlined
def probe(state: State, side: int, index: int, ts: int, end: int, row: int) -> bool:
    """Meet the stored tuples of the other side as the join type asks for; true if one matched."""
    if state.values[index].count[1 - side] == 0:
        return False
    if state.common[0].match_mode != FIRST_MATCH:
        return probe_pairs(state, side, index, ts, end, row)
    if side == 0:  # the left tuple of a semi or anti join needs one match, a right one settles all that wait for it
        return find_first(state, side, index, ts, end, row)
    return consume_matches(state, side, index, ts, end, row)


@inlined
def store(state: State, side: int, index: int, ts: int, end: int, row: int, matched: bool) -> None:
    """Store a tuple that has been joined, unless it is proved that no later tuple can match it."""
    ours, other, common = state.sides[side], state.sides[1 - side], state.common[0]
    window_end = (end if has_own_windows(state) else ts) + ours.forget_after
    expired = other.watermark > window_end
    value_over = other.end_ts != FOREVER
    if common.forgets_by_punctuation:
        value_over = value_over or state.values[index].flags & (EFFECT << (1 - side)) != 0
    # Joins in stages: tuples of the other side on disk are still to be met.
    value_over = value_over and common.on_disk & (1 << (1 - side)) == 0
    is_done = matched and side == 0 and common.match_mode == FIRST_MATCH
    if value_over and not is_done:
        common.discarded += 1
    if value_over or expired or (is_done and not ours.rows):
        # Not stored: an unmatched tuple of a preserved side comes out at the time of the earlier proof.
        if ours.preserved and (common.filtered or not matched):
            proof = other.end_ts
            if value_over and common.forgets_by_punctuation:
                proof = ended_ts(state, 1 - side, index)
            emit_unmatched(state, side, row, max(ts, min(proof, window_end) if expired else proof))
        return
    position = append_node(state, side, index, ts, row)
    if has_own_windows(state):
        state.ends[position] = end
        ours.soonest = min(ours.soonest, window_end)
    if matched and common.marks_matches:
        state.nodes[position].mark |= MATCHED
    if is_done:  # it only holds its place in a count window
        state.nodes[position].mark |= DEAD
        ours.live -= 1


@inlined
def process_tuple(state: State, side: int, ts: int, end: int, code: int, status: int, row: int, known: int) -> None:
    """Probe with a tuple, store it, and keep its window to its size (PW-22 … PW-24).

    `known` is the I-Node of its value, or NONE; `end` is the end of its own window, if it has one.
    """
    ours = state.sides[side]

    # admit
    ours.tuples += 1
    index = known
    if known < 0 and status & NULL_KEY == 0:
        index = add_value(state, code)
    if breaks_promise(state, side, index, ts, status) and turn_away(state, side, index, ts, row):
        return
    ours.accepted += 1
    if index >= 0 and ours.tracks_last:
        note_last(state, side, index, ts, end)

    if index < 0 or state.values[index].flags & OUT:
        pass_by(state, side, index, ts, row)
    else:
        # probe
        matched = status & NO_PROBE == 0 and probe(state, side, index, ts, end, row)
        # store
        if status & NO_STORE == 0:
            store(state, side, index, ts, end, row, matched)
        if (
            matched
            and side == 1  # a right tuple may have consumed the last left one of the value
            and state.common[0].match_mode == FIRST_MATCH
            and state.sides[0].early_rule == BY_OWN_STATE
        ):
            leave_own_state(state, 0, index, ts)

    # evict, then end what the stream's constraints end
    if ours.rows:
        evict(state, side, index, ts)
    if ours.unique and index >= 0:
        end_at_once(state, side, index, ts)
    if ours.clustered and index >= 0:
        open_value(state, side, index)


@in_place
def process_batch(order: Ints, start: int, stop: int, left: Objects, right: Objects, state: State) -> int:
    """Process the objects [start, stop); returns how far it has come, with the reason in `stopped_by`."""
    common = state.common[0]
    common.stopped_by = DONE
    # As far as timers have room for certain; beyond that each object is looked at before it is processed.
    certain = min(stop, start + max(0, timer_quota(state))) if common.punctuated else stop
    for at in range(start, certain):
        i, is_punctuation, of = unpack_object(order[at])
        side = of & 1  # one of two, as the compiler knows now: then `1 - side` is never negative
        index, matches, end = NONE, 0, NEVER
        if is_punctuation:
            ts = left.punctuation_ts[i] if side == 0 else right.punctuation_ts[i]
            code = left.punctuation_code[i] if side == 0 else right.punctuation_code[i]
            kind = left.punctuation_kind[i] if side == 0 else right.punctuation_kind[i]
        else:
            ts = left.ts[i] if side == 0 else right.ts[i]
            code = left.code[i] if side == 0 else right.code[i]
            kind = left.status[i] if side == 0 else right.status[i]
            if has_own_windows(state):
                end = left.end[i] if side == 0 else right.end[i]
            if kind & NULL_KEY == 0:
                index = find_value(state, code)
                matches = state.values[index].count[1 - side] if index >= 0 else 0
        common.seq = common.first_seq + at + 1
        if not has_room(state, matches):
            common.stopped_by = NEEDS_ROOM
            return at
        # invalidate
        if not move_clock(state, ts):
            return at
        # purge, or probe and store
        if is_punctuation:
            process_punctuation(state, side, ts, code, kind)
        else:
            process_tuple(state, side, ts, end, code, kind, state.sides[side].base_row + i, index)
        if common.stopped_by != DONE:
            return at
    if certain < stop:
        common.stopped_by = NEEDS_TIMERS
    return certain
