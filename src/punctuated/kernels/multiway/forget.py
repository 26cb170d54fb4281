"""Propagation in a join of any number of streams: when a value is over in the output.

Either all streams have ended it, or one has, by name, and no partner of its last tuple can come: every other stream has
ended the value or is beyond that tuple's reach. A deadline waits for one of those that are not; then the others are
looked at. It belongs to the stream it waits for, and its order tells which stream has ended the value.
"""

from punctuated.kernels.by_state import (
    advance,
    deadline_due,
    leaving_watermark,
    propagate,
    purge_finished,
    purge_for_ending,
    purge_for_stream_end,
    settle,
    sweep,
    tidy,
)
from punctuated.kernels.forget import awaits_output, ended_ts, forget_tuple, has_ended
from punctuated.kernels.jit import inlined, part
from punctuated.kernels.layout import (
    BOTH,
    BY_WINDOW,
    DEAD,
    EARLY,
    EFFECT,
    EFFECT_ANY,
    FOREVER,
    NEVER,
    NONE,
    OUT,
    UNBOUNDED,
)
from punctuated.kernels.multiway.layout import MultiState
from punctuated.kernels.order import pack, unpack
from punctuated.kernels.output import punctuate_output
from punctuated.kernels.time_list import advance_head, next_position, unlink_first
from punctuated.kernels.timers import due_at, pop_timer, push_timer


@part
def regular_ts(state: MultiState, index: int) -> int:
    """The latest time at which a stream ended the value, if all have; else FOREVER."""
    latest = NEVER
    for side in range(state.sides.size):
        if not has_ended(state, side, index):
            return FOREVER
        latest = max(latest, ended_ts(state, side, index))
    return int(latest)


@inlined
def set_deadline(state: MultiState, watched: int, time: int, side: int, index: int) -> None:
    """Look at a value that `side` has ended when the watched stream's watermark is beyond `time`."""
    common, ours = state.common[0], state.sides[watched]
    common.timers += 1
    order = pack(common.timers, side)
    ours.n_deadlines = push_timer(state.deadlines[watched], ours.n_deadlines, time, order, index)
    common.due = min(common.due, due_at(state, watched, time + 1))


@deadline_due.of(MultiState)
@inlined
def due_by_watched(state: MultiState, side: int, time: int) -> int:
    """When the stream's own watermark is beyond the time."""
    return due_at(state, side, time + 1)


@inlined
def progress(state: MultiState, side: int) -> int:
    """How far a stream is; its watermark may be behind where the stream ends just now."""
    return int(max(state.sides[side].watermark, state.sides[side].floor))


@part
def early_ts(state: MultiState, side: int, index: int, just_ended: bool, waits: bool) -> int:
    """Since when no partner of the last tuple can come of a value that `side` has ended; FOREVER if one can.

    Then it waits for a stream that can bring one. A value may have several deadlines: where a stream ends it that a
    deadline waits for, another is set.
    """
    ts, last = ended_ts(state, side, index), state.endings[index].last_ts[side]
    if last == NEVER:
        return ts
    proved, long_ago = NEVER, just_ended
    for other in range(state.sides.size):
        if other == side:
            continue
        end = last + state.far[side, other]
        is_beyond, is_over = progress(state, other) > end, has_ended(state, other, index)
        if not is_beyond and not is_over:
            if waits and state.far[side, other] != UNBOUNDED:
                set_deadline(state, other, end, side, index)
            return FOREVER
        by_other = ended_ts(state, other, index) if is_over else FOREVER
        proved = max(proved, min(by_other, end + 1) if is_beyond else by_other)
        long_ago = long_ago and is_beyond and progress(state, side) > end + 1
    return int(ts if long_ago else max(ts, proved))


@part
def propagate_early(state: MultiState, index: int, ended_by: int, met: int) -> None:
    """Say that a value is over if any stream that has ended it proves that; the first proof counts.

    `ended_by` has just ended it, or a deadline of `met` has passed; the other one is NONE.
    """
    first = FOREVER
    for side in range(state.sides.size):
        if state.sides[side].alone == BY_WINDOW and awaits_output(state, side, index):
            first = min(first, early_ts(state, side, index, side == ended_by, met in (side, NONE)))
    if first != FOREVER:
        punctuate_output(state, index, first, EARLY)


@propagate.of(MultiState)
@part
def propagate_of_many(state: MultiState, side: int, index: int) -> None:
    """An ending by `side` may have been the last word, or the last that an earlier one has waited for."""
    if not state.common[0].propagates or state.values[index].flags & OUT:
        return
    latest = regular_ts(state, index)
    if latest != FOREVER:
        punctuate_output(state, index, latest, BOTH)
    else:
        propagate_early(state, index, side, NONE)


@part
def meet_deadlines(state: MultiState, watched: int) -> None:
    """Look at the ended values that have waited for this stream."""
    ours, heap = state.sides[watched], state.deadlines[watched]
    while ours.n_deadlines and heap[0].time < ours.watermark:
        ours.n_deadlines = pop_timer(heap, ours.n_deadlines)
        timer = heap[ours.n_deadlines]
        index, side = timer.value, unpack(timer.order)[1]
        if awaits_output(state, side, index):
            propagate_early(state, index, NONE, side)


# Forgetting in a join of any number of streams: a tuple goes once no result to come can hold it.
#
# It is *complete* when every other stream has ended its value or is beyond its reach. A value has *no partner* when a
# stream has ended it and has no tuple of it left: then all its tuples go. Where one stream has ended a value and
# another is beyond reach, that is not said by the order of the ring: such tuples go when their value is looked at,
# which is when a tuple or an ending of it comes, and at the end of a batch.


@leaving_watermark.of(MultiState)
@inlined
def least_progress(state: MultiState, side: int) -> int:
    """How far all others are beyond the reach of the side's tuples, as if it were the farthest for all of them."""
    least = FOREVER
    for other in range(state.sides.size):
        if other != side:
            least = min(least, state.sides[other].watermark - state.far[side, other])
    return int(least + state.sides[side].forget_after)


@inlined
def over_by_name(state: MultiState, index: int) -> int:
    """The streams, a bit each, that have ended this value with effect, if the algorithm listens."""
    return int((state.values[index].flags & EFFECT_ANY) // EFFECT if state.common[0].forgets_by_punctuation else 0)


@inlined
def over_streams(state: MultiState) -> int:
    """The streams that have ended."""
    over = 0
    for side in range(state.sides.size):
        if state.sides[side].end_ts != FOREVER:
            over |= 1 << side
    return over


@inlined
def is_complete(state: MultiState, side: int, ts: int, over: int) -> bool:
    """Whether no other stream can bring a partner of this tuple, where those in `over` are over with its value."""
    for other in range(state.sides.size):
        is_over = over >> other & 1 or state.sides[other].watermark > ts + state.far[side, other]
        if other != side and not is_over:
            return False
    return True


@inlined
def leave(state: MultiState, side: int, position: int, by_window: bool) -> None:
    """A tuple goes, and is counted by what made it go."""
    forget_tuple(state, side, position, NEVER)
    if by_window:
        state.common[0].invalidated += 1
    else:
        state.common[0].purged += 1


@part
def drop_complete(state: MultiState, side: int, index: int, over: int, by_window: bool) -> None:
    """Forget a side's complete tuples of a value: the oldest ones, and others where they came out of order."""
    value = state.values[index]
    while value.count[side]:
        node = state.nodes[value.head[side]]
        if node.mark & DEAD == 0:
            if not is_complete(state, side, node.ts, over):
                break
            leave(state, side, value.head[side], by_window)
        unlink_first(state, side, index)
    if state.sides[side].lateness:
        position = value.head[side]
        for _ in range(value.count[side]):
            node = state.nodes[position]
            if node.mark & DEAD == 0 and is_complete(state, side, node.ts, over):
                node.mark |= DEAD
                leave(state, side, position, by_window)
            position = node.next


@part
def purge_all(state: MultiState, index: int, by_window: bool) -> None:
    """Forget all tuples of a value; the rings keep shells."""
    value = state.values[index]
    for side in range(state.sides.size):
        while value.count[side]:
            position = value.head[side]
            if state.nodes[position].mark & DEAD == 0:
                leave(state, side, position, by_window)
            unlink_first(state, side, index)


@part
def settle_value(state: MultiState, index: int, over: int, by_window: bool) -> None:
    """Forget what is complete, and everything if some stream is over with the value and has nothing left of it."""
    for side in range(state.sides.size):
        drop_complete(state, side, index, over, by_window)
    for side in range(state.sides.size):
        if over >> side & 1 and state.values[index].count[side] == 0:
            purge_all(state, index, by_window)
            return


@inlined
def some_end(state: MultiState) -> bool:
    """Whether anything may have been ended but by windows."""
    over = state.common[0].punctuated != 0
    for side in range(state.sides.size):
        over = over or state.sides[side].end_ts != FOREVER
    return bool(over and state.walk[0].cleans_every == 0)


@part
def clean(state: MultiState) -> None:
    """Let go of everything that is out of reach, now and then (WJ-33)."""
    walk = state.walk[0]
    walk.since_cleaned += 1
    if walk.since_cleaned == walk.cleans_every:
        walk.since_cleaned = 0
        for side in range(state.sides.size):
            invalidate(state, side)


@settle.of(MultiState)
@inlined
def settle_if_ended(state: MultiState, index: int) -> None:
    """Only where some stream has ended the value can tuples be over before all windows say so."""
    over = over_by_name(state, index) | over_streams(state)
    if over and state.walk[0].cleans_every == 0:
        settle_value(state, index, over, True)


@purge_for_ending.of(MultiState)
@part
def purge_partners(state: MultiState, side: int, index: int) -> None:
    """What was over before goes by its windows, what this ending makes needless by the ending."""
    if state.common[0].forgets_by_punctuation:
        over, streams = over_by_name(state, index), over_streams(state)
        settle_value(state, index, (over | streams) & ~(1 << side), True)
        settle_value(state, index, over | streams, False)


@purge_for_stream_end.of(MultiState)
@part
def purge_partners_for_end(state: MultiState, side: int, index: int, ts: int) -> None:
    """The same, by every algorithm."""
    over, streams = over_by_name(state, index), over_streams(state)
    settle_value(state, index, over | streams & ~(1 << side), True)
    settle_value(state, index, over | streams, False)


@purge_finished.of(MultiState)
@inlined
def purge_everywhere(state: MultiState, index: int) -> None:
    """Whatever is left of the value goes."""
    settle_value(state, index, over_by_name(state, index) | over_streams(state), True)
    purge_all(state, index, False)


@inlined
def is_over_without(state: MultiState, side: int, index: int) -> bool:
    """Whether the side has ended a value and has no tuple of it left."""
    over = over_by_name(state, index) | over_streams(state)
    return bool(state.values[index].count[side] == 0 and over >> side & 1)


@inlined
def invalidate(state: MultiState, side: int) -> None:
    """Drop the side's oldest tuples as far as all others are beyond their reach; skip shells."""
    ours = state.sides[side]
    leaving = least_progress(state, side) - ours.forget_after
    while ours.length:
        position = ours.head
        node = state.nodes[position]
        index = node.value
        if index >= 0:
            if node.ts >= leaving and node.mark & DEAD == 0:
                return
            if node.mark & DEAD == 0:
                leave(state, side, position, True)
            unlink_first(state, side, index)
            if is_over_without(state, side, index):
                purge_all(state, index, True)
        advance_head(state, side)


@advance.of(MultiState)
@inlined
def advance_past_others(state: MultiState, side: int) -> None:
    """The side's watermark moves on: others' tuples get out of its reach, and with the last of them ended values."""
    ours = state.sides[side]
    watermark = max(ours.newest - ours.lateness, ours.floor)
    if watermark <= ours.watermark:
        return
    ours.watermark = watermark
    for other in range(state.sides.size if state.walk[0].cleans_every == 0 else 0):
        if other != side:
            invalidate(state, other)
    if ours.n_deadlines and state.deadlines[side][0].time < watermark:
        meet_deadlines(state, side)


@inlined
def most_progress(state: MultiState, side: int) -> int:
    """Tuples of the side that are not before this are within reach of all others."""
    most = NEVER
    for other in range(state.sides.size):
        if other != side:
            most = max(most, state.sides[other].watermark - state.far[side, other])
    return int(most)


@sweep.of(MultiState)
@part
def sweep_complete(state: MultiState, side: int) -> None:
    """Look at the values of all tuples that some stream is beyond: an ending of the others may have made them complete.

    A tuple stored after one with time t has at least t - lateness: what is further behind need not be looked at.
    """
    ours, beyond, streams = state.sides[side], most_progress(state, side), over_streams(state)
    position = ours.head
    for _ in range(ours.length):
        node = state.nodes[position]
        if node.ts - ours.lateness >= beyond:
            return
        if node.value >= 0 and node.mark & DEAD == 0:
            over = over_by_name(state, node.value) | streams
            if is_complete(state, side, node.ts, over):
                settle_value(state, node.value, over, True)
        position = next_position(state, side, position)


@tidy.of(MultiState)
@part
def tidy_up(state: MultiState) -> None:
    """Without endings and disorder the rings have let go of everything already."""
    if state.walk[0].cleans_every:
        return
    for side in range(state.sides.size):
        if state.sides[side].lateness or some_end(state):
            sweep_complete(state, side)
