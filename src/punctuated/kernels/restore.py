"""From what a journal holds back to linked arrays. The caller has seen to the room."""

import numpy as np

from punctuated.kernels._jit import in_place, kernel
from punctuated.kernels.hash_index import find_or_add, find_value
from punctuated.kernels.layout import DEAD, Bytes, Indices, Ints, Records, State
from punctuated.kernels.time_list import append_node


@in_place
def restore_values(state: State, remembered: Records) -> None:
    """I-Nodes with what is remembered of them (layout.REMEMBERED)."""
    for each in remembered:
        index = find_or_add(state, each.code)
        value, ending = state.values[index], state.endings[index]
        value.flags, value.open = each.flags, each.open
        for side in range(2):
            ending.ended_ts[side] = each.ended_ts[side]
            ending.last_ts[side] = each.last_ts[side]
        ending.touched = each.touched


@in_place
def restore_nodes(state: State, side: int, codes: Ints, ts: Ints, rows: Indices, marks: Bytes) -> None:
    """T-Nodes in the order of arrival, linked to their values."""
    for i in range(codes.size):
        position = append_node(state, side, find_or_add(state, codes[i]), ts[i], rows[i])
        state.nodes[position].mark = marks[i]
        if marks[i] & DEAD:
            state.sides[side].live -= 1


@kernel
def find_values(state: State, codes: Ints) -> Ints:
    """The I-Node of each code, NONE where there is none."""
    indices = np.empty(codes.size, np.int64)
    for i in range(codes.size):
        indices[i] = find_value(state, codes[i])
    return indices
