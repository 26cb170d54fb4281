"""From disk to memory: values get their I-Nodes again, and tuples their places in the order of arrival."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from punctuated.join.overflow.cold.portion import ColdTuples, Portion
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.rows import RowStore
from punctuated.join.state.saved import Ints
from punctuated.kernels import layout as lay
from punctuated.kernels.cold import find_or_add_values, weave_in

NodeCodes = Callable[[int, pa.Table], Ints]


def bring_back(state: JoinState, rows: Sequence[RowStore], node_codes: NodeCodes, portion: Portion) -> lay.Indices:
    """Link values again; returns their I-Nodes."""
    n = portion.addresses.size
    codes = np.empty(n, np.int64)
    for side, tuples in enumerate(portion.tuples):
        if len(tuples):
            codes[tuples.owner] = node_codes(side, tuples.rows)
    state.make_room_for_values(n)
    state.make_room_for_nodes([len(each) for each in portion.tuples])
    indices = np.empty(n, np.int32)
    last_ts, last_ends = np.ascontiguousarray(portion.last_ts), np.ascontiguousarray(portion.last_ends)
    find_or_add_values(state.arrays, codes, last_ts, last_ends, indices)
    for side, tuples in enumerate(portion.tuples):
        if len(tuples):
            _weave_in(state, rows[side], side, tuples, indices)
            state.relocated[side] -= len(tuples)
    return indices


def _weave_in(state: JoinState, rows: RowStore, side: int, tuples: ColdTuples, indices: lay.Indices) -> None:
    first, order = rows.bring_back(tuples.rows, tuples.ids), np.argsort(tuples.ids)
    nodes = np.zeros(order.size, lay.NODE)
    nodes["ts"], nodes["value"], nodes["mark"] = tuples.ts[order], indices[tuples.owner[order]], tuples.marks[order]
    nodes["row"], nodes["next"] = first + order, lay.NONE
    ids, ends = tuples.ids[order], tuples.ends[order]
    ring_ids = _ring_ids(state, rows, side)
    n_older = int(np.searchsorted(ring_ids, ids[-1]))
    taken = np.empty(n_older, lay.NODE)
    taken_ids, taken_ends = np.empty(n_older, np.int64), np.empty(n_older, np.int64)
    weave_in(state.arrays, side, nodes, ids, ends, ring_ids, taken, taken_ids, taken_ends)
    if state.arrays.ends.size:
        ours = state.sides[side]
        ours["soonest"] = min(int(ours["soonest"]), int(ends.min()) + int(ours["forget_after"]))


def _ring_ids(state: JoinState, rows: RowStore, side: int) -> Ints:
    """The ring's tuples in the order of arrival; what is no tuple any more goes with the one before it."""
    nodes = state.arrays.nodes[state.positions(side)]
    ids = np.full(nodes.size, -1, np.int64)
    lives = (nodes["value"] >= 0) & (nodes["mark"] & lay.DEAD == 0)
    ids[lives] = rows.ids(np.ascontiguousarray(nodes["row"][lives]))
    return np.maximum.accumulate(ids) if ids.size else ids
