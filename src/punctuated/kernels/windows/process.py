"""The loop of asymmetric window joins: each window has a structure that the other stream searches (KN-02, KN-06).

Time, watermarks and the ring of tuples are those of the loop of PWJoin. One I-Node holds all tuples of both sides, so
its value lists are the windows in the order of arrival (KN-20). A tuple leaves its structure when the ring's head has
passed it, before the next tuple is looked at.
"""

from punctuated.kernels.admit import breaks_promise, pass_by, turn_away
from punctuated.kernels.batch import has_room, timer_quota
from punctuated.kernels.clock import move_clock
from punctuated.kernels.invalidate import evict
from punctuated.kernels.jit import in_place, inlined
from punctuated.kernels.layout import (
    DEAD,
    DONE,
    FIRST_MATCH,
    INDEXED,
    MATCHED,
    NEEDS_ROOM,
    NEEDS_TIMERS,
    NEVER,
    NO_PROBE,
    NO_STORE,
    NONE,
    NULL_KEY,
    Indices,
    Ints,
    Objects,
    State,
)
from punctuated.kernels.order import unpack_object
from punctuated.kernels.probe import in_window
from punctuated.kernels.process import store
from punctuated.kernels.punctuations import process_punctuation
from punctuated.kernels.time_list import has_own_windows, next_position
from punctuated.kernels.value_index import add_value, find_value
from punctuated.kernels.windows.structures import NESTED, WindowIndex, collect, insert, lacks_room, remove


@inlined
def follow_ring(state: State, index: WindowIndex, side: int) -> None:
    """Remove from the structure what has left the ring: the oldest tuples of the window (KN-14, KN-20)."""
    ours = index.sides[side]
    while ours.head != state.sides[side].head:
        node = state.nodes[ours.head]
        if node.mark & INDEXED:
            remove(index, side, ours.head)
            node.mark &= ~INDEXED
        ours.head = next_position(state, side, ours.head)


@inlined
def take_match(state: State, side: int, position: int, row: int) -> None:
    """Write a match; a stored left tuple of a semi or anti join needs no other one, and is forgotten."""
    common, node = state.common[0], state.nodes[position]
    state.pairs[side, common.n_pairs] = row
    state.pairs[1 - side, common.n_pairs] = node.row
    common.n_pairs += 1
    common.results += 1
    if common.marks_matches:
        node.mark |= MATCHED
    if common.match_mode == FIRST_MATCH and side == 1:
        node.mark |= MATCHED | DEAD
        state.sides[0].live -= 1


@inlined
def probe_window(
    state: State, index: WindowIndex, found: Indices, side: int, ts: int, end: int, row: int, keys: tuple[int, int, int]
) -> bool:
    """Meet every tuple that the other window's structure finds and that time admits (XD-04); true if there was one.

    Where one match is enough, it is the one that arrived first, whatever the order of the structure.
    """
    common, other = state.common[0], state.sides[1 - side]
    group, low, high = keys
    first_only = common.match_mode == FIRST_MATCH and side == 0
    before, first = common.n_pairs, NONE
    start, stop = other.head, min(other.head + other.length, other.ring_stop)
    wrapped = other.length - (stop - start)
    while True:
        for i in range(collect(index, 1 - side, start, stop, group, low, high, found)):
            position = found[i]
            node = state.nodes[position]
            if node.value >= 0 and node.mark & DEAD == 0 and in_window(state, side, ts, end, position):
                if not first_only:
                    take_match(state, side, position, row)
                elif first < 0 or index.number[position] < index.number[first]:
                    first = position
        if first >= 0:
            take_match(state, side, first, row)
            return True
        if wrapped == 0 or index.sides[1 - side].kind != NESTED:
            return bool(common.n_pairs > before)
        start, stop, wrapped = other.ring_start, other.ring_start + wrapped, 0


@inlined
def enter_window(state: State, index: WindowIndex, side: int, number: int, group: int, low: int, high: int) -> None:
    """Enter the tuple that was stored last into the structure of its window."""
    ours = state.sides[side]
    position = ours.head + ours.length - 1
    if position >= ours.ring_stop:
        position -= ours.ring_stop - ours.ring_start
    index.group[position], index.number[position] = group, number
    index.low[position], index.high[position] = low, high
    if low <= high:  # else it matches nothing
        state.nodes[position].mark |= INDEXED
        insert(index, side, position)


@inlined
def process_pair_tuple(
    state: State,
    index: WindowIndex,
    found: Indices,
    side: int,
    ts: int,
    end: int,
    status: int,
    row: int,
    keys: tuple[int, int, int],
) -> None:
    """Probe the other window with a tuple, enter it into its own, and keep that to its size (KN-02)."""
    ours = state.sides[side]
    ours.tuples += 1
    if breaks_promise(state, side, NONE, ts, status) and turn_away(state, side, NONE, ts, row):
        return
    ours.accepted += 1
    group, low, high = keys
    if status & NULL_KEY:
        pass_by(state, side, NONE, ts, row)
    else:
        value = find_value(state, 0)
        if value < 0:
            value = add_value(state, 0)
        # probe
        matched = False
        if status & NO_PROBE == 0 and low <= high and state.values[value].count[1 - side]:
            matched = probe_window(state, index, found, side, ts, end, row, keys)
        # store
        if status & NO_STORE == 0:
            appended = ours.appended
            store(state, side, value, ts, end, row, matched)
            if ours.appended > appended:
                enter_window(state, index, side, state.common[0].seq, group, low, high)
    if ours.rows:
        evict(state, side, NONE, ts)


@in_place
def process_pairs(
    order: Ints,
    start: int,
    stop: int,
    left: Objects,
    right: Objects,
    state: State,
    index: WindowIndex,
    found: Indices,
) -> int:
    """Process the objects [start, stop); returns how far it has come, with the reason in `stopped_by`.

    A probe may find all tuples of the other side, so `found` has room for them.
    """
    common = state.common[0]
    common.stopped_by = DONE
    certain = min(stop, start + max(0, timer_quota(state))) if common.punctuated else stop
    for at in range(start, certain):
        i, is_punctuation, of = unpack_object(order[at])
        side = of & 1  # one of two, as the compiler knows now: then `1 - side` is never negative
        if is_punctuation:
            ts = left.punctuation_ts[i] if side == 0 else right.punctuation_ts[i]
        else:
            ts = left.ts[i] if side == 0 else right.ts[i]
        common.seq = common.first_seq + at + 1
        if not has_room(state, state.sides[1 - side].length) or lacks_room(index):
            common.stopped_by = NEEDS_ROOM
            return at
        if not move_clock(state, ts):
            return at
        if is_punctuation:
            code = left.punctuation_code[i] if side == 0 else right.punctuation_code[i]
            kind = left.punctuation_kind[i] if side == 0 else right.punctuation_kind[i]
            process_punctuation(state, side, ts, code, kind)
        else:
            for each in range(2):
                follow_ring(state, index, each)
            status = left.status[i] if side == 0 else right.status[i]
            group = left.group[i] if side == 0 else right.group[i]
            low = left.low[i] if side == 0 else right.low[i]
            high = left.high[i] if side == 0 else right.high[i]
            end = NEVER
            if has_own_windows(state):
                end = left.end[i] if side == 0 else right.end[i]
            row = state.sides[side].base_row + i
            process_pair_tuple(state, index, found, side, ts, end, status, row, (group, low, high))
        if common.stopped_by != DONE:
            return at
    if certain < stop:
        common.stopped_by = NEEDS_TIMERS
    return certain
