"""Spilling of values: their tuples leave the linked arrays for disk, and come back into them in the order of arrival.

What has happened to a value meanwhile is made up for when it is loaded.
"""

from typing import Any

from punctuated.kernels.by_state import n_streams, purge_finished
from punctuated.kernels.jit import in_place, inlined, subroutine
from punctuated.kernels.layout import DEAD, NEVER, NONE, OUT, AnyState, Indices, Ints, Records
from punctuated.kernels.punctuations import end_stream_for_value
from punctuated.kernels.time_list import advance_head, has_own_windows, unlink_first
from punctuated.kernels.value_index import find_or_add


@in_place
def weigh_values(state: AnyState, n_tuples: Ints, newest: Ints) -> None:
    """Write how many tuples each value has, and the time of its last one."""
    for index in range(n_tuples.size):
        value: Any = state.values[index]
        n_tuples[index], newest[index] = 0, NEVER
        for side in range(n_streams(state)):
            if value.count[side]:
                n_tuples[index] += value.count[side]
                newest[index] = max(newest[index], state.nodes[value.tail[side]].ts)


@in_place
def find_or_add_values(state: AnyState, codes: Ints, last_ts: Ints, last_ends: Ints, indices: Indices) -> None:
    """The I-Nodes of these codes, made if need be, with the times of their last tuples. There must be room.

    An I-Node that stayed in memory knows those times itself: the later one is right.
    """
    for i in range(codes.size):
        indices[i] = index = find_or_add(state, codes[i])
        if state.endings.size and state.values[index].flags & OUT == 0:
            ending = state.endings[index]
            for side in range(n_streams(state)):
                if last_ts[i, side] == NEVER:
                    continue
                if state.last_ends.size:
                    known = state.last_ends[index, side] if ending.last_ts[side] != NEVER else NEVER
                    state.last_ends[index, side] = max(known, last_ends[i, side])
                ending.last_ts[side] = max(ending.last_ts[side], last_ts[i, side])


@in_place
def unlink_values(state: AnyState, side: int, values: Ints, owner: Ints, positions: Ints) -> int:
    """Take all tuples of a side out of these values; their nodes become shells.

    Writes the positions of the living ones, value by value, and for each the index of its value; returns how many.
    """
    n = 0
    for i in range(values.size):
        value: Any = state.values[values[i]]
        position = value.head[side]
        for _ in range(value.count[side]):
            node: Any = state.nodes[position]
            if node.mark & DEAD == 0:
                owner[n], positions[n] = i, position
                n += 1
            node.value = NONE
            position = node.next
        value.head[side] = value.tail[side] = NONE
        value.count[side] = 0
    return n


@inlined
def push_front(state: AnyState, side: int, node: Any, end: int) -> None:
    """Put a node in front, as the oldest one of its ring and of its value list."""
    ours = state.sides[side]
    ours.head = (ours.ring_stop if ours.head == ours.ring_start else ours.head) - 1
    ours.length += 1
    state.nodes[ours.head] = node
    if has_own_windows(state):
        state.ends[ours.head] = end
    value: Any = state.values[node.value]
    if value.count[side] == 0:
        value.tail[side] = ours.head
        state.nodes[ours.head].next = NONE
    else:
        state.nodes[ours.head].next = value.head[side]
    value.head[side] = ours.head
    value.count[side] += 1


@subroutine
def take_oldest(state: AnyState, side: int, ids: Ints, newest: int, taken: Records, taken_ids: Ints, ends: Ints) -> int:
    """Take out the ring's nodes that came before `newest`; returns how many of them are kept in `taken`."""
    ours, n, at = state.sides[side], 0, 0
    while ours.length and ids[at] < newest:
        node = state.nodes[ours.head]
        if node.value >= 0:
            if node.mark & DEAD == 0 or ours.rows:
                taken[n] = node
                taken_ids[n] = ids[at]
                if has_own_windows(state):
                    ends[n] = state.ends[ours.head]
                n += 1
            unlink_first(state, side, node.value)
        advance_head(state, side)
        at += 1
    return n


@in_place
def weave_in(
    state: AnyState, side: int, nodes: Records, ids: Ints, ends: Ints, ring_ids: Ints, taken: Records, taken_ids: Ints,
    taken_ends: Ints,
) -> None:  # fmt: skip
    """Put nodes into a side's ring by the order of arrival, in which they and the ring's `ring_ids` ascend.

    Only the ring's nodes that are older than the newest of them move: they are taken out, which is
    right since a ring's oldest node is the oldest of its value list, and put in front again. `taken` is scratch.
    """
    older = take_oldest(state, side, ring_ids, ids[ids.size - 1], taken, taken_ids, taken_ends) - 1
    fresh = ids.size - 1
    while older >= 0 or fresh >= 0:
        if older < 0 or (fresh >= 0 and ids[fresh] > taken_ids[older]):
            push_front(state, side, nodes[fresh], ends[fresh])
            state.sides[side].live += 1
            fresh -= 1
        else:
            push_front(state, side, taken[older], taken_ends[older])
            older -= 1


@in_place
def end_stream_for_values(state: AnyState, side: int, indices: Indices, ts: int, watermark: int) -> None:
    """Make up for the end of a side that came while these values were on disk, with its watermark of then."""
    ours = state.sides[side]
    now = ours.watermark
    ours.watermark = watermark
    for index in indices:
        end_stream_for_value(state, side, index, ts)
        if state.values[index].flags & OUT:  # its I-Node was in memory, and was finished before its tuples came
            purge_finished(state, index)
    ours.watermark = now
