"""Copying the state into larger or tighter arrays: growth, compaction, and forgetting of values that nothing needs."""

import numpy as np

from punctuated.kernels._jit import in_place, kernel, part
from punctuated.kernels.hash_index import place_value
from punctuated.kernels.layout import (
    ARCHIVED,
    DEAD,
    EFFECT,
    ENDED_ANY,
    NEVER,
    NONE,
    OUT,
    OUT_RECALLED,
    RECALLED,
    UNBOUNDED,
    Bytes,
    Indices,
    Ints,
    Records,
    State,
)
from punctuated.kernels.propagate import last_expiry
from punctuated.kernels.time_list import next_position


@part
def copy_ring(state: State, side: int, nodes: Records, seq: Ints, ends: Ints, start: int) -> None:
    """Copy the linked nodes, in order, to `start` and the following slots, and link their value lists anew."""
    ours = state.sides[side]
    for index in range(state.common[0].n_values):
        state.values[index].count[side] = 0
    fresh, position = start, ours.head
    for _ in range(ours.length):
        node = state.nodes[position]
        if node.value >= 0 and (node.mark & DEAD == 0 or ours.rows):
            nodes[fresh] = node
            nodes[fresh].next = NONE
            if seq.size:
                seq[fresh] = state.seq[position]
            if ends.size:
                ends[fresh] = state.ends[position]
            value = state.values[node.value]
            if value.count[side] == 0:
                value.head[side] = fresh
            else:
                nodes[value.tail[side]].next = fresh
            value.tail[side] = fresh
            value.count[side] += 1
            fresh += 1
        position = next_position(state, side, position)
    ours.head, ours.length = start, fresh - start


@in_place
def copy_rings(state: State, nodes: Records, seq: Ints, ends: Ints, left_capacity: int) -> None:
    """Copy both rings into one array, the left one first."""
    left, right = state.sides[0], state.sides[1]
    copy_ring(state, 0, nodes, seq, ends, 0)
    copy_ring(state, 1, nodes, seq, ends, left_capacity)
    left.ring_start, left.ring_stop = 0, left_capacity
    right.ring_start, right.ring_stop = left_capacity, nodes.size


@part
def last_needed(state: State, side: int, index: int) -> bool:
    """Whether the time of a value's last tuple still matters for an early propagation to come."""
    ours, other = state.sides[side], state.sides[1 - side]
    if not ours.tracks_last or ours.rows or state.endings[index].last_ts[side] == NEVER:
        return False
    gone = last_expiry(state, side, index)
    return bool(ours.forget_after == UNBOUNDED or min(ours.watermark - 1, other.watermark) <= gone)


@part
def is_needed(state: State, index: int) -> bool:
    """Whether a value has tuples, or something to remember."""
    value = state.values[index]
    if value.count[0] or value.count[1] or value.open:
        return True
    if value.flags & OUT:
        return bool(value.flags & (ARCHIVED | OUT_RECALLED) == 0)
    if value.flags & ENDED_ANY & ~(value.flags // RECALLED):
        return True
    return bool(state.common[0].punctuated) and (last_needed(state, 0, index) or last_needed(state, 1, index))


@kernel
def mark_needed(state: State) -> Bytes:
    """Which values must be kept: those needed by themselves, and those that something points to."""
    needed = np.zeros(state.common[0].n_values, np.uint8)
    for index in range(needed.size):
        needed[index] = is_needed(state, index)
    for side in range(2):
        ours = state.sides[side]
        for i in range(ours.n_pending):
            needed[state.pending[side, i].value] = 1
        for i in range(ours.n_clusters):
            needed[state.clusters[side, i].value] = 1
    for entry in state.queue[: state.common[0].n_queued]:
        needed[entry >> 1] = 1
    return needed


@kernel
def copy_values(
    state: State, needed: Bytes, values: Records, endings: Records, last_ends: Ints, slots: Indices
) -> Indices:
    """Copy the needed values to the front of another array and index them; returns where each one went."""
    moved = np.full(needed.size, NONE, np.int32)
    slots[:] = NONE
    n = 0
    for index in range(needed.size):
        if needed[index]:
            values[n] = state.values[index]
            if endings.size:
                endings[n] = state.endings[index]
            if last_ends.size:
                last_ends[n] = state.last_ends[index]
            place_value(state.common, slots, values[n].code, n)
            moved[index] = n
            n += 1
    state.common[0].n_values = n
    return moved


@in_place
def follow_move(state: State, side: int, moved: Indices) -> None:
    """Point a side's nodes and timers to where their values went; deadlines of settled values go."""
    ours = state.sides[side]
    position = ours.head
    for _ in range(ours.length):
        node = state.nodes[position]
        if node.value >= 0:
            node.value = moved[node.value]
        position = next_position(state, side, position)
    for i in range(ours.n_pending):
        state.pending[side, i].value = moved[state.pending[side, i].value]
    for i in range(ours.n_clusters):
        state.clusters[side, i].value = moved[state.clusters[side, i].value]
    n = 0
    for i in range(ours.n_deadlines):
        timer = state.deadlines[side, i]
        index = moved[timer.value]
        if index >= 0 and state.values[index].flags & (EFFECT << side) and state.values[index].flags & OUT == 0:
            state.deadlines[side, n] = timer
            state.deadlines[side, n].value = index
            n += 1
    ours.n_deadlines = n
