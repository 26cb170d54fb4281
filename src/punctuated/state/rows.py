"""The rows of stored tuples: Arrow chunks addressed by row number, compacted when they are mostly dead.

Row numbers count the rows of earlier batches first, then those of the batch at hand, then rows that were loaded from
disk while it was processed: so numbers change only where this is documented (see `gather`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.rows import take_rows
from punctuated.kernels.time_list import living_nodes
from punctuated.state.arrays import JoinState

RowNumbers = npt.NDArray[np.int32]
_DEAD_SHARE = 0.25  # of all rows, beyond which they are copied
_SMALL = 256


class RowStore:
    """Rows of one side, of earlier batches and of the one at hand."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._stored: list[pa.Table] = []
        self._batch = schema.empty_table()
        self._loaded: list[pa.Table] = []
        self._ids = np.empty(0, np.int64)  # of the stored rows: numbers in the order of arrival that never change
        self._loaded_ids = np.empty(0, np.int64)
        self._first_id = self.next_id = 0  # of the batch at hand, and of the next one

    @property
    def n_stored(self) -> int:
        return sum(len(chunk) for chunk in self._stored)

    def begin(self, batch: pa.Table) -> int:
        """Take in a batch; returns the row number of its first row.

        In one piece: Arrow would copy all chunks into one whenever rows are taken, once for each buffer of pairs.
        """
        self._batch = batch.combine_chunks()
        self._first_id, self.next_id = self.next_id, self.next_id + len(batch)
        return self.n_stored

    @property
    def n_rows(self) -> int:
        """How many row numbers there are."""
        return self.n_stored + len(self._batch) + self._loaded_ids.size

    def add_loaded(self, table: pa.Table, ids: npt.NDArray[np.int64]) -> int:
        """Add rows that were spilled; returns the row number of the first one."""
        first = self.n_rows
        self._loaded.append(table)
        self._loaded_ids = np.concatenate([self._loaded_ids, ids])
        return first

    def is_loaded(self, rows: RowNumbers) -> npt.NDArray[np.bool_]:
        """Which of these rows were spilled, and loaded since rows were last gathered."""
        return np.asarray(rows >= self.n_stored + len(self._batch))

    def ids(self, rows: RowNumbers) -> npt.NDArray[np.int64]:
        """The numbers of these rows in the order of arrival, which never change."""
        base, behind = self.n_stored, self.n_stored + len(self._batch)
        ids = self._first_id + (rows.astype(np.int64) - base)
        ids[rows < base] = self._ids[rows[rows < base]]
        ids[rows >= behind] = self._loaded_ids[rows[rows >= behind] - behind]
        return ids

    def take(self, rows: RowNumbers, columns: list[str]) -> pa.Table:
        """These columns of these rows, in the order asked for."""
        chunks = [chunk for chunk in (*self._stored, self._batch, *self._loaded) if len(chunk)] or [self._batch]
        return take_rows([chunk.select(columns) for chunk in chunks], rows)

    @contextmanager
    def lending(self, rows: pa.Table) -> Iterator[int]:
        """Rows that stay on disk can be taken from here for a while; gives the number of the first one."""
        before = self._loaded, self._loaded_ids
        self._loaded = [*self._loaded]
        try:
            yield self.add_loaded(rows, np.full(len(rows), -1))
        finally:
            self._loaded, self._loaded_ids = before

    def commit(self, state: JoinState, side: int) -> None:
        """The batch is over: keep the rows of stored tuples, and let their nodes point to where the rows went."""
        if self._loaded:
            self.gather(state, side)
        base = self.n_stored
        nodes = state.arrays.nodes
        positions = ring_positions(state, side, int(state.sides["appended"][side]))
        positions = positions[nodes["row"][positions] >= base]
        rows = nodes["row"][positions] - base
        batch, self._batch = self._batch, self.schema.empty_table()
        ids = np.arange(self._first_id, self._first_id + len(batch))
        if rows.size < (1 - _DEAD_SHARE) * len(batch):
            batch, ids = batch.take(pa.array(rows)), ids[rows]
            nodes["row"][positions] = base + np.arange(rows.size, dtype=np.int32)
        if len(batch):
            self._stored.append(batch.combine_chunks())
            self._merge_small()
            self._ids = np.concatenate([self._ids, ids])
        if self.n_stored > _SMALL and state.sides["live"][side] < (1 - _DEAD_SHARE) * self.n_stored:
            self.gather(state, side)

    def _merge_small(self) -> None:
        """Keep chunk sizes geometric, so that there are few of them and no row is copied often."""
        while len(self._stored) > 1 and len(self._stored[-2]) <= 2 * len(self._stored[-1]):
            last, previous = self._stored.pop(), self._stored.pop()
            self._stored.append(pa.concat_tables([previous, last]).combine_chunks())

    def gather(self, state: JoinState, side: int) -> None:
        """Keep only rows of stored tuples, in the order of arrival: all but those of the batch get other numbers.

        Nothing but the nodes may know any row number.
        """
        nodes, positions = state.arrays.nodes, ring_positions(state, side)
        rows, base = nodes["row"][positions], self.n_stored
        of_batch = (rows >= base) & (rows < base + len(self._batch))
        kept = rows[~of_batch]
        table, ids = self.take(kept, self.schema.names).combine_chunks(), self.ids(kept)
        nodes["row"][positions[of_batch]] += kept.size - base
        nodes["row"][positions[~of_batch]] = np.arange(kept.size, dtype=np.int32)
        state.sides["base_row"][side] = kept.size
        self._stored, self._ids = [table] if len(table) else [], ids
        self._loaded, self._loaded_ids = [], ids[:0]

    def load(self, table: pa.Table, ids: npt.NDArray[np.int64], next_id: int) -> None:
        """Start from saved rows, oldest first."""
        self._stored = [table] if len(table) else []
        self._ids, self.next_id = ids, next_id

    def live_ids(self, state: JoinState, side: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Numbers and marks of the stored tuples, oldest first."""
        nodes, positions = state.arrays.nodes, ring_positions(state, side)
        return self._ids[nodes["row"][positions]], nodes["mark"][positions]

    def at(self, state: JoinState, side: int, places: npt.NDArray[np.int64]) -> pa.Table:
        """Rows of stored tuples by their places in the order of arrival."""
        rows = state.arrays.nodes["row"][ring_positions(state, side)[places]]
        return self.take(rows, self.schema.names).combine_chunks()

    @property
    def bytes_per_row(self) -> float:
        """What a row takes, on average."""
        chunks = (*self._stored, self._batch, *self._loaded)
        return sum(int(chunk.nbytes) for chunk in chunks) / max(1, sum(map(len, chunks)))

    @property
    def nbytes(self) -> int:
        return sum(int(chunk.nbytes) for chunk in (*self._stored, *self._loaded))


def ring_positions(state: JoinState, side: int, newest: int | None = None) -> npt.NDArray[np.int64]:
    """Positions of the living nodes, oldest first; with `newest`, only among that many at the ring's tail."""
    ours = state.sides[side]
    ring, length = (int(ours["ring_start"]), int(ours["ring_stop"])), int(ours["length"])
    skipped = 0 if newest is None else max(0, length - newest)
    return living_nodes(state.arrays.nodes, ring, int(ours["head"]), skipped, length)
