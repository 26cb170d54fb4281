"""From memory to disk: which values go, and how they are taken out of the linked arrays.

An I-Node that remembers what streams have said of its value stays, and its tuples go alone: how many of those there are
is bounded by `max_punctuations`. All others go wholly. A value that waits in the purge queue or for the end of a
cluster keeps its tuples in memory.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from punctuated.join.overflow.cold.portion import ColdTuples, Portion
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.multiway_arrays import MultiwayState
from punctuated.join.state.rows import RowStore
from punctuated.join.state.saved import Ints
from punctuated.kernels import layout as lay
from punctuated.kernels.cold import weigh_values
from punctuated.kernels.packed import unpack
from punctuated.kernels.restore import find_values

Mask = npt.NDArray[np.bool_]


def coldest_values(state: JoinState, surplus: int, recent: Ints) -> Ints:
    """The I-Nodes of the values to be put away, so that `surplus` tuples go with them.

    Those with the oldest last tuples first, but for values that objects have touched recently, by their codes.
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
    for side in np.flatnonzero(state.sides["rows"]).tolist():  # a tuple that is not stored may still have its place
        nodes = arrays.nodes[state.positions(side)]
        may[nodes["value"][(nodes["value"] >= 0) & (nodes["mark"] & lay.DEAD != 0)]] = False
    return np.asarray(may)


def is_watched(state: JoinState, values: Ints) -> Mask:
    """Whether it is seen outside when tuples of a value leave their windows, but for counters."""
    arrays = state.arrays
    watched = arrays.values["flags"][values] != 0
    for side in np.flatnonzero(state.sides["preserved"]).tolist():
        watched |= arrays.values["count"][values, side] > 0
    if isinstance(state, MultiwayState):
        watched |= bool((state.sides["end_ts"] != lay.FOREVER).any())
    return np.asarray(watched)


def take_out(state: JoinState, rows: Sequence[RowStore], values: Ints, addresses: Ints) -> Portion:
    """Values without their places in the arrays; nothing else may know the numbers of their rows."""
    arrays, nothing = state.arrays, np.empty((values.size, 0), np.int64)
    last_ts = arrays.endings["last_ts"][values] if arrays.endings.size else nothing
    last_ends = arrays.last_ends[values] if arrays.last_ends.size else nothing
    owner = np.full(state.n_values, -1, np.int64)
    owner[values] = np.arange(values.size)
    tuples = tuple(_take_tuples(state, rows[side], side, values, owner) for side in range(state.n_streams))
    if arrays.endings.size:  # who knows nothing else need not stay for it
        alone = values[arrays.values["flags"][values] == 0]
        arrays.endings["last_ts"][alone] = lay.NEVER
    return Portion(addresses, last_ts, last_ends, tuples)


def _take_tuples(state: JoinState, rows: RowStore, side: int, values: Ints, owner: Ints) -> ColdTuples:
    arrays = state.arrays
    positions = state.positions(side)
    nodes = arrays.nodes[positions]
    ours = (nodes["value"] >= 0) & (owner[nodes["value"]] >= 0)
    positions, nodes = positions[ours], nodes[ours]
    arrays.nodes["value"][positions] = lay.NONE
    for name, nothing in (("count", 0), ("head", lay.NONE), ("tail", lay.NONE)):
        arrays.values[name][values, side] = nothing
    living = nodes["mark"] & lay.DEAD == 0
    positions, nodes = positions[living], nodes[living]
    order = np.argsort(owner[nodes["value"]], kind="stable")
    positions, nodes = positions[order], nodes[order]
    state.sides["live"][side] -= nodes.size
    state.relocated[side] += nodes.size
    numbers = np.ascontiguousarray(nodes["row"])
    ts = np.ascontiguousarray(nodes["ts"])
    ends = arrays.ends[positions] if arrays.ends.size else ts
    table = rows.take(numbers, rows.schema.names).combine_chunks()
    return ColdTuples(table, owner[nodes["value"]], rows.ids(numbers), ts, ends, nodes["mark"].astype(np.int64))
