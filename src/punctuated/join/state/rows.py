"""The rows of stored tuples: Arrow chunks addressed by row number, compacted when they are mostly dead.

Row numbers count the rows of earlier batches first, then those of the batch at hand, and then those that are lent.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.state.arrays import JoinState
from punctuated.kernels.layout import DEAD

RowNumbers = npt.NDArray[np.int32]
_DEAD_SHARE = 0.25  # of all rows, beyond which they are copied
_SMALL = 256


class RowStore:
    """Rows of one side, of earlier batches and of the one at hand."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._stored: list[pa.Table] = []
        self._batch = schema.empty_table()
        self._lent: pa.Table | None = None
        self._ids = np.empty(0, np.int64)  # of the stored rows: numbers in the order of arrival that never change
        self.next_id = 0

    @property
    def n_stored(self) -> int:
        return sum(len(chunk) for chunk in self._stored)

    def begin(self, batch: pa.Table) -> int:
        """Take in a batch; returns the row number of its first row."""
        self._batch = batch
        return self.n_stored

    def take(self, rows: RowNumbers, columns: list[str]) -> pa.Table:
        """These columns of these rows, in the order asked for."""
        chunks = [*self._stored, self._batch] if self._stored else [self._batch]
        if self._lent is not None:
            chunks.append(self._lent)
        view = pa.concat_tables([chunk.select(columns) for chunk in chunks])
        return view.take(pa.array(rows))

    @contextmanager
    def lending(self, rows: pa.Table) -> Iterator[int]:
        """Rows that lie elsewhere are found here for a while; gives the number of the first one."""
        self._lent = rows
        try:
            yield self.n_stored + len(self._batch)
        finally:
            self._lent = None

    def commit(self, state: JoinState, side: int) -> None:
        """The batch is over: keep the rows of stored tuples, and let their nodes point to where the rows went."""
        base = self.n_stored
        nodes = state.arrays.nodes
        positions = ring_positions(state, side, int(state.sides["appended"][side]))
        positions = positions[nodes["row"][positions] >= base]
        rows = nodes["row"][positions] - base
        batch, self._batch = self._batch, self.schema.empty_table()
        if rows.size < (1 - _DEAD_SHARE) * len(batch):
            batch = batch.take(pa.array(rows))
            nodes["row"][positions] = base + np.arange(rows.size, dtype=np.int32)
        if len(batch):
            self._stored.append(batch.combine_chunks())
            self._merge_small()
            self._ids = np.concatenate([self._ids, np.arange(self.next_id, self.next_id + len(batch))])
            self.next_id += len(batch)
        if self.n_stored > _SMALL and state.sides["live"][side] < (1 - _DEAD_SHARE) * self.n_stored:
            self._compact(state, side)

    def _merge_small(self) -> None:
        """Keep chunk sizes geometric, so that there are few of them and no row is copied often."""
        while len(self._stored) > 1 and len(self._stored[-2]) <= 2 * len(self._stored[-1]):
            last, previous = self._stored.pop(), self._stored.pop()
            self._stored.append(pa.concat_tables([previous, last]).combine_chunks())

    def _compact(self, state: JoinState, side: int) -> None:
        nodes, positions = state.arrays.nodes, ring_positions(state, side)
        rows = nodes["row"][positions]
        live = pa.concat_tables(self._stored).take(pa.array(rows)).combine_chunks()
        nodes["row"][positions] = np.arange(rows.size, dtype=np.int32)
        self._stored = [live] if len(live) else []
        self._ids = self._ids[rows]

    def load(self, table: pa.Table, ids: npt.NDArray[np.int64], next_id: int) -> None:
        """Start from saved rows, oldest first."""
        self._stored = [table] if len(table) else []
        self._ids, self.next_id = ids, next_id

    def live_ids(self, state: JoinState, side: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Numbers and marks of the stored tuples, oldest first."""
        nodes = state.arrays.nodes[ring_positions(state, side)]
        return self._ids[nodes["row"]], nodes["mark"]

    def newest(self, state: JoinState, side: int, n: int) -> pa.Table:
        """Rows of the `n` stored tuples that came last, oldest first."""
        positions = ring_positions(state, side)
        rows = state.arrays.nodes["row"][positions[positions.size - n :]]
        return pa.concat_tables([self.schema.empty_table(), *self._stored]).take(pa.array(rows)).combine_chunks()

    @property
    def bytes_per_row(self) -> int:
        """Of the batch at hand."""
        return int(self._batch.nbytes) // max(1, len(self._batch))

    @property
    def nbytes(self) -> int:
        return sum(int(chunk.nbytes) for chunk in self._stored)


def ring_positions(state: JoinState, side: int, newest: int | None = None) -> npt.NDArray[np.int64]:
    """Positions of the living nodes, oldest first; with `newest`, only among that many at the ring's tail."""
    positions = state.positions(side, newest)
    found = state.arrays.nodes[positions]
    return np.asarray(positions[(found["value"] >= 0) & (found["mark"] & DEAD == 0)])
