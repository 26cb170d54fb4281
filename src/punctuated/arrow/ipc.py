"""Tables, plain data and bundles of named bytes as bytes: how snapshots and parcels are written."""

import json
from typing import Any

import numpy as np
import pyarrow as pa

from punctuated.errors import SnapshotError

Bundle = dict[str, Any]
_SCHEMA = pa.schema([("name", pa.string()), ("data", pa.large_binary())])


def pack_bundle(bundle: Bundle) -> bytes:
    """Named bytes as one value."""
    offsets = np.concatenate([[0], np.cumsum([len(data) for data in bundle.values()])]).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(bundle.values()))]
    values = pa.Array.from_buffers(pa.large_binary(), len(bundle), buffers)
    return bytes(to_ipc(pa.table([list(bundle), values], schema=_SCHEMA)))


def unpack_bundle(data: bytes) -> Bundle:
    """The named bytes that `pack_bundle` has made one value of, without a copy."""
    try:
        table = from_ipc(data)
        names, values = table["name"].to_pylist(), table["data"].combine_chunks()
        return {name: values[i].as_buffer() for i, name in enumerate(names)}
    except (pa.ArrowInvalid, KeyError, ValueError) as error:
        raise SnapshotError(f"these bytes were not written by this library, or not by this version: {error}") from None


def to_ipc(table: pa.Table) -> pa.Buffer:
    """A table as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def from_ipc(data: bytes | pa.Buffer) -> pa.Table:
    """The table of an Arrow IPC stream."""
    return pa.ipc.open_stream(data).read_all()


def to_json(value: Any) -> bytes:
    """Plain data as the bytes of a JSON text."""
    return json.dumps(value).encode()


def from_json(data: Any) -> Any:
    """The plain data of a JSON text, given as bytes or as a buffer."""
    return json.loads(bytes(data))
