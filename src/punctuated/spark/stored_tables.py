"""Tables in Spark's state store: what goes beyond the memory of a bucket is there, and comes back when it is needed.

They are committed with the batch that wrote them, or not at all. A bucket outlives a step in the worker's memory, but
the access to the store does not: each step opens it again.

The store gives a table as a whole, at some 50 MB/s. So each also lies in a file of the host, which is mapped: a look at
a few rows costs what they are. A file has a name of its own, which the bucket's journal tells. One that is not there,
or not whole, is written again from the store.
"""

import os
from typing import Any

import pyarrow as pa

from punctuated.join.exchange.bundle import from_ipc, to_ipc
from punctuated.spark.chunk_files import ChunkFiles
from punctuated.spark.compression import compress, decompress

_MAPPED, _WHOLE = 1 << 22, 1 << 18


class StoredTables:
    """The tables of one bucket."""

    is_durable = True

    def __init__(self, stored: Any, files: ChunkFiles) -> None:
        self._stored, self._shared = stored, files
        self.table_bytes = _MAPPED if files.are_here else _WHOLE
        self.files = dict[str, str]()  # their names by those of tables; they are saved and loaded with the journal

    def open(self, stored: Any) -> None:
        """The map of the state store, as long as a step lasts."""
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
