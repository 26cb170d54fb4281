"""Snapshots: a driver between two batches as bytes, and back. The restored one goes on as if nothing had happened.

The bytes are an Arrow IPC stream of named parts. They carry a format version and a fingerprint of the query; a snapshot
of another query or format is refused, saying what differs.
"""

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.errors import SnapshotError
from punctuated.join.driver import JoinDriver
from punctuated.join.keys import NumberedKeys
from punctuated.join.memory import Runs
from punctuated.join.promises import Promise
from punctuated.join.range_endings import Known
from punctuated.join.state import SCRATCH
from punctuated.kernels.key_bytes import HASH_VERSION
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.model.side import Side

FORMAT = 1
_PARTS = pa.schema([("name", pa.string()), ("kind", pa.string()), ("data", pa.large_binary())])
_NOT_SAVED = (*SCRATCH, "runs", "ranges")  # runs and ranges are saved in their own form


def fingerprint(driver: JoinDriver) -> dict[str, str]:
    """What must be equal for a snapshot to fit, part by part."""
    spec = driver.spec
    parts = {"format": f"{FORMAT}", "hash": f"{HASH_VERSION}", "key types": ", ".join(map(str, driver.codec.types))}
    parts |= {
        "join type": spec.how.value,
        "algorithm": repr(spec.algorithm),
        "purge threshold": f"{spec.purge_threshold}",
    }
    for side in Side:
        parts[f"stream {spec.streams[side].name!r}"] = repr(spec.streams[side])
        parts[f"columns of {spec.streams[side].name!r}"] = driver.rows[side].schema.to_string()
    return parts


def save(driver: JoinDriver) -> bytes:
    """The driver's state as bytes."""
    driver.state.compact()
    parts: list[tuple[str, str, bytes]] = [("fingerprint", "json", _json(fingerprint(driver)))]
    kept = {name: array for name, array in driver.state.arrays._asdict().items() if name not in _NOT_SAVED}
    parts += [(name, "array", array.tobytes()) for name, array in kept.items()]
    parts += [(f"{name}.shape", "json", _json(array.shape)) for name, array in kept.items()]
    runs = driver.memory.runs
    parts.append(("runs", "array", np.stack([runs.low, runs.high, runs.flags, runs.touched]).tobytes()))
    parts.append(("punctuations", "json", _json(_punctuations(driver))))
    parts.append(("standings", "table", _ipc(_standings(driver))))
    for side in Side:
        parts.append((f"rows.{side}", "table", _ipc(driver.rows[side].live(driver.state, side))))
    if isinstance(driver.codec, NumberedKeys):
        parts.append(("keys", "table", _ipc(driver.codec.known_keys())))
    return _ipc(pa.Table.from_pylist([dict(zip(_PARTS.names, part, strict=True)) for part in parts], schema=_PARTS))


def load(driver: JoinDriver, data: bytes) -> None:
    """Put a saved state into a driver that was just made for the same query."""
    try:
        table = pa.ipc.open_stream(data).read_all()
        parts = {row["name"]: row["data"] for row in table.to_pylist()}
        saved = json.loads(parts["fingerprint"])
    except (pa.ArrowInvalid, KeyError, ValueError) as error:
        raise SnapshotError(f"this is not a snapshot of a join: {error}") from None
    _check(saved, fingerprint(driver))
    arrays = {
        name: _array(parts, name, array)
        for name, array in driver.state.arrays._asdict().items()
        if name not in _NOT_SAVED
    }
    driver.state.arrays = driver.state.arrays._replace(**arrays)
    runs = np.frombuffer(parts["runs"], np.int64).reshape(4, -1)
    driver.memory.runs = Runs(*(row.copy() for row in runs))
    if isinstance(driver.codec, NumberedKeys):
        driver.codec.encode(_table(parts["keys"]).columns)
    _restore_punctuations(driver, json.loads(parts["punctuations"]))
    _restore_standings(driver, _table(parts["standings"]))
    for side in Side:
        driver.rows[side].load(_table(parts[f"rows.{side}"]), driver.state, side)
    driver.refresh_memory()


def _check(saved: dict[str, str], now: dict[str, str]) -> None:
    for part in {**now, **saved}:
        if saved.get(part) != now.get(part):
            raise SnapshotError(
                f"the snapshot is of another query: its {part} is {saved.get(part)}, here it is {now.get(part)}"
            )


def _array(parts: dict[str, bytes], name: str, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    shape = json.loads(parts[f"{name}.shape"])
    return np.frombuffer(parts[name], like.dtype).reshape(shape).copy()


def _punctuations(driver: JoinDriver) -> dict[str, Any]:
    """Ranges and promises as text."""
    key_types = driver.codec.types
    ranges = {
        name: [[print_patterns(known.patterns, key_types), known.ts, known.order, known.touched] for known in kept]
        for name, kept in driver.ranges.named_lists().items()
    }
    promises = [
        [
            [print_patterns(each.patterns, _types(driver, side)), each.ts, each.order, each.touched]
            for each in driver.promises[side]
        ]
        for side in Side
    ]
    return {"ranges": ranges, "promises": promises, "forgotten": driver.memory.forgotten}


def _standings(driver: JoinDriver) -> pa.Table:
    """Where clustered streams stand: a row per stream, the time null if it stands nowhere."""
    standings = [each or (None, (None,) * len(driver.codec.types)) for each in driver.clusters]
    columns = [pa.array([key[place] for _, key in standings], dtype) for place, dtype in enumerate(driver.codec.types)]
    return pa.table([pa.array([ts for ts, _ in standings], pa.int64()), *columns], names=_names(driver))


def _restore_standings(driver: JoinDriver, saved: pa.Table) -> None:
    for side, row in zip(Side, zip(*saved.to_pydict().values(), strict=True), strict=True):
        driver.clusters[side] = None if row[0] is None else (row[0], row[1:])


def _names(driver: JoinDriver) -> list[str]:
    return ["ts", *(f"key {place}" for place in range(len(driver.codec.types)))]


def _restore_punctuations(driver: JoinDriver, saved: dict[str, Any]) -> None:
    for name, kept in driver.ranges.named_lists().items():
        kept[:] = [Known(parse_punctuation(text, driver.codec.types), *rest) for text, *rest in saved["ranges"][name]]
    for side in Side:
        columns = driver.spec.streams[side].columns
        driver.promises[side][:] = [
            Promise(columns, parse_punctuation(text, _types(driver, side)), *rest)
            for text, *rest in saved["promises"][side]
        ]
    driver.memory.forgotten = saved["forgotten"]


def _types(driver: JoinDriver, side: Side) -> list[pa.DataType]:
    schema = driver.rows[side].schema
    return [schema.field(name).type for name in driver.spec.streams[side].columns]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _table(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()
