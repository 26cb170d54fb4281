"""The state copied into larger or tighter arrays: growth, compaction, and linked arrays from a journal.

A copy keeps every linked node in its order, and every value that a node, a timer or the output still needs.
"""

import numpy as np

from punctuated.kernels.by_state import leaving_watermark, n_streams
from punctuated.kernels.jit import in_place, kernel, subroutine
from punctuated.kernels.layout import (
    ARCHIVED,
    DEAD,
    EFFECT_ANY,
    ENDED_ANY,
    NEVER,
    NONE,
    OPEN_ANY,
    OUT,
    OUT_RECALLED,
    RECALLED,
    UNBOUNDED,
    AnyState,
    Bytes,
    Indices,
    Ints,
    Records,
)
from punctuated.kernels.order import unpack
from punctuated.kernels.sequences import copy_row
from punctuated.kernels.time_list import append_node, last_expiry, next_position
from punctuated.kernels.value_index import enter_value, find_or_add, find_value


@subroutine
def copy_ring(state: AnyState, side: int, nodes: Records, seq: Ints, ends: Ints, start: int) -> None:
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
def copy_rings(state: AnyState, nodes: Records, seq: Ints, ends: Ints, edges: Ints) -> None:
    """Copy all rings into one array; those of a side lie from its edge to the next one."""
    for side in range(n_streams(state)):
        copy_ring(state, side, nodes, seq, ends, edges[side])
        ours = state.sides[side]
        ours.ring_start, ours.ring_stop = edges[side], edges[side + 1]


@subroutine
def last_needed(state: AnyState, side: int, index: int) -> bool:
    """Whether a later early propagation may need the time of a value's last tuple."""
    ours = state.sides[side]
    if not ours.tracks_last or ours.rows or state.endings[index].last_ts[side] == NEVER:
        return False
    gone = last_expiry(state, side, index)
    return bool(ours.forget_after == UNBOUNDED or min(ours.watermark - 1, leaving_watermark(state, side)) <= gone)


@subroutine
def is_needed(state: AnyState, index: int) -> bool:
    """Whether a value has tuples, or something to remember."""
    value = state.values[index]
    if value.flags & OPEN_ANY:
        return True
    for side in range(n_streams(state)):
        if value.count[side]:
            return True
    if value.flags & OUT:
        return bool(value.flags & (ARCHIVED | OUT_RECALLED) == 0)
    if value.flags & ENDED_ANY & ~(value.flags // RECALLED):
        return True
    for side in range(n_streams(state) if state.common[0].punctuated else 0):
        if last_needed(state, side, index):
            return True
    return False


@kernel
def mark_needed(state: AnyState) -> Bytes:
    """Mark the values that must be kept: those needed by themselves, and those that a timer points to."""
    needed = np.zeros(state.common[0].n_values, np.uint8)
    for index in range(needed.size):
        needed[index] = is_needed(state, index)
    for side in range(n_streams(state)):
        ours = state.sides[side]
        for i in range(ours.n_pending):
            needed[state.pending[side, i].value] = 1
        for i in range(ours.n_clusters):
            needed[state.clusters[side, i].value] = 1
    for entry in state.queue[: state.common[0].n_queued]:
        needed[unpack(entry)[0]] = 1
    return needed


@kernel
def copy_values(
    state: AnyState, needed: Bytes, values: Records, endings: Records, last_ends: Ints, slots: Indices
) -> Indices:
    """Move the needed values to the front of these arrays and index them in empty slots; returns where they went.

    The arrays are others than those of the state, or the same.
    """
    moved = np.full(needed.size, NONE, np.int32)
    n = 0
    for index in range(needed.size):
        if needed[index]:
            values[n] = state.values[index]
            if endings.size:
                endings[n] = state.endings[index]
            if last_ends.size:
                copy_row(state.last_ends, index, last_ends, n)
            enter_value(state.common, slots, values[n].code, n)
            moved[index] = n
            n += 1
    state.common[0].n_values = n
    return moved


@in_place
def follow_move(state: AnyState, side: int, moved: Indices) -> None:
    """Point a side's nodes and timers to where their values went; deadlines that no value needs go."""
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
        if index >= 0 and state.values[index].flags & EFFECT_ANY and state.values[index].flags & OUT == 0:
            state.deadlines[side, n] = timer
            state.deadlines[side, n].value = index
            n += 1
    ours.n_deadlines = n


# From a journal back to linked arrays; the caller has seen to the room


@in_place
def restore_values(state: AnyState, remembered: Records) -> None:
    """Make I-Nodes with what is remembered of them (layout.remembered_type)."""
    for each in remembered:
        index = find_or_add(state, each.code)
        value, ending = state.values[index], state.endings[index]
        value.flags = each.flags
        for side in range(n_streams(state)):
            ending.ended_ts[side] = each.ended_ts[side]
            ending.last_ts[side] = each.last_ts[side]
        ending.touched = each.touched


@in_place
def restore_nodes(state: AnyState, side: int, codes: Ints, ts: Ints, rows: Indices, marks: Bytes) -> None:
    """Store T-Nodes in the order of arrival, linked to their values."""
    for i in range(codes.size):
        position = append_node(state, side, find_or_add(state, codes[i]), ts[i], rows[i])
        state.nodes[position].mark = marks[i]
        if marks[i] & DEAD:
            state.sides[side].live -= 1


@kernel
def find_values(state: AnyState, codes: Ints) -> Ints:
    """The I-Node of each code, NONE where there is none."""
    indices = np.empty(codes.size, np.int64)
    for i in range(codes.size):
        indices[i] = find_value(state, codes[i])
    return indices
