"""From what a journal holds back to linked arrays. The caller has seen to the room."""

import numpy as np

from punctuated.kernels._jit import in_place, kernel
from punctuated.kernels.by_state import n_streams
from punctuated.kernels.hash_index import find_or_add, find_value
from punctuated.kernels.layout import DEAD, AnyState, Bytes, Indices, Ints, Records
from punctuated.kernels.time_list import append_node


@in_place
def restore_values(state: AnyState, remembered: Records) -> None:
    """I-Nodes with what is remembered of them (layout.remembered_type)."""
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
    """T-Nodes in the order of arrival, linked to their values."""
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
