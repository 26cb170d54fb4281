"""From memory to disk: which values go, and how they are taken out of the linked arrays.

An I-Node that remembers what streams have said of its value stays, and its tuples go alone: how many of those there are
is bounded by `max_punctuations`. All others go wholly. A value that waits in the purge queue or for the end of a
cluster keeps its tuples in memory.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.join.overflow.cold.homes import Homes, Returning
from punctuated.join.overflow.cold.portion import ColdTuples, Portion
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.multiway_arrays import MultiwayState
from punctuated.join.state.rows import RowStore
from punctuated.join.state.saved import Ints
from punctuated.kernels import layout as lay
from punctuated.kernels.cold import unlink_values, weigh_values
from punctuated.kernels.packed import unpack
from punctuated.kernels.restore import find_values

Mask = npt.NDArray[np.bool_]


class Unlinked(NamedTuple):
    """Tuples of one side that are in no list any more, value by value."""

    owner: Ints  # the place of the value among those that go
    rows: npt.NDArray[np.int32]
    ts: Ints
    ends: Ints
    marks: Ints


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


def take_out(
    state: JoinState, rows: Sequence[RowStore], values: Ints, addresses: Ints, watched: Mask, homes: Homes
) -> tuple[Portion, Mask, Returning]:
    """Values without their places in the arrays, and which of them are watched; nothing else may know their rows.

    What goes back to where it came from is told apart from what is to be written.
    """
    arrays, nothing = state.arrays, np.empty((values.size, 0), np.int64)
    last_ts = arrays.endings["last_ts"][values] if arrays.endings.size else nothing
    last_ends = arrays.last_ends[values] if arrays.last_ends.size else nothing
    unlinked = [_unlink(state, side, values) for side in range(state.n_streams)]
    came_back = [store.came_back(each.rows) for store, each in zip(rows, unlinked, strict=True)]
    go, returning = homes.returning(state, values, watched, unlinked, came_back)
    fresh = [~(go[each.owner] & is_back) for each, is_back in zip(unlinked, came_back, strict=True)]
    tuples = [_tuples(store, each, which) for store, each, which in zip(rows, unlinked, fresh, strict=True)]
    if arrays.endings.size:  # who knows nothing else need not stay for it
        alone = values[arrays.values["flags"][values] == 0]
        arrays.endings["last_ts"][alone] = lay.NEVER
    whole = Portion(addresses, last_ts, last_ends, tuple(tuples))
    if not go.any():
        return whole, watched, returning
    written = np.flatnonzero(sum(np.bincount(each.owner, minlength=values.size) for each in tuples))
    return whole.of_values(written), watched[written], returning


def _unlink(state: JoinState, side: int, values: Ints) -> Unlinked:
    arrays = state.arrays
    most = int(arrays.values["count"][values, side].sum())
    owner, positions = np.empty(most, np.int64), np.empty(most, np.int64)
    n = unlink_values(arrays, side, values, owner, positions)
    owner, positions = owner[:n], positions[:n]
    nodes = arrays.nodes[positions]
    state.sides["live"][side] -= n
    state.relocated[side] += n
    ts = np.ascontiguousarray(nodes["ts"])
    ends = arrays.ends[positions] if arrays.ends.size else ts
    return Unlinked(owner, np.ascontiguousarray(nodes["row"]), ts, ends, nodes["mark"].astype(np.int64))


def _tuples(rows: RowStore, unlinked: Unlinked, which: Mask) -> ColdTuples:
    """Those of them that are to be written, with their rows."""
    if not which.all():
        own = unlinked.ends is not unlinked.ts
        ts = unlinked.ts[which]
        ends = unlinked.ends[which] if own else ts
        unlinked = Unlinked(unlinked.owner[which], unlinked.rows[which], ts, ends, unlinked.marks[which])
    table = rows.take(unlinked.rows, rows.schema.names).combine_chunks()
    return ColdTuples(table, unlinked.owner, rows.ids(unlinked.rows), unlinked.ts, unlinked.ends, unlinked.marks)
