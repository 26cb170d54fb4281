"""Forgetting in a join of any number of streams: a tuple goes once no later result can hold it.

It is *complete* when every other stream has ended its value or is beyond its reach. A value has *no partner* when a
stream has ended it and has no tuple of it left: then all its tuples go. Where one stream has ended a value and another
is beyond reach, the order of the ring does not say so: such tuples go when their value is looked at, which is when a
tuple or an ending of it comes, and at the end of a batch.
"""

from punctuated.kernels.by_state import (
    advance,
    leaving_watermark,
    purge_finished,
    purge_for_ending,
    purge_for_stream_end,
    settle,
    sweep,
    tidy,
)
from punctuated.kernels.forget import forget_tuple
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import DEAD, EFFECT, EFFECT_ANY, FOREVER, NEVER
from punctuated.kernels.multiway.layout import MultiState
from punctuated.kernels.multiway.propagate import meet_deadlines
from punctuated.kernels.time_list import advance_head, next_position, unlink_first


@leaving_watermark.of(MultiState)
@inlined
def leaving_watermark_of_many(state: MultiState, side: int) -> int:
    """The least progress of all others beyond a tuple of the side, to be compared with its farthest reach."""
    least = FOREVER
    for other in range(state.sides.size):
        if other != side:
            least = min(least, state.sides[other].watermark - state.max_gaps[side, other])
    return int(least + state.sides[side].forget_after)


@inlined
def over_by_name(state: MultiState, index: int) -> int:
    """The streams, a bit each, that have ended this value with effect; none if the algorithm does not purge by that."""
    return int((state.values[index].flags & EFFECT_ANY) // EFFECT if state.common[0].forgets_by_punctuation else 0)


@inlined
def over_streams(state: MultiState) -> int:
    """The streams, a bit each, that have ended."""
    over = 0
    for side in range(state.sides.size):
        if state.sides[side].end_ts != FOREVER:
            over |= 1 << side
    return over


@inlined
def is_complete(state: MultiState, side: int, ts: int, over: int) -> bool:
    """Whether no other stream can bring a partner of a tuple, where those in `over` bring its value no more."""
    for other in range(state.sides.size):
        is_over = over >> other & 1 or state.sides[other].watermark > ts + state.max_gaps[side, other]
        if other != side and not is_over:
            return False
    return True


@inlined
def leave(state: MultiState, side: int, position: int, by_window: bool) -> None:
    """Forget a tuple, counted by whether its window or a punctuation made it go."""
    forget_tuple(state, side, position, NEVER)
    if by_window:
        state.common[0].invalidated += 1
    else:
        state.common[0].purged += 1


@subroutine
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


@subroutine
def purge_all(state: MultiState, index: int, by_window: bool) -> None:
    """Forget all tuples of a value; the rings keep shells."""
    value = state.values[index]
    for side in range(state.sides.size):
        while value.count[side]:
            position = value.head[side]
            if state.nodes[position].mark & DEAD == 0:
                leave(state, side, position, by_window)
            unlink_first(state, side, index)


@subroutine
def settle_value(state: MultiState, index: int, over: int, by_window: bool) -> None:
    """Forget a value's complete tuples, and all its tuples if a stream brings it no more and has none of it left."""
    for side in range(state.sides.size):
        drop_complete(state, side, index, over, by_window)
    for side in range(state.sides.size):
        if over >> side & 1 and state.values[index].count[side] == 0:
            purge_all(state, index, by_window)
            return


@inlined
def some_end(state: MultiState) -> bool:
    """Whether punctuations or ends of streams may have made tuples complete before their windows did."""
    over = state.common[0].punctuated != 0
    for side in range(state.sides.size):
        over = over or state.sides[side].end_ts != FOREVER
    return bool(over and state.walk[0].cleans_every == 0)


@subroutine
def clean(state: MultiState) -> None:
    """Invalidate everything that is out of reach, once in so many tuples (WJ-33)."""
    walk = state.walk[0]
    walk.since_cleaned += 1
    if walk.since_cleaned == walk.cleans_every:
        walk.since_cleaned = 0
        for side in range(state.sides.size):
            invalidate(state, side)


@settle.of(MultiState)
@inlined
def settle_of_many(state: MultiState, index: int) -> None:
    """Forget complete tuples if some stream has ended the value; else their windows alone decide."""
    over = over_by_name(state, index) | over_streams(state)
    if over and state.walk[0].cleans_every == 0:
        settle_value(state, index, over, True)


@purge_for_ending.of(MultiState)
@subroutine
def purge_for_ending_of_many(state: MultiState, side: int, index: int) -> None:
    """Forget what this ending completes, after what was complete before it, which counts as gone by its window."""
    if state.common[0].forgets_by_punctuation:
        over, streams = over_by_name(state, index), over_streams(state)
        settle_value(state, index, (over | streams) & ~(1 << side), True)
        settle_value(state, index, over | streams, False)


@purge_for_stream_end.of(MultiState)
@subroutine
def purge_for_stream_end_of_many(state: MultiState, side: int, index: int, ts: int) -> None:
    """Forget what the end of the stream completes, whatever the algorithm."""
    over, streams = over_by_name(state, index), over_streams(state)
    settle_value(state, index, over | streams & ~(1 << side), True)
    settle_value(state, index, over | streams, False)


@purge_finished.of(MultiState)
@inlined
def purge_finished_of_many(state: MultiState, index: int) -> None:
    """Forget all tuples of the value."""
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
    leaving = leaving_watermark_of_many(state, side) - ours.forget_after
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
def advance_of_many(state: MultiState, side: int) -> None:
    """Move the side's watermark on: others' tuples get out of its reach, and with the last of them ended values."""
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
    """The time from which on the side's tuples are within reach of all others."""
    most = NEVER
    for other in range(state.sides.size):
        if other != side:
            most = max(most, state.sides[other].watermark - state.max_gaps[side, other])
    return int(most)


@sweep.of(MultiState)
@subroutine
def sweep_of_many(state: MultiState, side: int) -> None:
    """Settle the values of all tuples that some stream is beyond: an ending may have made them complete.

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
@subroutine
def tidy_of_many(state: MultiState) -> None:
    """Sweep every side where endings or disorder may have left complete tuples in its ring."""
    if state.walk[0].cleans_every:
        return
    for side in range(state.sides.size):
        if state.sides[side].lateness or some_end(state):
            sweep_of_many(state, side)
