"""Blocks of tuples on disk: each one is written once under a number, and a record says what is known of it.

Both policies keep what they spill here: `spill.value_blocks` whole values, `operator.staged.disk` partitions. A policy
chooses which tuples go into a block together, what its record says of them, and when they are read again.

Invariant: a table that was written never changes. What leaves a block is marked as gone, and blocks of which little is
left are replaced by new ones. So a save writes each block once, and of the others only what their records say.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels.layout import Records
from punctuated.snapshot.parts import NO_INTS, Ints, RowLog
from punctuated.storage.scratch import TableStore

Mask = npt.NDArray[np.bool_]


class BlockStore:
    """The blocks of one join, in the order of their numbers.

    A block has entries, numbered from 0 on: tuples, or values with their tuples. Unless told otherwise, all are alive.
    """

    def __init__(self, tables: TableStore, record: np.dtype[Any], suffix: str, n_entries: str, first: int = 0) -> None:
        """`record` has the field "number", and one named `n_entries`; tables are named by number and `suffix`."""
        self.tables, self._suffix, self._n_entries = tables, suffix, n_entries
        self.records: Records = np.zeros(0, record)  # ascending by number
        self.next_number = first
        self._alive: dict[int, Mask] = {}  # of blocks that have lost entries

    def __bool__(self) -> bool:
        return self.records.size > 0

    @property
    def numbers(self) -> Ints:
        return np.asarray(self.records["number"])

    @property
    def nbytes(self) -> int:
        """Bytes in memory that describe what is on disk."""
        return int(self.records.nbytes) + sum(alive.nbytes for alive in self._alive.values())

    def record(self, number: int) -> Any:
        """What is known of a block; fields may be set. It is valid until a block is added or removed."""
        record = self.records[np.searchsorted(self.records["number"], number)]
        assert record["number"] == number
        return record

    # Reading and writing

    def add(self, table: pa.Table, **known: Any) -> int:
        """Write a block with all fields of its record; returns its number."""
        number = self.next_number
        self.next_number += 1
        self.tables.write(self._name(number), table)
        records = np.empty(self.records.size + 1, self.records.dtype)
        records[:-1], records["number"][-1] = self.records, number
        for name, value in known.items():
            records[name][-1] = value
        self.records = records
        return number

    def read(self, number: int) -> pa.Table:
        """The table of a block, with the entries that are gone."""
        return self.tables.read(self._name(number))

    def pieces(self, numbers: Iterable[int], most: int) -> Iterator[pa.Table]:
        """The rows of several blocks, at most so many at a time: large blocks are cut, small ones read together."""
        waiting: list[pa.Table] = []
        for number in numbers:
            rows = self.read(number)
            if waiting and sum(map(len, waiting)) + len(rows) > most:
                yield pa.concat_tables(waiting).combine_chunks()
                waiting = []
            for start in range(0, len(rows), most):
                piece = rows.slice(start, most)
                if len(piece) == most:
                    yield piece
                else:
                    waiting.append(piece)
        if waiting:
            yield pa.concat_tables(waiting).combine_chunks()

    def remove(self, numbers: Ints) -> Records:
        """Forget blocks with all their entries; returns their records."""
        for number in numbers.tolist():
            self.tables.remove(self._name(number))
            self._alive.pop(number, None)
        stays = np.ones(self.records.size, np.bool_)
        stays[np.searchsorted(self.numbers, numbers)] = False
        gone, self.records = self.records[~stays], self.records[stays]
        return np.asarray(gone)

    def _name(self, number: int) -> str:
        return f"{number}.{self._suffix}"

    # Which entries are alive

    def alive(self, number: int) -> Ints:
        """The entries of a block that are left, ascending."""
        alive = self._alive.get(number)
        return np.arange(self._size(number)) if alive is None else np.flatnonzero(alive)

    def set_alive(self, number: int, entries: Ints, *, alive: bool) -> None:
        """Mark entries of a block as gone, or as back again."""
        mask = self._alive.setdefault(number, np.ones(self._size(number), np.bool_))
        mask[entries] = alive
        if alive and mask.all():
            del self._alive[number]

    def gone(self) -> Iterator[tuple[int, Ints]]:
        """The blocks that have lost entries, and which ones."""
        for number, alive in sorted(self._alive.items()):
            yield number, np.flatnonzero(~alive)

    def _size(self, number: int) -> int:
        return int(self.record(number)[self._n_entries])

    # Compaction

    def mergeable(self, small: Mask, fewest: int) -> Ints:
        """The numbers of small blocks, if there are enough of them to be worth a larger one."""
        numbers = self.numbers[small]
        return numbers if numbers.size >= fewest else NO_INTS

    # What outlives a batch

    def save_next(self) -> bytes:
        """The number of the next block, as bytes."""
        return np.int64(self.next_number).tobytes()

    def save_tables(self, name: str, as_row: Callable[[int], pa.Table], empty: pa.Table) -> dict[str, RowLog]:
        """A log of that name with a row for each block; none if the tables stay where they are."""
        if self.tables.is_durable:
            return {}
        numbers = self.numbers.copy()

        def rows(at: Ints) -> pa.Table:
            return pa.concat_tables([empty, *map(as_row, numbers[at].tolist())])

        return {name: RowLog(numbers, self.next_number, rows)}

    def load(self, records: Records, next_number: bytes) -> None:
        """Know the blocks of a saved state again, all of their entries alive; a durable store has their tables."""
        self.records = records.copy()
        self.next_number = int(np.frombuffer(next_number, np.int64)[0])

    def restore(self, number: int, table: pa.Table) -> None:
        """Write a block of a saved state again, in a store that had lost it."""
        self.tables.write(self._name(number), table)
