"""The loop of a join of any number of streams: objects in order, each processed wholly before the next (WJ-11, WJ-13).

Every result holds the tuple at hand and stored ones, so none comes twice.
"""

from punctuated.kernels.admit import breaks_promise, note_last, pass_by, turn_away
from punctuated.kernels.batch import has_room, timer_quota
from punctuated.kernels.clock import move_clock
from punctuated.kernels.clusters import open_value
from punctuated.kernels.endings import end_at_once
from punctuated.kernels.jit import in_place, inlined, part
from punctuated.kernels.layout import (
    DONE,
    NEEDS_ROOM,
    NEEDS_TIMERS,
    NEVER,
    NONE,
    NULL_KEY,
    OUT,
    PAIRS_FULL,
    Ints,
    Objects,
)
from punctuated.kernels.multiway.forget import clean, is_complete, over_by_name, over_streams, settle_if_ended, tidy_up
from punctuated.kernels.multiway.layout import UNJOINED, MultiState
from punctuated.kernels.multiway.walk import begin_way, go_on, may_complete, order_sides
from punctuated.kernels.order import unpack_object
from punctuated.kernels.punctuations import process_punctuation
from punctuated.kernels.time_list import append_node
from punctuated.kernels.value_index import add_value, find_value


@inlined
def store(state: MultiState, side: int, index: int, ts: int, row: int) -> None:
    """Keep a tuple that has been joined, unless no result to come can hold it."""
    over = (over_by_name(state, index) | over_streams(state)) & ~(1 << side)
    needless = is_complete(state, side, ts, over)
    for other in range(state.sides.size):
        needless = needless or bool(over >> other & 1 and state.values[index].count[other] == 0)
    if not needless:
        append_node(state, side, index, ts, row)
    elif over:
        state.common[0].discarded += 1


@inlined
def keep_constraints(state: MultiState, side: int, index: int, ts: int) -> None:
    """A tuple is done: by what its stream has declared, its value may end, or be open from now on."""
    if state.sides[side].unique:
        end_at_once(state, side, index, ts)
    if state.sides[side].clustered:
        open_value(state, side, index)


@part
def finish_tuple(state: MultiState, side: int, index: int, ts: int, row: int) -> None:
    """All its results are out: it is stored, and its stream may say that its value ends."""
    if state.values[index].flags & OUT == 0:
        store(state, side, index, ts, row)
        if state.walk[0].cleans_every:
            clean(state)
    keep_constraints(state, side, index, ts)


@inlined
def is_accepted(state: MultiState, side: int, index: int, ts: int, status: int, row: int) -> bool:
    """Whether a tuple keeps the promises of its stream, or those that it breaks may be broken."""
    ours = state.sides[side]
    ours.tuples += 1
    if breaks_promise(state, side, index, ts, status) and turn_away(state, side, index, ts, row):
        return False
    ours.accepted += 1
    if index >= 0 and ours.tracks_last:
        note_last(state, side, index, ts, NEVER)
    return True


@part
def pass_on(state: MultiState, side: int, index: int, ts: int, status: int, row: int) -> None:
    """A tuple of a union comes out as it came; of the other streams the result has no member."""
    if not is_accepted(state, side, index, ts, status, row):
        return
    common = state.common[0]
    for member in range(state.sides.size):
        state.pairs[member, common.n_pairs] = NONE
    state.pairs[side, common.n_pairs] = row
    common.n_pairs += 1
    common.results += 1
    if status & NULL_KEY:
        common.null_keys += 1
    if index >= 0:
        keep_constraints(state, side, index, ts)


@part
def admit(state: MultiState, side: int, index: int, ts: int, status: int, row: int) -> bool:
    """Whether a tuple takes part; a walk through its results is begun if there may be any."""
    if not is_accepted(state, side, index, ts, status, row):
        return False
    if index < 0:
        pass_by(state, side, index, ts, row)
        return False
    state.walk[0].level, state.walk[0].way = -1, state.periods.shape[0] - 1
    if state.values[index].flags & OUT:
        pass_by(state, side, index, ts, row)
    else:
        settle_if_ended(state, index)
        if may_complete(state, side, index):
            order_sides(state, side, index)
            begin_way(state, side, index, ts, 0)
    return True


@inlined
def process_tuple(state: MultiState, side: int, ts: int, code: int, status: int, row: int, known: int) -> None:
    """Complete, store, end; interrupted where the buffer of results is full, and then called again."""
    walk = state.walk[0]
    if walk.is_under_way:
        index = find_value(state, code)
    else:
        is_unjoined = walk.method == UNJOINED
        needs_value = status & NULL_KEY == 0 and (state.common[0].punctuated or not is_unjoined)
        index = add_value(state, code) if known < 0 and needs_value else known
        if is_unjoined:
            pass_on(state, side, index, ts, status, row)
            return
        if not admit(state, side, index, ts, status, row):
            return
    walk.is_under_way = not go_on(state, side, index, ts, row)
    if walk.is_under_way:
        state.common[0].stopped_by = PAIRS_FULL
    else:
        finish_tuple(state, side, index, ts, row)


@in_place
def process_many(order: Ints, start: int, stop: int, objects: Objects, starts: Ints, state: MultiState) -> int:
    """Process objects `start` to `stop`; returns where it came to, and why in `stopped_by`.

    `objects` are those of all streams one after the other; `starts` says where those of each stream begin, its tuples
    in the first row and its punctuations in the second.
    """
    common = state.common[0]
    common.stopped_by = DONE
    certain = min(stop, start + max(0, timer_quota(state))) if common.punctuated else stop
    if state.walk[0].is_under_way:  # room for it was found when it began
        certain = max(certain, start + 1)
    for at in range(start, certain):
        place, is_punctuation, side = unpack_object(order[at])
        i, index = starts[is_punctuation, side] + place, NONE
        ts = objects.punctuation_ts[i] if is_punctuation else objects.ts[i]
        if not is_punctuation and objects.status[i] & NULL_KEY == 0:
            index = find_value(state, objects.code[i])
        common.seq = common.first_seq + at + 1
        if not state.walk[0].is_under_way:
            if not has_room(state, 1):
                common.stopped_by = NEEDS_ROOM
                return at
            if not move_clock(state, ts):
                return at
        if is_punctuation:
            process_punctuation(state, side, ts, objects.punctuation_code[i], objects.punctuation_kind[i])
        else:
            row = state.sides[side].base_row + place
            process_tuple(state, side, ts, objects.code[i], objects.status[i], row, index)
        if common.stopped_by != DONE:
            return at
    if certain < stop:
        common.stopped_by = NEEDS_TIMERS
    return certain


@in_place
def tidy_now(state: MultiState) -> None:
    """Amid a batch, before more room is taken: let go of what is complete."""
    tidy_up(state)
