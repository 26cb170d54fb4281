"""The journal: a driver's state as a sequence of entries, one per batch, that hold only what changed.

The first entry of a journal holds everything. A restored driver goes on as if nothing had happened. Stored tuples are
numbered in the order of arrival, so that an entry can name those that are gone; values, finished runs, timers and
ranges are written as changes by their key; the few things that are left are written anew.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.driver import JoinDriver
from punctuated.join.exchange.bundle import Bundle, from_ipc, pack_bundle, to_ipc, unpack_bundle
from punctuated.join.intake.keys import NumberedKeys
from punctuated.join.intake.promises import Promise
from punctuated.join.output.widen import widen
from punctuated.join.state import fingerprint
from punctuated.join.state.keyed import apply, changes
from punctuated.join.state.memory import Runs
from punctuated.kernels import layout as lay
from punctuated.kernels.differences import missing
from punctuated.kernels.restore import find_values, restore_nodes, restore_values
from punctuated.model.pattern import Wildcard
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.model.side import Side
from punctuated.model.times import to_microseconds

Ints = npt.NDArray[np.int64]
_NO_INTS = np.empty(0, np.int64)
_SIDE_KEPT = (
    "newest",
    "floor",
    "watermark",
    "end_ts",
    "settled",
    "accepted",
    "in_cluster",
    "cluster",
    "tuples",
    "punctuations",
)
_COMMON_KEPT = ("seq", "first_seq", "timers", *lay.TOTALS)
_ORDERED = ("pending", "deadlines")  # timers that are numbered in the order of setting; clusters are not
_TIMERS = (*_ORDERED, "clusters")
_TIMER = np.dtype([("order", "i8"), ("time", "i8"), ("value", "i8")])
_RUN = np.dtype([("low", "i8"), ("high", "i8"), ("flags", "i8"), ("touched", "i8")])
_KEYED = (
    {"values": lay.REMEMBERED, "runs": _RUN, "ranges": lay.RANGE}
    | {f"pending ranges.{side}": lay.PENDING_RANGE for side in Side}
    | {f"{name}.{side}": _TIMER for name in _ORDERED for side in Side}
)


class Journal:
    """Writes entries for one driver; knows what earlier ones hold."""

    def __init__(self) -> None:
        self._ids: list[Ints] = [_NO_INTS, _NO_INTS]
        self._matched: list[Ints] = [_NO_INTS, _NO_INTS]
        self._keys = 0, 0  # how many numbered keys are written, and of which numbering
        self._records = {name: np.empty(0, dtype) for name, dtype in _KEYED.items()}

    def write(self, driver: JoinDriver) -> bytes:
        """What has changed since the last entry."""
        parts: Bundle = {"fingerprint": _json(_fingerprint(driver))}
        for side in Side:
            parts |= self._tuples(driver, side)
        if isinstance(driver.codec, NumberedKeys):
            parts |= self._numbered_keys(driver.codec)
        fresh: dict[str, lay.Records] = {}
        for name, now in _keyed(driver).items():
            fresh[name], gone = changes(self._records[name], now)
            parts |= {f"{name}.changed": fresh[name].tobytes(), f"{name}.gone": gone.tobytes()}
            self._records[name] = now
        parts["range texts"] = _json(driver.ranges.texts(fresh))
        return pack_bundle(parts | _memory(driver))

    def _tuples(self, driver: JoinDriver, side: Side) -> Bundle:
        ids, marks = driver.rows[side].live_ids(driver.state, side)
        before = self._ids[side]
        last = int(before[-1]) if before.size else -1
        lowest = int(ids[0]) if ids.size else driver.rows[side].next_id
        gone = missing(before[before >= lowest], ids)
        matched = ids[marks & lay.MATCHED != 0]
        newly_matched = missing(matched, self._matched[side])
        self._ids[side], self._matched[side] = ids, matched
        fresh = int(np.searchsorted(ids, last, side="right"))
        parts = {
            "ids": ids[fresh:].tobytes(),
            "gone": gone.tobytes(),
            "matched": newly_matched.tobytes(),
            "lowest": _json([lowest, driver.rows[side].next_id]),
        }
        if fresh < ids.size:
            parts["rows"] = to_ipc(driver.rows[side].newest(driver.state, side, ids.size - fresh))
        return {f"{name}.{side}": data for name, data in parts.items()}

    def _numbered_keys(self, codec: NumberedKeys) -> Bundle:
        written, numbering = self._keys
        start = written if numbering == codec.numbering else 0
        keys = codec.known_keys()
        self._keys = len(keys), codec.numbering
        return {"keys": to_ipc(keys.slice(start)), "keys.start": _json(start)}


def restore(driver: JoinDriver, entries: Iterable[bytes]) -> Journal:
    """Bring a driver that was just made to where the entries end; returns the journal to go on with."""
    journal = Journal()
    expected = _fingerprint(driver)
    last: Bundle | None = None
    keys: list[pa.Table] = []
    texts: dict[str, dict[str, str]] = {}
    tuples = [_Tuples(driver.rows[side].schema) for side in Side]
    records = journal._records
    for entry in entries:
        last = unpack_bundle(entry)
        fingerprint.check(_loads(last["fingerprint"]), expected)
        for side in Side:
            tuples[side].apply(last, side)
        for name, dtype in _KEYED.items():
            changed = np.frombuffer(last[f"{name}.changed"], dtype)
            records[name] = apply(records[name], changed, _ints(last[f"{name}.gone"]))
        for name, more in _loads(last["range texts"]).items():
            texts.setdefault(name, {}).update(more)
        if "keys" in last:
            start = _loads(last["keys.start"])
            keys = [*keys, from_ipc(last["keys"])] if start else [from_ipc(last["keys"])]
    if last is None:
        return journal
    if keys:
        driver.codec.encode(pa.concat_tables(keys).columns)
        journal._keys = sum(len(table) for table in keys), 0
    driver.ranges.load(records, texts, driver.state)
    _rebuild(driver, last, tuples, records)
    for side in Side:
        journal._ids[side], marks = driver.rows[side].live_ids(driver.state, side)
        journal._matched[side] = journal._ids[side][marks & lay.MATCHED != 0]
    return journal


class _Tuples:
    """Stored tuples of one side; entries are gathered, and what is gone is left out once, at the end."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema, self._rows = schema, [schema.empty_table()]
        self._ids, self._gone, self._matched = [_NO_INTS], [_NO_INTS], [_NO_INTS]
        self._lowest, self.next_id = 0, 0

    def apply(self, parts: Bundle, side: Side) -> None:
        for name, kept in (("ids", self._ids), ("gone", self._gone), ("matched", self._matched)):
            kept.append(_ints(parts[f"{name}.{side}"]))
        self._lowest, self.next_id = _loads(parts[f"lowest.{side}"])
        if self._ids[-1].size:
            self._rows.append(widen(from_ipc(parts[f"rows.{side}"]), self._schema))

    @property
    def matched(self) -> Ints:
        return np.concatenate(self._matched)

    @cached_property
    def ids(self) -> Ints:
        return np.concatenate(self._ids)[self._kept]

    @cached_property
    def table(self) -> pa.Table:
        rows = pa.concat_tables(self._rows)
        return (rows if self._kept.all() else rows.filter(pa.array(self._kept))).combine_chunks()

    @cached_property
    def _kept(self) -> npt.NDArray[np.bool_]:
        ids = np.concatenate(self._ids)
        return (ids >= self._lowest) & ~np.isin(ids, np.concatenate(self._gone), assume_unique=True)


# What is written as changes by a key


def _keyed(driver: JoinDriver) -> dict[str, lay.Records]:
    """Values, finished runs, timers and ranges, ascending by their first field."""
    runs = driver.memory.runs
    finished = np.empty(len(runs), _RUN)
    finished["low"], finished["high"], finished["flags"], finished["touched"] = (
        runs.low,
        runs.high,
        runs.flags,
        runs.touched,
    )
    keyed = {"values": _by_first(_remembered(driver)), "runs": finished}
    for side in Side:
        for name in _ORDERED:
            keyed[f"{name}.{side}"] = _by_first(_timers(driver, name, side))
    return keyed | {name: _by_first(kept) for name, kept in driver.ranges.records().items()}


def _by_first(records: lay.Records) -> lay.Records:
    first = records.dtype.names[0] if records.dtype.names is not None else ""
    return np.asarray(records[np.argsort(records[first], kind="stable")])


def _timers(driver: JoinDriver, name: str, side: Side) -> lay.Records:
    """Timers with the codes of their values, their place in the order of setting first."""
    state = driver.state
    set_timers = getattr(state.arrays, name)[side][: int(state.sides[f"n_{name}"][side])]
    if name == "deadlines":  # those of settled values wait for nothing but their removal
        flags = state.arrays.values["flags"][set_timers["value"]]
        set_timers = set_timers[flags & ((lay.EFFECT << side) | lay.OUT) == lay.EFFECT << side]
    timers = np.empty(set_timers.size, _TIMER)
    timers["order"], timers["time"] = set_timers["order"], set_timers["time"]
    timers["value"] = state.arrays.values["code"][set_timers["value"]]
    return timers


# What is written anew each time


def _memory(driver: JoinDriver) -> Bundle:
    state, arrays = driver.state, driver.state.arrays
    codes = arrays.values["code"]
    common = state.common[0]
    parts = {
        "sides": np.stack([arrays.sides[name] for name in _SIDE_KEPT]).tobytes(),
        "common": np.stack([arrays.common[name] for name in _COMMON_KEPT]).tobytes(),
        "said": _json(_said(driver)),
        "standings": to_ipc(_standings(driver)),
        "done": codes[arrays.done[: int(common["n_done"])]].tobytes(),
        "queue": _queue(driver).tobytes(),
    }
    for side in Side:
        parts[f"clusters.{side}"] = _timers(driver, "clusters", side).tobytes()
        if state.sides["rows"][side]:
            parts[f"places.{side}"] = _places(driver, side).tobytes()
    return parts


def _remembered(driver: JoinDriver) -> lay.Records:
    """Values of which more is known than their stored tuples say."""
    state, arrays = driver.state, driver.state.arrays
    if not state.punctuated:
        return np.empty(0, lay.REMEMBERED)
    values, endings = arrays.values[: state.n_values], arrays.endings[: state.n_values]
    known = (values["flags"] != 0) | (values["open"] != 0) | (endings["last_ts"] != lay.NEVER).any(axis=1)
    for side in Side:
        for name in _TIMERS:
            known[getattr(arrays, name)[side][: int(state.sides[f"n_{name}"][side])]["value"]] = True
    remembered = np.empty(int(np.count_nonzero(known)), lay.REMEMBERED)
    for name in ("code", "flags", "open"):
        remembered[name] = values[name][known]
    for name in ("ended_ts", "last_ts", "touched"):
        remembered[name] = endings[name][known]
    return remembered


def _queue(driver: JoinDriver) -> Ints:
    """Purges that wait: code and side of each."""
    arrays = driver.state.arrays
    waiting = arrays.queue[: int(driver.state.common["n_queued"][0])]
    return np.stack([arrays.values["code"][waiting >> 1], waiting & 1])


def _places(driver: JoinDriver, side: Side) -> lay.Records:
    """The places of a count window, in order; a tuple that is not stored any more may still have one."""
    state, arrays = driver.state, driver.state.arrays
    positions = state.positions(side)
    nodes = arrays.nodes[positions]
    linked = nodes["value"] >= 0
    places = np.empty(int(np.count_nonzero(linked)), lay.PLACE)
    places["code"] = arrays.values["code"][nodes["value"][linked]]
    places["ts"], places["mark"] = nodes["ts"][linked], nodes["mark"][linked]
    places["seq"] = arrays.seq[positions[linked]] if arrays.seq.size else 0
    return places


def _said(driver: JoinDriver) -> dict[str, Any]:
    """Promises as text, and the few numbers that are left."""
    promises = [[_promise(each, driver.schemas[side]) for each in driver.promises[side]] for side in Side]
    return {
        "promises": promises,
        "forgotten": driver.memory.forgotten,
        "last_seen": driver.last_seen,
        "shed": None if driver.shedding is None else driver.shedding.save(),
    }


def _promise(promise: Promise, schema: pa.Schema) -> list[Any]:
    """With the names of the columns that it restricts: the stream may gain others."""
    said = {n: p for n, p in zip(promise.columns, promise.patterns, strict=True) if not isinstance(p, Wildcard)}
    text = print_patterns(list(said.values()), [schema.field(name).type for name in said])
    return [list(said), text, promise.ts, promise.order, promise.touched]


def _standings(driver: JoinDriver) -> pa.Table:
    """Where clustered streams stand: a row per stream, the time null if it stands nowhere."""
    standings = [each or (None, (None,) * len(driver.codec.types)) for each in driver.clusters]
    columns = [pa.array([key[place] for _, key in standings], dtype) for place, dtype in enumerate(driver.codec.types)]
    names = ["ts", *(f"key {place}" for place in range(len(columns)))]
    return pa.table([pa.array([ts for ts, _ in standings], pa.int64()), *columns], names=names)


# The way back


def _rebuild(driver: JoinDriver, parts: Bundle, tuples: Sequence[_Tuples], records: dict[str, lay.Records]) -> None:
    state, remembered = driver.state, records["values"]
    driver.memory.runs = Runs(*(records["runs"][name].copy() for name in ("low", "high", "flags", "touched")))
    _restore_said(driver, _loads(parts["said"]))
    for side, row in zip(Side, zip(*from_ipc(parts["standings"]).to_pydict().values(), strict=True), strict=True):
        driver.clusters[side] = None if row[0] is None else (row[0], row[1:])
    places = [_places_of(driver, parts, tuples[side], side) for side in Side]
    state.reserve(remembered.size + sum(each.size for each in places), [each.size for each in places])
    if state.punctuated:
        restore_values(state.arrays, remembered)
    for side in Side:
        _restore_tuples(driver, tuples[side], places[side], side)
    for part, kept, fields in (("sides", _SIDE_KEPT, state.sides), ("common", _COMMON_KEPT, state.common)):
        for name, saved in zip(kept, _ints(parts[part]).reshape(len(kept), -1), strict=True):
            fields[name] = saved
    _restore_timers(driver, parts, records)
    driver.refresh_memory()
    driver.reindex()


def _places_of(driver: JoinDriver, parts: Bundle, tuples: _Tuples, side: Side) -> lay.Records:
    if f"places.{side}" in parts:
        return np.frombuffer(parts[f"places.{side}"], lay.PLACE)
    rows, stream = tuples.table, driver.spec.streams[side]
    places = np.zeros(len(rows), lay.PLACE)
    if len(rows):
        places["code"] = driver.node_codes(side, rows)
        places["ts"] = to_microseconds(rows[stream.time], stream.time)
        places["mark"] = np.where(np.isin(tuples.ids, tuples.matched), lay.MATCHED, 0)
    return places


def _restore_tuples(driver: JoinDriver, tuples: _Tuples, places: lay.Records, side: Side) -> None:
    is_stored = places["mark"] & lay.DEAD == 0
    rows = np.cumsum(is_stored, dtype=np.int32) - 1
    restore_nodes(
        driver.state.arrays,
        int(side),
        np.ascontiguousarray(places["code"]),
        np.ascontiguousarray(places["ts"]),
        rows.astype(np.int32),
        places["mark"].astype(np.uint8),
    )
    if driver.state.arrays.seq.size:
        driver.state.arrays.seq[driver.state.positions(side)] = places["seq"]
    driver.rows[side].load(tuples.table, tuples.ids, tuples.next_id)


def _restore_timers(driver: JoinDriver, parts: Bundle, records: dict[str, lay.Records]) -> None:
    state = driver.state
    saved = {name: [records[f"{name}.{side}"] for side in Side] for name in _ORDERED}
    saved["clusters"] = [np.frombuffer(parts[f"clusters.{side}"], _TIMER) for side in Side]
    done, queue = _ints(parts["done"]), _ints(parts["queue"]).reshape(2, -1)
    state.quota = max(1, done.size, *(timers.size for each in saved.values() for timers in each))
    state.make_room()
    for name, sides in saved.items():
        for side in Side:
            timers = np.sort(sides[side], order=["time", "order"])  # a sorted array is a heap
            heap = getattr(state.arrays, name)[side][: timers.size]
            heap["time"], heap["order"] = timers["time"], timers["order"]
            heap["value"] = find_values(state.arrays, np.ascontiguousarray(timers["value"]))
            state.sides[f"n_{name}"][side] = timers.size
    state.arrays.done[: done.size] = find_values(state.arrays, done)
    state.arrays.queue[: queue.shape[1]] = 2 * find_values(state.arrays, queue[0].copy()) + queue[1]
    state.common["n_done"], state.common["n_queued"] = done.size, queue.shape[1]


def _restore_said(driver: JoinDriver, saved: dict[str, Any]) -> None:
    for side in Side:
        schema = driver.schemas[side]
        driver.promises[side][:] = [
            Promise(tuple(names), parse_punctuation(text, [schema.field(name).type for name in names]), *rest)
            for names, text, *rest in saved["promises"][side]
        ]
    driver.memory.forgotten = saved["forgotten"]
    driver.last_seen = saved["last_seen"]
    if driver.shedding is not None:
        driver.shedding.load(saved["shed"])


def _fingerprint(driver: JoinDriver) -> fingerprint.Parts:
    return {**fingerprint.of(driver.spec, driver.schemas, driver.codec.types), **driver.definition}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _loads(data: pa.Buffer) -> Any:
    return json.loads(data.to_pybytes())


def _ints(data: pa.Buffer) -> Ints:
    return np.frombuffer(data, np.int64)
