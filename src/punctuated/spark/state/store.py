"""What Spark's state store holds of a bucket: compressed bytes, and tables that go beyond the bucket's memory.

Compressing is several times faster than sending more bytes. Most of a state are numbers of eight bytes whose upper
bytes hardly differ, so the bytes of such words are transposed first, unless a sample gets larger by that: then zstd
takes a third of the time and gives a third less.

A stored table is committed with the batch that wrote it, or not at all. The store gives a table only as a whole, at
some 50 MB/s. So each table is also in a file of the host, which is mapped: reading a few rows costs no more than these
rows. A file that is missing or damaged is written again from the store.
"""

import os
from typing import Any

import numpy as np
import pyarrow as pa

from punctuated.arrow.ipc import from_ipc, to_ipc
from punctuated.storage.chunk_files import ChunkFiles

_CODEC = pa.Codec("zstd", compression_level=1)
_WORD = 8
_TRANSPOSED = 1 << 63  # a bit beside the length: the bytes are transposed
_FASTER = 1.1  # so much larger a result is worth the time that it saves
_SAMPLE = 1 << 14  # bytes, from the middle
_MAPPED, _WHOLE = 1 << 22, 1 << 18  # bytes of a table that is mapped, or read as a whole


def compress(data: bytes | pa.Buffer) -> bytes:
    """Compressed data, with its length in front."""
    whole, size = memoryview(data), len(data)
    is_transposed = _is_better(whole[size // 2 // _WORD * _WORD :][:_SAMPLE])
    head = size | (_TRANSPOSED if is_transposed else 0)
    return head.to_bytes(_WORD, "little") + _packed(_transposed(whole) if is_transposed else whole)


def decompress(data: bytes) -> bytes:
    """The data that `compress` has compressed."""
    head = int.from_bytes(data[:_WORD], "little")
    size = head & ~_TRANSPOSED
    unpacked: bytes = _CODEC.decompress(memoryview(data)[_WORD:], size, asbytes=True)
    return _restored(unpacked) if head & _TRANSPOSED else unpacked


def _packed(data: bytes | memoryview) -> bytes:
    packed: bytes = _CODEC.compress(data, asbytes=True)
    return packed


def _is_better(sample: memoryview) -> bool:
    return len(_packed(_transposed(sample))) < _FASTER * len(_packed(sample))


def _transposed(data: memoryview) -> bytes:
    """All first bytes of the words, then all second bytes, and so on; bytes that are no whole word come last."""
    n = len(data) // _WORD
    rows = np.empty((_WORD, n), np.uint8)
    for index, column in enumerate(np.frombuffer(data, np.uint8, n * _WORD).reshape(n, _WORD).T):
        rows[index] = column  # faster than all at once
    return rows.tobytes() + data[n * _WORD :]


def _restored(data: bytes) -> bytes:
    n = len(data) // _WORD
    words = np.empty((n, _WORD), np.uint8)
    for index, row in enumerate(np.frombuffer(data, np.uint8, n * _WORD).reshape(_WORD, n)):
        words[:, index] = row
    return words.tobytes() + data[n * _WORD :]


class StoredTables:
    """The tables of one bucket.

    A bucket outlives a step in a worker's memory, but the access to the store does not: each step opens it again.
    """

    is_durable = True

    def __init__(self, stored: Any, files: ChunkFiles) -> None:
        self._stored, self._shared = stored, files
        self.table_bytes = _MAPPED if files.are_here else _WHOLE
        self.files = dict[str, str]()  # names of files by those of tables; saved and loaded with the journal

    def open(self, stored: Any) -> None:
        """Use this map of the state store, as long as a step lasts."""
        self._stored = stored

    def write(self, name: str, table: pa.Table) -> None:
        """Keep a table under a new name."""
        data = to_ipc(table)
        self._stored.updateValue((name,), (compress(data),))
        self.files[name] = os.urandom(16).hex()
        self._shared.write(self.files[name], memoryview(data))

    def read(self, name: str) -> pa.Table:
        """The table of that name."""
        file = self.files.get(name)
        data = None if file is None else self._shared.map(file)
        return from_ipc(self._from_store(name, file) if data is None else data)

    def remove(self, name: str) -> None:
        """Remove a table that is no longer needed."""
        self._stored.removeKey((name,))
        self._shared.forget([self.files.pop(name)] if name in self.files else [])

    def _from_store(self, name: str, file: str | None) -> pa.Buffer:
        found = self._stored.getValue((name,))
        if found is None:
            raise RuntimeError(f"table {name} of a bucket's state is missing: the checkpoint is damaged")
        data = decompress(bytes(found[0]))
        if file is not None:
            self._shared.write(file, data)
        return pa.py_buffer(data)
