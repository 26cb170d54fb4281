"""The journal: the state of a driver as a sequence of entries, one per batch, that hold only what has changed.

The first entry of a journal holds everything. What the state is made of, its parts know themselves (see `parts`); the
journal finds out what has changed in them: records by their key, rows by their number.
"""

from collections.abc import Iterable, Mapping, Set
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import Bundle, from_ipc, from_json, pack_bundle, to_ipc, to_json, unpack_bundle
from punctuated.arrow.rows import widen
from punctuated.kernels.layout import Records
from punctuated.kernels.sequences import apply_keyed, compare_keyed, missing
from punctuated.snapshot.fingerprint import Fingerprint, check
from punctuated.snapshot.parts import NO_INTS, Content, Ints, Loaded, LoadedRowLog, RowLog, SavedPart


def changes(before: Records, now: Records) -> tuple[Records, Ints]:
    """Records that are new or different, and the keys of those that are gone; both ascend by their first field."""
    fresh, gone = compare_keyed(_as_integers(before), _as_integers(now))
    return now[fresh], _as_integers(before)[gone, 0]


def _as_integers(records: Records) -> Ints:
    return np.ascontiguousarray(records).view(np.int64).reshape(records.size, records.itemsize // 8)


def apply(before: Records, changed: Records, gone: Ints) -> Records:
    """The inverse: the records after the changes, ascending by their first field."""
    now = apply_keyed(_as_integers(before), _as_integers(changed), gone)
    return now.reshape(-1).view(before.dtype)


# Entries


class Snapshotable(Protocol):
    """What a journal writes and restores: a driver."""

    @property
    def parts(self) -> Mapping[str, SavedPart]:
        """Everything that outlives a batch, in the order in which it is loaded."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What a saved state and this one must have in common."""

    def expect(self, saved: Set[str]) -> None:
        """Called first: a saved state has parts of these names."""

    def resume(self) -> None:
        """Called when all parts are loaded."""


class Journal:
    """Writes entries for one driver; knows what earlier ones hold."""

    def __init__(self) -> None:
        self._records: dict[str, Records] = {}
        self._logs: dict[str, tuple[Ints, Ints]] = {}  # numbers and marks

    def write(self, driver: Snapshotable) -> bytes:
        """What has changed since the last entry."""
        entry: Bundle = {"fingerprint": to_json(driver.fingerprint)}
        for name, part in driver.parts.items():
            content = part.save()
            entry |= {f"{name}.{key}": data for key, data in content.plain.items()}
            for key, records in content.records.items():
                entry |= self._changed(f"{name}.{key}", records)
            for key, log in content.logs.items():
                entry |= self._appended(f"{name}.{key}", log)
        return pack_bundle(entry)

    def _changed(self, name: str, now: Records) -> Bundle:
        changed, gone = changes(self._records.get(name, now[:0]), now)
        self._records[name] = now
        return {f"{name}.changed": changed.tobytes(), f"{name}.gone": gone.tobytes()}

    def _appended(self, name: str, log: RowLog) -> Bundle:
        before, marked = self._logs.get(name, (NO_INTS, NO_INTS))
        self._logs[name] = log.ids, log.marked
        lowest = int(log.ids[0]) if log.ids.size else log.next_id
        fresh = missing(log.ids, before)
        entry: Bundle = {
            f"{name}.ids": fresh.tobytes(),
            f"{name}.gone": missing(before[before >= lowest], log.ids).tobytes(),
            f"{name}.marked": missing(log.marked, marked).tobytes(),
            f"{name}.bounds": to_json([lowest, log.next_id]),
        }
        if fresh.size:
            entry[f"{name}.rows"] = to_ipc(log.at(np.searchsorted(log.ids, fresh)))
        return entry

    def knows(self, name: str, loaded: Loaded) -> None:
        """Earlier entries hold this of a part."""
        self._records |= {f"{name}.{key}": records for key, records in loaded.records.items()}
        self._logs |= {f"{name}.{key}": (log.ids, log.marked) for key, log in loaded.logs.items()}


def restore(driver: Snapshotable, entries: Iterable[bytes]) -> Journal:
    """Bring a driver that was just made to where the entries end; returns the journal to go on with."""
    journal, expected = Journal(), driver.fingerprint
    bundles = [unpack_bundle(entry) for entry in entries]
    for entry in bundles:
        check(from_json(entry["fingerprint"]), expected)
    driver.expect({key.partition(".")[0] for entry in bundles for key in entry})
    gathered = {name: _Gathered(name, part.save()) for name, part in driver.parts.items()}
    for entry in bundles:
        for each in gathered.values():
            each.apply(entry)
    if bundles:
        for name, part in driver.parts.items():
            loaded = gathered[name].loaded()
            part.load(loaded)
            journal.knows(name, loaded)
        driver.resume()
    return journal


class _Gathered:
    """What the entries say of one part; `shape` is the content of an empty one."""

    def __init__(self, name: str, shape: Content) -> None:
        self._name, self._plain = name, dict[str, pa.Buffer]()
        self._keys = list(shape.plain)
        self._records = {key: records[:0] for key, records in shape.records.items()}
        self._logs = {key: _GatheredLog(f"{name}.{key}", log.at(NO_INTS).schema) for key, log in shape.logs.items()}

    def apply(self, entry: Bundle) -> None:
        prefix = f"{self._name}."
        if not any(key.startswith(prefix) for key in entry):
            return  # the join did without this part then
        self._plain = {key: entry[prefix + key] for key in self._keys if prefix + key in entry}
        for key, before in self._records.items():
            changed = np.frombuffer(entry[f"{prefix}{key}.changed"], before.dtype)
            self._records[key] = apply(before, changed, _ints(entry[f"{prefix}{key}.gone"]))
        for log in self._logs.values():
            log.apply(entry)

    def loaded(self) -> Loaded:
        return Loaded(self._plain, self._records, {key: log.loaded() for key, log in self._logs.items()})


class _GatheredLog:
    """Rows of a log; entries are gathered, and what is gone is left out once, at the end."""

    def __init__(self, name: str, schema: pa.Schema) -> None:
        self._name, self._schema, self._rows = name, schema, [schema.empty_table()]
        self._ids, self._gone, self._marked = [NO_INTS], [NO_INTS], [NO_INTS]
        self._lowest, self._next_id = [0], 0

    def apply(self, entry: Bundle) -> None:
        for key, kept in (("ids", self._ids), ("gone", self._gone), ("marked", self._marked)):
            kept.append(_ints(entry[f"{self._name}.{key}"]))
        lowest, self._next_id = from_json(entry[f"{self._name}.bounds"])
        self._lowest.append(lowest)
        if self._ids[-1].size:
            self._rows.append(widen(from_ipc(entry[f"{self._name}.rows"]), self._schema))

    def loaded(self) -> LoadedRowLog:
        ids = np.concatenate(self._ids)
        kept = np.flatnonzero(self._is_kept(ids))
        kept = kept[np.argsort(ids[kept], kind="stable")]  # one that came back stands behind younger ones
        rows = pa.concat_tables(self._rows)
        table = (rows if _are_all(kept, ids.size) else rows.take(pa.array(kept))).combine_chunks()
        return LoadedRowLog(
            ids[kept], self._next_id, table, ids[kept][np.isin(ids[kept], np.concatenate(self._marked))]
        )

    def _is_kept(self, ids: Ints) -> npt.NDArray[np.bool_]:
        """Which of all rows no later entry says to be gone, by its number or by the lowest one that is left."""
        entry = np.repeat(np.arange(len(self._ids)), [each.size for each in self._ids])
        lowest = np.maximum.accumulate(np.array([*self._lowest[1:], 0])[::-1])[::-1]  # among later entries
        gone, gone_by = np.concatenate(self._gone), np.repeat(np.arange(len(self._gone)), list(map(len, self._gone)))
        order = np.argsort(gone, kind="stable")
        last = np.searchsorted(gone[order], ids, side="right") - 1
        is_gone = (last >= 0) & (gone[order][np.maximum(last, 0)] == ids) if gone.size else np.zeros(ids.size, np.bool_)
        is_gone[is_gone] = gone_by[order][last[is_gone]] > entry[is_gone]
        return np.asarray((ids >= lowest[entry]) & ~is_gone)


def _are_all(places: Ints, n: int) -> bool:
    return places.size == n and bool((places == np.arange(n)).all())


def _ints(data: pa.Buffer) -> Ints:
    return np.frombuffer(data, np.int64)
