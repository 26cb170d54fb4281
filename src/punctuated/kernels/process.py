"""The loop of PWJoin: objects of both streams in order, each processed wholly before the next (PW-06, PW-22).

It comes back to the driver when a buffer is full or a range ending is due.
"""

from punctuated.kernels._jit import in_place, inlined, part
from punctuated.kernels.clock import move_clock, reach, run_clock
from punctuated.kernels.clusters import open_value
from punctuated.kernels.endings import (
    end_at_once,
    end_pending,
    end_value,
)
from punctuated.kernels.hash_index import add_value, find_or_add, find_value
from punctuated.kernels.invalidate import advance, evict, sweep
from punctuated.kernels.layout import (
    ACCEPT,
    AFTER_OUTPUT,
    ANNOUNCE_VALUE,
    BROKE_PROMISE,
    BROKEN,
    BY_OWN_STATE,
    DEAD,
    DONE,
    EFFECT,
    END_RANGE,
    END_STREAM,
    ENDED,
    FAIL,
    FIRST_MATCH,
    FOREVER,
    MATCHED,
    MET_RANGE,
    NEEDS_ROOM,
    NEEDS_TIMERS,
    NEVER,
    NO_PROBE,
    NO_STORE,
    NONE,
    NULL_KEY,
    OPEN,
    OUT,
    PROMISE,
    RANGE_DUE,
    SET_FLOOR,
    Indices,
    Objects,
    State,
)
from punctuated.kernels.probe import consume_matches, find_first, probe_pairs
from punctuated.kernels.propagate import awaits_output, leave_own_state, propagate
from punctuated.kernels.purge import emit_unmatched, ended_ts, purge_value
from punctuated.kernels.time_list import append_node, has_own_windows


@part
def reject(state: State, side: int, row: int, reason: int) -> None:
    """A tuple goes to `rejected`."""
    common = state.common[0]
    entry = state.rejected[common.n_rejected]
    entry.row, entry.side, entry.reason = row, side, reason
    common.n_rejected += 1
    common.rejected += 1


@inlined
def breaks_promise(state: State, side: int, index: int, ts: int, status: int) -> bool:
    """Whether a tuple comes although its own stream has said that it would not."""
    if ts < state.sides[side].floor or status & BROKEN:
        return True
    if index < 0:
        return False
    flags = state.values[index].flags
    if flags & (EFFECT << side):
        return True
    return bool(flags & (ENDED << side) and ts > state.endings[index].ended_ts[side])


@part
def turn_away(state: State, side: int, index: int, ts: int, row: int) -> bool:
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
def meet(state: State, side: int, index: int, ts: int, end: int, row: int) -> bool:
    """Probe as the join type asks for; true if the tuple matched."""
    if state.values[index].count[1 - side] == 0:
        return False
    if state.common[0].match_mode != FIRST_MATCH:
        return probe_pairs(state, side, index, ts, end, row)
    if side == 0:
        return find_first(state, side, index, ts, end, row)
    return consume_matches(state, side, index, ts, end, row)


@inlined
def store(state: State, side: int, index: int, ts: int, end: int, row: int, matched: bool) -> None:
    """Keep a tuple that has been joined, unless it is proved that nothing to come can match it."""
    ours, other, common = state.sides[side], state.sides[1 - side], state.common[0]
    last = (end if has_own_windows(state) else ts) + ours.forget_after
    expired = other.watermark > last
    value_over = other.end_ts != FOREVER
    if common.forgets_by_punctuation:
        value_over = value_over or state.values[index].flags & (EFFECT << (1 - side)) != 0
    settled = matched and side == 0 and common.match_mode == FIRST_MATCH
    if value_over and not settled:
        common.discarded += 1
    if value_over or expired or (settled and not ours.rows):
        if ours.preserved and (common.filtered or not matched):
            proof = other.end_ts
            if value_over and common.forgets_by_punctuation:
                proof = ended_ts(state, 1 - side, index)
            emit_unmatched(state, side, row, max(ts, min(proof, last) if expired else proof))
        return
    position = append_node(state, side, index, ts, row)
    if has_own_windows(state):
        state.ends[position] = end
        ours.soonest = min(ours.soonest, last)
    if matched and common.marks_matches:
        state.nodes[position].mark |= MATCHED
    if settled:
        state.nodes[position].mark |= DEAD
        ours.live -= 1


@inlined
def note_last(state: State, side: int, index: int, ts: int, end: int) -> None:
    """Remember the time of a value's last tuple, and when the last of their windows ends."""
    ending = state.endings[index]
    if has_own_windows(state):
        known = state.last_ends[index, side] if ending.last_ts[side] != NEVER else end
        state.last_ends[index, side] = max(known, end)
    ending.last_ts[side] = max(ending.last_ts[side], ts)


@part
def pass_by(state: State, side: int, index: int, ts: int, row: int) -> None:
    """A tuple that can match nothing: its key is null, or its value is over in the output."""
    if index < 0:
        state.common[0].null_keys += 1
    else:
        state.common[0].dropped += 1
    if state.sides[side].preserved:
        emit_unmatched(state, side, row, ts)


@inlined
def process_tuple(state: State, side: int, ts: int, end: int, code: int, status: int, row: int, known: int) -> None:
    """Invalidate, probe, store (PW-22 … PW-24). `known` is the value's I-Node, if there is one.

    `end` is that of the tuple's own window, if it has one.
    """
    ours = state.sides[side]
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
        matched = status & NO_PROBE == 0 and meet(state, side, index, ts, end, row)
        if status & NO_STORE == 0:
            store(state, side, index, ts, end, row, matched)
        if matched and side == 1 and state.common[0].match_mode == FIRST_MATCH and state.sides[0].alone == BY_OWN_STATE:
            leave_own_state(state, 0, index, ts)
    if ours.rows:
        evict(state, side, index, ts)
    if ours.unique and index >= 0:
        end_at_once(state, side, index, ts)
    if ours.clustered and index >= 0:
        open_value(state, side, index)


@part
def end_stream(state: State, side: int, ts: int) -> None:
    """`<*, …>`: no tuple of this side comes any more, so nothing of the other need be kept, by any algorithm."""
    ours, heap = state.sides[side], state.pending[side]
    if ours.end_ts != FOREVER:
        return
    ours.floor, ours.end_ts = FOREVER, ts
    state.common[0].due = NEVER
    for i in range(ours.n_pending):
        if not end_pending(state, side, heap[i].value, ts):
            heap[i].value = NONE
    for index in range(state.common[0].n_values):
        proof = ended_ts(state, side, index) if state.common[0].forgets_by_punctuation else ts
        purge_value(state, 1 - side, index, proof)
        state.values[index].open &= ~(OPEN << side)
        if awaits_output(state, 1 - side, index):
            propagate(state, 1 - side, index)
    advance(state, side)
    for i in range(ours.n_pending):
        if heap[i].value >= 0:
            propagate(state, side, heap[i].value)
    ours.n_pending = ours.n_clusters = 0


@part
def process_punctuation(state: State, side: int, ts: int, code: int, kind: int) -> None:
    """A punctuation names one value, ends the stream, or moves its time on (PW-25)."""
    ours = state.sides[side]
    ours.punctuations += 1
    if kind <= ANNOUNCE_VALUE:
        end_value(state, side, find_or_add(state, code), ts, kind == ANNOUNCE_VALUE)
    elif kind == SET_FLOOR:
        ours.floor = max(ours.floor, code)
        state.common[0].due = NEVER
        advance(state, side)
    elif kind == END_STREAM:
        end_stream(state, side, ts)
    elif kind == END_RANGE:
        state.common[0].stopped_by = MET_RANGE


@part
def timer_quota(state: State) -> int:
    """How many objects the buffers for punctuations can take for certain.

    An object ends at most one value or opens it, and brings at most one; an open value may be ended, an ended one get
    a deadline; a value is finished at most once, and changed after that at most once per object.
    """
    common, a, b = state.common[0], state.sides[0], state.sides[1]
    to_end = max(a.n_pending + a.n_clusters, b.n_pending + b.n_clusters)
    quota = min(
        state.punctuations.size - common.n_punctuations - common.n_values,
        (state.done.size - common.n_done - common.n_values) // 2,
        state.pending.shape[1] - to_end - 1,
        state.clusters.shape[1] - max(a.n_clusters, b.n_clusters) - 1,
        (state.deadlines.shape[1] - max(a.n_deadlines, b.n_deadlines) - to_end) // 2 - 1,
    )
    return int(quota)


@inlined
def has_room(state: State, matches: int) -> bool:
    """Whether every other buffer can take what one object may bring, everything leaving at once included."""
    common, a, b = state.common[0], state.sides[0], state.sides[1]
    return bool(
        common.n_pairs + matches <= state.pairs.shape[1]
        and a.length < a.ring_stop - a.ring_start
        and b.length < b.ring_stop - b.ring_start
        and 2 * common.n_values < state.slots.size
        and common.n_values < state.values.size
        and common.n_rejected < state.rejected.size
        and (not common.emits_unmatched or common.n_unmatched + a.live + b.live + 1 < state.unmatched.size)
    )


@in_place
def process_batch(order: Indices, start: int, stop: int, left: Objects, right: Objects, state: State) -> int:
    """Process objects `start` to `stop`; returns where it came to, and why in `stopped_by`.

    `order` holds 4 * position + 2 * is_punctuation + side.
    """
    common = state.common[0]
    common.stopped_by = DONE
    certain = min(stop, start + max(0, timer_quota(state))) if common.punctuated else stop
    for at in range(start, certain):
        side, is_punctuation, i = order[at] & 1, order[at] & 2, order[at] >> 2
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
        if not move_clock(state, ts):
            return at
        if is_punctuation:
            process_punctuation(state, side, ts, code, kind)
        else:
            process_tuple(state, side, ts, end, code, kind, state.sides[side].base_row + i, index)
        if common.stopped_by != DONE:
            return at
    if certain < stop:
        common.stopped_by = NEEDS_TIMERS
    return certain


@in_place
def sweep_ended(state: State) -> None:
    """Forget tuples whose own windows have ended; nothing else depends on when that happens within a batch."""
    for side in range(2):
        if state.sides[side].soonest < state.sides[1 - side].watermark:
            sweep(state, side)


@in_place
def finish_batch(state: State) -> int:
    """End of a batch: the clock runs to its end, and what is expired is gone, whatever the order of arrival."""
    common = state.common[0]
    if not has_room(state, 0) or (common.punctuated and timer_quota(state) < 1):
        return NEEDS_ROOM
    end = max(common.now, state.sides[0].batch_newest, state.sides[1].batch_newest)
    if not run_clock(state, end - 1):
        return RANGE_DUE
    common.now = end
    reach(state, end)
    if not run_clock(state, end):
        return RANGE_DUE
    if has_own_windows(state):
        sweep_ended(state)
    else:
        for side in range(2):
            if state.sides[side].lateness:
                sweep(state, side)
    common.now = NEVER
    return DONE
