"""How far time may go while some objects are processed: what falls due until then must be in memory before."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels import layout as lay
from punctuated.kernels.order import unpack
from punctuated.kernels.rebuild import find_values
from punctuated.kernels.spilled import find_or_add_values, unlink_values, weave_in, weigh_values
from punctuated.snapshot.parts import NO_INTS, Ints
from punctuated.spill.index import Homes, Returning
from punctuated.spill.portion import ColdTuples, Portion
from punctuated.state.arrays import JoinState
from punctuated.state.multiway import MultiwayState
from punctuated.state.rows import RowStore

NodeCodes = Callable[[int, pa.Table], Ints]
Mask = npt.NDArray[np.bool_]


def watermarks_at(state: JoinState, moment: int, floors: Sequence[int]) -> list[int]:
    """The watermarks when the clock of the batch is at a moment; `floors` are what the streams say of themselves."""
    reached = []
    for ours, floor in zip(state.sides, floors, strict=True):
        newest = max(int(ours["newest"]), min(moment, int(ours["batch_newest"])))
        reached.append(max(int(ours["watermark"]), newest - int(ours["lateness"]), int(ours["floor"]), floor))
    return reached


def first_ends(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    """Per side: windows that end before this may have made a tuple leave.

    Of more streams one that has come beyond a tuple suffices, if others have ended its value; those that are over
    altogether have said so.
    """
    if isinstance(state, MultiwayState):
        return [max(limits, default=lay.NEVER) for limits in _beyond(state, watermarks)]
    return _by_other(state, watermarks)


def last_ends(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    """Per side: windows that end before this are over."""
    if isinstance(state, MultiwayState):
        return [min(limits, default=lay.NEVER) for limits in _beyond(state, watermarks)]
    return _by_other(state, watermarks)


def due_timers(state: JoinState, watermarks: Sequence[int]) -> Ints:
    """The I-Nodes of endings that may take effect, and of ended values that may be over in the output."""
    due = [NO_INTS]
    watched = watermarks if isinstance(state, MultiwayState) else watermarks[::-1]
    for side in range(state.n_streams):
        for name, until in (("pending", watermarks[side] + 1), ("deadlines", watched[side])):
            timers = getattr(state.arrays, name)[side][: int(state.sides[f"n_{name}"][side])]
            due.append(timers["value"][timers["time"] < until])
    return np.concatenate(due)


def _by_other(state: JoinState, watermarks: Sequence[int]) -> list[int]:
    after = state.sides["forget_after"].tolist()
    return [_less(watermarks[1 - side], after[side]) for side in range(2)]


def _beyond(state: MultiwayState, watermarks: Sequence[int]) -> list[list[int]]:
    far, running = state.many.max_gaps.tolist(), (state.sides["end_ts"] == lay.FOREVER).tolist()
    others = [[o for o in range(state.n_streams) if o != side and running[o]] for side in range(state.n_streams)]
    return [[_less(watermarks[o], far[side][o]) for o in others[side]] for side in range(state.n_streams)]


def _less(watermark: int, after: int) -> int:
    return lay.NEVER if after == lay.UNBOUNDED else watermark - after


# From disk to memory: values get their I-Nodes again, and tuples their places in the order of arrival.


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


# From memory to disk: which values go, and how they are taken out of the linked arrays.
#
# An I-Node that remembers what streams have said of its value stays, and its tuples go alone: how many of those there
# are is bounded by `max_punctuations`. All others go wholly. A value that waits in the purge queue or for the end of
# a cluster keeps its tuples in memory.


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
