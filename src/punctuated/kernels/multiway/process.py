"""The loop of a join of any number of streams: objects in order, each processed wholly before the next (WJ-11, WJ-13).

Every result holds the tuple at hand and stored ones, so none comes twice. Where the buffer of results is full, the
loop is interrupted amid a tuple, and goes on with it when it is called again.
"""

from punctuated.kernels.admit import breaks_promise, note_last, pass_by, turn_away
from punctuated.kernels.batch import has_room, timer_quota
from punctuated.kernels.clock import move_clock
from punctuated.kernels.clusters import open_value
from punctuated.kernels.endings import end_at_once
from punctuated.kernels.jit import in_place, inlined, subroutine
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
from punctuated.kernels.multiway.forget import (
    clean,
    is_complete,
    over_by_name,
    over_streams,
    settle_of_many,
    tidy_of_many,
)
from punctuated.kernels.multiway.layout import UNJOINED, MultiState
from punctuated.kernels.multiway.walk import begin_alternative, go_on, may_complete, order_sides
from punctuated.kernels.order import unpack_object
from punctuated.kernels.punctuations import process_punctuation
from punctuated.kernels.time_list import append_node
from punctuated.kernels.value_index import add_value, find_value


@inlined
def store(state: MultiState, side: int, index: int, ts: int, row: int) -> None:
    """Store a tuple that has been joined, unless no later result can hold it."""
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
    """End or open the value of a tuple that is done, as the constraints of its stream say."""
    if state.sides[side].unique:
        end_at_once(state, side, index, ts)
    if state.sides[side].clustered:
        open_value(state, side, index)


@subroutine
def finish_tuple(state: MultiState, side: int, index: int, ts: int, row: int) -> None:
    """Store a tuple whose results are all written, and end its value if its stream is declared so."""
    if state.values[index].flags & OUT == 0:
        store(state, side, index, ts, row)
        if state.walk[0].cleans_every:
            clean(state)
    keep_constraints(state, side, index, ts)


@inlined
def is_accepted(state: MultiState, side: int, index: int, ts: int, status: int, row: int) -> bool:
    """Whether a tuple takes part: it breaks no promise of its stream, or the stream's policy accepts it."""
    ours = state.sides[side]
    ours.tuples += 1
    if breaks_promise(state, side, index, ts, status) and turn_away(state, side, index, ts, row):
        return False
    ours.accepted += 1
    if index >= 0 and ours.tracks_last:
        note_last(state, side, index, ts, NEVER)
    return True


@subroutine
def pass_on(state: MultiState, side: int, index: int, ts: int, status: int, row: int) -> None:
    """Write a tuple of a union to the output; its result has no members of the other streams."""
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


@subroutine
def admit(state: MultiState, side: int, index: int, ts: int, status: int, row: int) -> bool:
    """Whether a tuple takes part; a walk through its results is begun if there may be any."""
    if not is_accepted(state, side, index, ts, status, row):
        return False
    if index < 0:
        pass_by(state, side, index, ts, row)
        return False
    state.walk[0].level, state.walk[0].alternative = -1, state.periods.shape[0] - 1
    if state.values[index].flags & OUT:
        pass_by(state, side, index, ts, row)
    else:
        settle_of_many(state, index)
        if may_complete(state, side, index):
            order_sides(state, side, index)
            begin_alternative(state, side, index, ts, 0)
    return True


@inlined
def process_tuple(state: MultiState, side: int, ts: int, code: int, status: int, row: int, known: int) -> None:
    """Write the results that a tuple completes, then store it; called again after an interruption."""
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
    """Process the objects [start, stop); returns how far it has come, with the reason in `stopped_by`.

    `objects` are those of all streams one after the other; `starts` says where those of each stream begin, its tuples
    in the first row and its punctuations in the second.
    """
    common = state.common[0]
    common.stopped_by = DONE
    certain = min(stop, start + max(0, timer_quota(state))) if common.punctuated else stop
    if state.walk[0].is_under_way:  # room for it was found when it began
        certain = max(certain, start + 1)
    for at in range(start, certain):
        number, is_punctuation, side = unpack_object(order[at])
        i, index = starts[is_punctuation, side] + number, NONE
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
            row = state.sides[side].base_row + number
            process_tuple(state, side, ts, objects.code[i], objects.status[i], row, index)
        if common.stopped_by != DONE:
            return at
    if certain < stop:
        common.stopped_by = NEEDS_TIMERS
    return certain


@in_place
def tidy_now(state: MultiState) -> None:
    """Forget what is complete amid a batch, before more room is taken."""
    tidy_of_many(state)
