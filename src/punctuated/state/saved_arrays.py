"""How the arrays of a state and the rows of its tuples are saved, and linked again.

Values of which more is known than their stored tuples say, and timers that are numbered in the order of setting, are
records; stored tuples are a log; clocks, totals and queues, which are small, are written anew. The pointers between
arrays are not saved: a value is named by its code, and everything is linked anew.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import Bundle
from punctuated.intake.prepare import window_ends
from punctuated.kernels import layout as lay
from punctuated.kernels.order import pack, unpack
from punctuated.kernels.rebuild import find_values, mark_needed, restore_nodes, restore_values
from punctuated.model.spec import JoinSpec
from punctuated.model.times import to_microseconds
from punctuated.snapshot.parts import Content, Ints, Loaded, LoadedRowLog, RowLog
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore

_SIDE_KEPT = ("newest", "floor", "watermark", "end_ts", "settled", "accepted", *lay.SIDE_TOTALS)
_COMMON_KEPT = ("seq", "first_seq", "timers", *lay.TOTALS)
_ORDERED = ("pending", "deadlines")  # timers that are numbered in the order of setting; clusters are not
_TIMER = np.dtype([("order", "i8"), ("time", "i8"), ("value", "i8")])

_NO_VALUES = np.empty(0, np.bool_)

Mask = npt.NDArray[np.bool_]
NodeCodes = Callable[[int, pa.Table], Ints]  # the codes of the values that hold such tuples


class SavedArrays:
    """The state's arrays and the rows of its tuples, as a part that saves itself."""

    def __init__(self, spec: JoinSpec, state: JoinState, rows: tuple[RowStore, ...], node_codes: NodeCodes) -> None:
        self._spec, self._state, self._rows, self._node_codes = spec, state, rows, node_codes

    def save(self) -> Content:
        """What the arrays hold, without pointers."""
        state = self._state
        needed = mark_needed(state.arrays) != 0 if state.punctuated else _NO_VALUES  # others wait to be collected
        records = {"values": _by_first(self._remembered(needed))}
        if state.arrays.last_ends.size:
            records["last_ends"] = _by_first(self._last_ends(needed))
        for side in self._spec.sides:
            records |= {f"{name}.{side}": _by_first(self._timers(name, side)) for name in _ORDERED}
        return Content(self._plain(), records, {f"tuples.{side}": self._tuples(side) for side in self._spec.sides})

    def load(self, saved: Loaded) -> None:
        """Link values, tuples and timers anew; a state that is full of pointers again."""
        state, remembered = self._state, saved.records["values"]
        tuples = [saved.logs[f"tuples.{side}"] for side in self._spec.sides]
        places = [self._places_of(side, tuples[side], saved.plain) for side in self._spec.sides]
        state.reserve(remembered.size + sum(each.size for each in places), [each.size for each in places])
        if state.punctuated:
            restore_values(state.arrays, remembered)
        if state.arrays.last_ends.size:
            ends = saved.records["last_ends"]
            state.arrays.last_ends[find_values(state.arrays, np.ascontiguousarray(ends["code"]))] = ends["end"]
        for side in self._spec.sides:
            self._link(side, places[side])
            if self._spec.own_windows:
                self._set_ends(side, tuples[side].rows, places[side])
            self._rows[side].load(tuples[side].rows, tuples[side].ids, tuples[side].next_id)
        for key, kept, fields in (("sides", _SIDE_KEPT, state.sides), ("common", _COMMON_KEPT, state.common)):
            for name, numbers in zip(kept, _ints(saved.plain[key]).reshape(len(kept), -1), strict=True):
                fields[name] = numbers
        self._set_timers(saved)
        for side in self._spec.sides:
            state.add_boundaries(side, np.frombuffer(saved.plain[f"boundaries.{side}"], lay.BOUNDARY))

    # What is saved

    def _plain(self) -> Bundle:
        state, arrays = self._state, self._state.arrays
        codes, common = arrays.values["code"], state.common[0]
        values, by = unpack(arrays.queue[: int(common["n_queued"])])
        plain: Bundle = {
            "sides": np.stack([arrays.sides[name] for name in _SIDE_KEPT]).tobytes(),
            "common": np.stack([arrays.common[name] for name in _COMMON_KEPT]).tobytes(),
            "done": codes[arrays.done[: int(common["n_done"])]].tobytes(),
            "queue": np.stack([codes[values], by]).tobytes(),
        }
        for side in self._spec.sides:
            plain[f"clusters.{side}"] = self._timers("clusters", side).tobytes()
            plain[f"boundaries.{side}"] = state.boundaries(side).tobytes()
            if state.sides["rows"][side]:
                plain[f"places.{side}"] = self._places(side).tobytes()
        return plain

    def _tuples(self, side: int) -> RowLog:
        state, rows = self._state, self._rows[side]
        ids, marks = rows.live_ids(state, side)
        return RowLog(ids, rows.next_id, lambda places: rows.at(state, side, places), ids[marks & lay.MATCHED != 0])

    def _remembered(self, needed: Mask) -> lay.Records:
        """Values of which more is known than their stored tuples say."""
        state, arrays = self._state, self._state.arrays
        if not state.punctuated:
            return np.empty(0, lay.remembered_type(state.width))
        values, endings = arrays.values[: state.n_values], arrays.endings[: state.n_values]
        known = needed & ((values["flags"] != 0) | (endings["last_ts"] != lay.NEVER).any(axis=1))
        for side in self._spec.sides:
            for name in ("pending", "clusters"):
                known[getattr(arrays, name)[side][: int(state.sides[f"n_{name}"][side])]["value"]] = True
        remembered = np.empty(int(np.count_nonzero(known)), lay.remembered_type(state.width))
        for name in ("code", "flags"):
            remembered[name] = values[name][known]
        for name in ("ended_ts", "last_ts", "touched"):
            remembered[name] = endings[name][known]
        return remembered

    def _last_ends(self, needed: Mask) -> lay.Records:
        """When the windows of values' last tuples end, where tuples have windows of their own."""
        state, arrays = self._state, self._state.arrays
        known = needed & (arrays.endings["last_ts"][: state.n_values] != lay.NEVER).any(axis=1)
        ends = np.empty(int(np.count_nonzero(known)), [("code", "i8"), ("end", "i8", (state.width,))])
        ends["code"] = arrays.values["code"][: state.n_values][known]
        ends["end"] = arrays.last_ends[: state.n_values][known]
        return ends

    def _timers(self, name: str, side: int) -> lay.Records:
        """Timers with the codes of their values, their place in the order of setting first."""
        state = self._state
        set_timers = getattr(state.arrays, name)[side][: int(state.sides[f"n_{name}"][side])]
        if name == "deadlines":  # those of settled values wait for nothing but their removal
            flags = state.arrays.values["flags"][set_timers["value"]]
            set_timers = set_timers[(flags & lay.EFFECT_ANY != 0) & (flags & lay.OUT == 0)]
        timers = np.empty(set_timers.size, _TIMER)
        timers["order"], timers["time"] = set_timers["order"], set_timers["time"]
        timers["value"] = state.arrays.values["code"][set_timers["value"]]
        return timers

    def _places(self, side: int) -> lay.Records:
        """The places of a count window, in order; a tuple that is not stored any more may still have one."""
        state, arrays = self._state, self._state.arrays
        positions = state.positions(side)
        nodes = arrays.nodes[positions]
        linked = nodes["value"] >= 0
        places = np.empty(int(np.count_nonzero(linked)), lay.STORED)
        places["code"] = arrays.values["code"][nodes["value"][linked]]
        places["ts"], places["mark"] = nodes["ts"][linked], nodes["mark"][linked]
        places["seq"] = arrays.seq[positions[linked]] if arrays.seq.size else 0
        return places

    # The way back

    def _places_of(self, side: int, tuples: LoadedRowLog, plain: Bundle) -> lay.Records:
        if f"places.{side}" in plain:
            return np.frombuffer(plain[f"places.{side}"], lay.STORED)
        time = self._spec.streams[side].time
        places = np.zeros(len(tuples.rows), lay.STORED)
        if places.size:
            places["code"] = self._node_codes(side, tuples.rows)
            places["ts"] = to_microseconds(tuples.rows[time], time)
            places["mark"] = np.where(np.isin(tuples.ids, tuples.marked), lay.MATCHED, 0)
        return places

    def _link(self, side: int, places: lay.Records) -> None:
        arrays = self._state.arrays
        is_stored = places["mark"] & lay.DEAD == 0
        rows = (np.cumsum(is_stored) - 1).astype(np.int32)
        codes, ts = np.ascontiguousarray(places["code"]), np.ascontiguousarray(places["ts"])
        restore_nodes(arrays, side, codes, ts, rows, places["mark"].astype(np.uint8))
        if arrays.seq.size:
            arrays.seq[self._state.positions(side)] = places["seq"]

    def _set_ends(self, side: int, rows: pa.Table, places: lay.Records) -> None:
        """Windows of their own end as the rows say."""
        ends = window_ends(self._spec.streams[side], rows, np.ascontiguousarray(places["ts"]))
        self._state.arrays.ends[self._state.positions(side)] = ends
        self._state.sides["soonest"][side] = lay.NEVER  # the next sweep looks

    def _set_timers(self, saved: Loaded) -> None:
        state = self._state
        timers = {name: [saved.records[f"{name}.{side}"] for side in self._spec.sides] for name in _ORDERED}
        timers["clusters"] = [np.frombuffer(saved.plain[f"clusters.{side}"], _TIMER) for side in self._spec.sides]
        done, queue = _ints(saved.plain["done"]), _ints(saved.plain["queue"]).reshape(2, -1)
        state.quota = max(1, done.size, *(each.size for of_sides in timers.values() for each in of_sides))
        state.make_room()
        for name, of_sides in timers.items():
            for side in self._spec.sides:
                ours = np.sort(of_sides[side], order=["time", "order"])  # a sorted array is a heap
                heap = getattr(state.arrays, name)[side][: ours.size]
                heap["time"], heap["order"] = ours["time"], ours["order"]
                heap["value"] = find_values(state.arrays, np.ascontiguousarray(ours["value"]))
                state.sides[f"n_{name}"][side] = ours.size
        state.arrays.done[: done.size] = find_values(state.arrays, done)
        if queue.shape[1] > state.arrays.queue.size:
            state.make_queue_room(queue.shape[1])
        state.arrays.queue[: queue.shape[1]] = pack(find_values(state.arrays, queue[0].copy()), queue[1])
        state.common["n_done"], state.common["n_queued"] = done.size, queue.shape[1]


def _by_first(records: lay.Records) -> lay.Records:
    first = records.dtype.names[0] if records.dtype.names is not None else ""
    return np.asarray(records[np.argsort(records[first], kind="stable")])


def _ints(data: pa.Buffer) -> Ints:
    return np.frombuffer(data, np.int64)
