"""Values move between the arrays of the state and detached tables: `attach` links them, `detach` unlinks them.

An I-Node that remembers what streams have said of its value stays in memory, and its tuples go without it;
`max_punctuations` bounds how many of those there are. All other I-Nodes go, too. The tuples of a value that waits in
the purge queue, or for the end of a cluster, stay in memory.

Invariant: rings are in the order of arrival, before and after. Kernels rely on it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels import layout as lay
from punctuated.kernels.order import unpack
from punctuated.kernels.rebuild import find_values
from punctuated.kernels.spilled import find_or_add_values, unlink_values, weave_in, weigh_values
from punctuated.snapshot.parts import Ints
from punctuated.spill.clean_values import CleanValues, ReturningValues
from punctuated.spill.detached import DetachedTuples, DetachedValues
from punctuated.state.arrays import JoinState
from punctuated.state.multiway import MultiwayState
from punctuated.state.rows import RowStore

NodeCodes = Callable[[int, pa.Table], Ints]
Mask = npt.NDArray[np.bool_]


# Into memory


def attach(state: JoinState, rows: Sequence[RowStore], node_codes: NodeCodes, values: DetachedValues) -> lay.Indices:
    """Give values their I-Nodes and tuples their places in the order of arrival; returns the I-Nodes."""
    n = values.addresses.size
    codes = np.empty(n, np.int64)
    for side, tuples in enumerate(values.tuples):
        if len(tuples):
            codes[tuples.owner] = node_codes(side, tuples.rows)
    state.make_room_for_values(n)
    state.make_room_for_nodes([len(each) for each in values.tuples])
    indices = np.empty(n, np.int32)
    last_ts, last_ends = np.ascontiguousarray(values.last_ts), np.ascontiguousarray(values.last_ends)
    find_or_add_values(state.arrays, codes, last_ts, last_ends, indices)
    for side, tuples in enumerate(values.tuples):
        if len(tuples):
            _weave_in(state, rows[side], side, tuples, indices)
            state.spilled[side] -= len(tuples)
    return indices


def _weave_in(state: JoinState, rows: RowStore, side: int, tuples: DetachedTuples, indices: lay.Indices) -> None:
    first, order = rows.add_loaded(tuples.rows, tuples.ids), np.argsort(tuples.ids)
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
    """The arrival number of each node of a ring; one that is no tuple any more has that of the tuple before it."""
    nodes = state.arrays.nodes[state.positions(side)]
    ids = np.full(nodes.size, -1, np.int64)
    lives = (nodes["value"] >= 0) & (nodes["mark"] & lay.DEAD == 0)
    ids[lives] = rows.ids(np.ascontiguousarray(nodes["row"][lives]))
    return np.maximum.accumulate(ids) if ids.size else ids


# Out of memory


def least_recent_values(state: JoinState, surplus: int, recent: Ints) -> Ints:
    """The I-Nodes of values that go to disk, so that `surplus` tuples go with them.

    The values whose last tuples are oldest go first, those that objects have touched (codes `recent`) after all others.
    """
    arrays, n = state.arrays, state.n_values
    n_tuples, newest = np.empty(n, np.int64), np.empty(n, np.int64)
    weigh_values(arrays, n_tuples, newest)
    candidates = np.flatnonzero(_may_go(state) & (n_tuples > 0))
    is_recent = np.zeros(n, np.bool_)
    found = find_values(arrays, recent)
    is_recent[found[found >= 0]] = True
    order = candidates[np.lexsort((newest[candidates], is_recent[candidates]))]
    return np.asarray(order[: np.searchsorted(np.cumsum(n_tuples[order]), surplus) + 1])


def _may_go(state: JoinState) -> Mask:
    arrays, n = state.arrays, state.n_values
    may = arrays.values["flags"][:n] & (lay.OPEN_ANY | lay.OUT) == 0
    queued, _ = unpack(arrays.queue[: int(state.common["n_queued"][0])])
    may[queued] = False
    for side in np.flatnonzero(state.sides["rows"]).tolist():  # a count window also counts tuples that are not stored
        nodes = arrays.nodes[state.positions(side)]
        may[nodes["value"][(nodes["value"] >= 0) & (nodes["mark"] & lay.DEAD != 0)]] = False
    return np.asarray(may)


def is_eager(state: JoinState, values: Ints) -> Mask:
    """Whether the output shows that tuples of a value leave their windows, so that they must be loaded for it.

    Counters do not matter here.
    """
    arrays = state.arrays
    eager = arrays.values["flags"][values] != 0
    for side in np.flatnonzero(state.sides["preserved"]).tolist():
        eager |= arrays.values["count"][values, side] > 0
    if isinstance(state, MultiwayState):
        eager |= bool((state.sides["end_ts"] != lay.FOREVER).any())
    return np.asarray(eager)


def outlasts_its_tuples(values: DetachedValues, tracking: Sequence[int]) -> Mask:
    """Whether a value's last tuple came after all that are stored of it, on a side whose last tuples matter."""
    outlasts = np.zeros(values.addresses.size, np.bool_)
    for side in tracking:
        latest, tuples = np.full(outlasts.size, lay.NEVER), values.tuples[side]
        np.maximum.at(latest, tuples.owner, tuples.ends)
        outlasts |= values.last_end(side) > latest
    return outlasts


class Unlinked(NamedTuple):
    """Tuples of one side that are in no list any more, value by value."""

    owner: Ints  # the index of each tuple's value among those that go
    rows: npt.NDArray[np.int32]
    ts: Ints
    ends: Ints
    marks: Ints


def detach(
    state: JoinState, rows: Sequence[RowStore], values: Ints, addresses: Ints, eager: Mask, clean: CleanValues
) -> tuple[DetachedValues, Mask, ReturningValues]:
    """Unlink the tuples of values; nothing but their nodes may know their rows.

    Returns what is to be written, which of that is eager, and what returns to its position unwritten.
    """
    arrays, nothing = state.arrays, np.empty((values.size, 0), np.int64)
    last_ts = arrays.endings["last_ts"][values] if arrays.endings.size else nothing
    last_ends = arrays.last_ends[values] if arrays.last_ends.size else nothing
    unlinked = [_unlink(state, side, values) for side in range(state.n_streams)]
    is_loaded = [store.is_loaded(each.rows) for store, each in zip(rows, unlinked, strict=True)]
    may_return, returning = clean.returning(state, values, eager, unlinked, is_loaded)
    written = [~(may_return[each.owner] & ours) for each, ours in zip(unlinked, is_loaded, strict=True)]
    tuples = [_tuples(store, each, which) for store, each, which in zip(rows, unlinked, written, strict=True)]
    if arrays.endings.size:  # an I-Node that knows nothing else need not stay for the times of its last tuples
        knows_nothing = values[arrays.values["flags"][values] == 0]
        arrays.endings["last_ts"][knows_nothing] = lay.NEVER
    detached = DetachedValues(addresses, last_ts, last_ends, tuple(tuples))
    if not may_return.any():
        return detached, eager, returning
    with_tuples = np.flatnonzero(sum(np.bincount(each.owner, minlength=values.size) for each in tuples))
    return detached.drop_empty(with_tuples), eager[with_tuples], returning


def _unlink(state: JoinState, side: int, values: Ints) -> Unlinked:
    arrays = state.arrays
    most = int(arrays.values["count"][values, side].sum())
    owner, positions = np.empty(most, np.int64), np.empty(most, np.int64)
    n = unlink_values(arrays, side, values, owner, positions)
    owner, positions = owner[:n], positions[:n]
    nodes = arrays.nodes[positions]
    state.sides["live"][side] -= n
    state.spilled[side] += n
    ts = np.ascontiguousarray(nodes["ts"])
    ends = arrays.ends[positions] if arrays.ends.size else ts
    return Unlinked(owner, np.ascontiguousarray(nodes["row"]), ts, ends, nodes["mark"].astype(np.int64))


def _tuples(rows: RowStore, unlinked: Unlinked, which: Mask) -> DetachedTuples:
    """The tuples that `which` keeps, with their rows."""
    if not which.all():
        own = unlinked.ends is not unlinked.ts
        ts = unlinked.ts[which]
        ends = unlinked.ends[which] if own else ts
        unlinked = Unlinked(unlinked.owner[which], unlinked.rows[which], ts, ends, unlinked.marks[which])
    table = rows.take(unlinked.rows, rows.schema.names).combine_chunks()
    return DetachedTuples(table, unlinked.owner, rows.ids(unlinked.rows), unlinked.ts, unlinked.ends, unlinked.marks)
