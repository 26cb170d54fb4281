"""Tables in Spark's state store: what goes beyond the memory of a bucket is there, and comes back when it is needed.

They are committed with the batch that wrote them, or not at all. A bucket outlives a step in the worker's memory, but
the access to the store does not: each step opens it again.
"""

from typing import Any

import pyarrow as pa

from punctuated.join.exchange.bundle import from_ipc, to_ipc
from punctuated.spark.compression import compress, decompress


class StoredTables:
    """The tables of one bucket."""

    is_durable = True
    table_bytes = 1 << 18  # a table is read as a whole

    def __init__(self, stored: Any) -> None:
        self._stored = stored

    def open(self, stored: Any) -> None:
        """The map of the state store, as long as a step lasts."""
        self._stored = stored

    def write(self, name: str, table: pa.Table) -> None:
        """Keep a table under a new name."""
        self._stored.updateValue((name,), (compress(to_ipc(table)),))

    def read(self, name: str) -> pa.Table:
        """The table of that name."""
        found = self._stored.getValue((name,))
        if found is None:
            raise RuntimeError(f"table {name} of a bucket's state is missing: the checkpoint is damaged")
        return from_ipc(pa.py_buffer(decompress(bytes(found[0]))))

    def remove(self, name: str) -> None:
        """Remove a table that is no longer needed."""
        self._stored.removeKey((name,))
