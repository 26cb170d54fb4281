"""Blocks of whole values: which values are on disk, in which blocks, and when they must be loaded.

A block holds values that are neighbours by address, with their tuples; it is as large as a table of the store should
be. In memory each value takes an address and a position, and each block a record with how many tuples are left and
when the first and the last of them leave their windows.

Blocks are eager or lazy. When a tuple of an eager value leaves its window, the output shows it, so the value must be
loaded by then. A lazy block is dropped unread when all of its tuples have left their windows.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import from_ipc, to_ipc
from punctuated.kernels.layout import NEVER, NOT_SET
from punctuated.snapshot.parts import NO_INTS, Content, Ints, Loaded, LoadedRowLog
from punctuated.spill.blocks import BlockStore
from punctuated.spill.clean_values import ReturningValues, TakenValues
from punctuated.spill.detached import DetachedTuples, DetachedValues
from punctuated.spill.index import MOST_ENTRIES, AddressIndex, block_of, entry_of, position_of
from punctuated.storage.scratch import TableStore

_MERGED = 16  # sparse blocks that are merged
_SMALL = 4  # a block that was written with half of this part of a full one is worth keeping
Mask = npt.NDArray[np.bool_]
# Names in saved states: "watched" is eager, "slots" are entries, "left" are tuples alive, "place" is a position.
_TAKEN = np.dtype([("place", "i8")])
_FIELDS = ("number", "list", "offset", "watched", "whole", "slots", "values")
_FIELDS_BY_SIDE = ("left", "soonest", "latest")


class ValueBlocks:
    """All values that are on disk."""

    def __init__(self, tables: TableStore, schemas: Sequence[pa.Schema], widths: tuple[int, int]) -> None:
        """`widths`: how many times of last tuples, and how many ends of their windows, each value has."""
        self._schemas, self._n, self._widths = schemas, len(schemas), widths
        record = np.dtype(
            [*((name, "i8") for name in _FIELDS), *((name, "i8", (self._n,)) for name in _FIELDS_BY_SIDE)]
        )
        self._blocks = BlockStore(tables, record, "tuples", n_entries="slots")
        self._index = AddressIndex()
        self._last_list: tuple[int, Ints] | None = None  # what was read last: it is often asked for again

    def __bool__(self) -> bool:
        return bool(self._blocks)

    @property
    def n_tuples(self) -> Ints:
        """Tuples on disk, by side."""
        return np.asarray(self._blocks.records["left"].sum(axis=0))

    @property
    def nbytes(self) -> int:
        """Bytes in memory that describe what is on disk."""
        return self._index.nbytes + self._blocks.nbytes

    # Values in and out

    def put(self, values: DetachedValues, *, eager: bool) -> None:
        """Write values, ascending by their addresses."""
        n, first = values.addresses.size, self._blocks.next_number
        facts = [values.addresses[:, np.newaxis], values.last_ts, values.last_ends]
        if eager:
            facts += [each.soonest(n)[:, np.newaxis] for each in values.tuples]
        rows = np.concatenate(facts, axis=1)
        self._write_list(first, rows)
        positions = [
            self._write(values.slice(start, stop), (first, start), rows[start:stop], eager)
            for start, stop in _cuts(values, self._blocks.tables.table_bytes)
        ]
        self._index.add(values.addresses, np.concatenate([NO_INTS, *positions]))

    def find(self, addresses: Ints) -> tuple[Ints, Ints]:
        """For each position of these addresses, which of the addresses it belongs to, and the position itself."""
        return self._index.find(addresses)

    def between(self, low: int, high: int) -> Ints:
        """The positions of all values with addresses from `low` to `high`."""
        return self._index.between(low, high)

    def volume(self, positions: Ints) -> Ints:
        """About how many tuples the value at each position has: the average of its block."""
        at = np.searchsorted(self._blocks.numbers, block_of(positions))
        records = self._blocks.records
        return np.asarray((records["left"].sum(axis=1) // np.maximum(1, records["values"]))[at])

    def whole(self, positions: Ints) -> Ints:
        """All positions of the values that have one of these positions."""
        numbers, starts = np.unique(block_of(positions := np.unique(positions)), return_index=True)
        ours = zip(numbers.tolist(), np.split(positions, starts[1:]), strict=False)  # if there are none: one empty part
        addresses = np.unique(np.concatenate([NO_INTS, *(self._list_of(n)[entry_of(at), 0] for n, at in ours)]))
        return self.find(addresses)[1]

    def take(self, positions: Ints) -> list[TakenValues]:
        """Take the values at these positions out, block by block."""
        positions, taken = np.sort(positions), list[TakenValues]()
        numbers, starts = np.unique(block_of(positions), return_index=True)
        for number, ours in zip(numbers.tolist(), np.split(positions, starts[1:]), strict=True):
            record, values = self._blocks.record(number), self._read(number).select(entry_of(ours))
            record["left"] -= [len(each) for each in values.tuples]
            record["values"] -= ours.size
            self._blocks.set_alive(number, entry_of(ours), alive=False)
            taken.append(TakenValues(values, ours, bool(record["watched"])))
        self._index.mark(np.concatenate([NO_INTS, *(each.values.addresses for each in taken)]), positions, here=False)
        return taken

    def give_back(self, returning: ReturningValues) -> None:
        """Values that were taken are in their blocks again, which have neither been written nor compacted since."""
        order = np.argsort(returning.positions)
        positions, n_tuples = returning.positions[order], returning.n_tuples[order]
        numbers, starts = np.unique(block_of(positions), return_index=True)
        for number, start, ours in zip(numbers.tolist(), starts, np.split(positions, starts[1:]), strict=False):
            record, entries = self._blocks.record(number), entry_of(ours)
            record["left"] += n_tuples[start : start + ours.size].sum(axis=0)
            record["values"] += ours.size
            self._blocks.set_alive(number, entries, alive=True)
            if record["watched"]:
                soonest = self._list_of(number)[entries, -self._n :].min(axis=0)
                record["soonest"] = np.minimum(record["soonest"], soonest)
        self._index.mark(returning.addresses, returning.positions, here=True)

    def positions(self, number: int) -> Ints:
        """The positions of all values that are left in a block."""
        return position_of(number, self._blocks.alive(number))

    def numbers(self, having: int | None = None) -> list[int]:
        """The numbers of all blocks; with `having`, of those that have tuples of that side."""
        records = self._blocks.records
        found: list[int] = (records if having is None else records[records["left"][:, having] > 0])["number"].tolist()
        return found

    def rows(self, number: int) -> list[DetachedTuples]:
        """The tuples of a block, side by side, with those that were taken."""
        return list(self._read(number).tuples)

    # Windows

    def due(self, before: Sequence[int]) -> Ints:
        """The positions of eager values with a tuple whose window ends before the time that its side is given."""
        limits, records = np.array(before), self._blocks.records
        is_due = (records["watched"] != 0) & (records["soonest"] < limits).any(axis=1)
        positions = [NO_INTS]
        for number in records["number"][is_due].tolist():
            left, soonest = self.positions(number), self._list_of(number)[:, -self._n :]
            ours = soonest[entry_of(left)]
            now = (ours < limits).any(axis=1)
            positions.append(left[now])
            self._blocks.record(number)["soonest"] = ours[~now].min(axis=0, initial=NOT_SET)
        return np.concatenate(positions)

    def drop_ended(self, before: Sequence[int]) -> Ints:
        """Drop lazy blocks whose tuples all end before the times given; returns how many tuples went, by side."""
        records = self._blocks.records
        is_over = (records["latest"] < np.array(before)) | (records["left"] == 0)
        return self._drop(is_over.all(axis=1))

    def drop_all_of(self, side: int) -> Ints:
        """Drop lazy blocks that have tuples of this side only; returns how many tuples went, by side."""
        others = [other for other in range(self._n) if other != side]
        return self._drop((self._blocks.records["left"][:, others] == 0).all(axis=1))

    def _drop(self, which: Mask) -> Ints:
        gone = self._blocks.records[which & (self._blocks.records["watched"] == 0)]
        for number in gone["number"].tolist():
            left = self.positions(number)
            self._index.mark(self._list_of(number)[entry_of(left), 0], left, here=False)
        self._remove(gone["number"])
        return np.asarray(gone["left"].sum(axis=0))

    def compact(self) -> None:
        """Forget what was taken, and merge blocks of which less than half is left."""
        self._remove(self._blocks.numbers[self._blocks.records["values"] == 0])
        self._index.compact()
        for eager in (False, True):
            records = self._blocks.records
            is_sparse = 2 * records["left"].sum(axis=1) < records["whole"]
            sparse = self._blocks.mergeable(is_sparse & (records["watched"] == eager), _MERGED)
            if sparse.size:
                taken = self.take(np.concatenate([self.positions(number) for number in sparse.tolist()]))
                values = DetachedValues.joined([each.values for each in taken])
                self._remove(sparse)
                self.put(values.select(np.argsort(values.addresses, kind="stable")), eager=eager)

    # Tables

    def _write(self, values: DetachedValues, listed: tuple[int, int], rows: Ints, eager: bool) -> Ints:
        """Write a block, whose values have `rows` in a list from an offset on; returns their positions."""
        n = values.addresses.size
        tuples = [to_ipc(each.to_table()).to_pybytes() if len(each) else None for each in values.tuples]
        number = self._blocks.add(
            _as_row(tuples),
            list=listed[0],
            offset=listed[1],
            watched=eager,
            whole=self._full_size(values),
            slots=n,
            values=n,
            left=[len(each) for each in values.tuples],
            soonest=rows[:, -self._n :].min(axis=0) if eager else NOT_SET,
            latest=[each.ends.max(initial=NEVER) for each in values.tuples],
        )
        return position_of(number, np.arange(n))

    def _full_size(self, values: DetachedValues) -> int:
        """The number of tuples of which less than half is little; a small block has little from the start."""
        full = self._blocks.tables.table_bytes * values.n_tuples // max(1, values.nbytes)
        return max(values.n_tuples, full // _SMALL)

    def _write_list(self, number: int, rows: Ints) -> None:
        """Write what is known of values apart from their tuples: it is read more often, and of many blocks."""
        self._blocks.tables.write(f"{number}.values", _as_row([rows.tobytes()]))

    def _list(self, number: int) -> Ints:
        if self._last_list is None or self._last_list[0] != number:
            data = _first_of(self._blocks.tables.read(f"{number}.values"))
            self._last_list = number, np.frombuffer(data, np.int64)
        return self._last_list[1]

    def _list_of(self, number: int) -> Ints:
        """For each value of a block: address, times of last tuples, ends of their windows, first ends if eager."""
        record = self._blocks.record(number)
        width = 1 + sum(self._widths) + (self._n if record["watched"] else 0)
        return self._list(int(record["list"])).reshape(-1, width)[record["offset"] : record["offset"] + record["slots"]]

    def _read(self, number: int) -> DetachedValues:
        rows, stored = self._list_of(number), self._blocks.read(number).columns
        of_ts, of_ends = 1 + self._widths[0], 1 + sum(self._widths)
        tuples = [
            DetachedTuples.of_table(from_ipc(column[0].as_buffer())) if column[0].is_valid else _no_tuples(schema)
            for column, schema in zip(stored, self._schemas, strict=True)
        ]
        return DetachedValues(rows[:, 0], rows[:, 1:of_ts], rows[:, of_ts:of_ends], tuple(tuples))

    def _remove(self, numbers: Ints) -> None:
        if not numbers.size:
            return
        gone = self._blocks.remove(numbers)
        for number in np.setdiff1d(gone["list"], self._blocks.records["list"]).tolist():
            self._blocks.tables.remove(f"{number}.values")

    # What outlives a batch

    def save(self) -> Content:
        """The records of blocks, what was taken out of them, and each block once."""
        self._last_list = None  # a file that nobody reads may change
        taken = [position_of(number, entries) for number, entries in self._blocks.gone()]
        records = {
            "left": self._blocks.records.copy(),
            "taken": np.concatenate([NO_INTS, *taken]).view(_TAKEN),
        }
        tables = self._blocks.save_tables("blocks", self._as_row, _as_row([None] * (1 + self._n)).slice(0, 0))
        return Content({"next": self._blocks.save_next()}, records, tables)

    def _as_row(self, number: int) -> pa.Table:
        """A block as one row: the list of its values, and its tuples by side."""
        names = [*map(str, range(1 + self._n))]
        values = _as_row([self._list_of(number).tobytes()]).column(0)
        return pa.table([values, *self._blocks.read(number).columns], names=names)

    def load(self, saved: Loaded) -> None:
        """Know the blocks again, and write those that the store has lost."""
        if not saved.plain:
            return  # a state of a join that had all in memory
        self._blocks.load(saved.records["left"], saved.plain["next"])
        taken = np.ascontiguousarray(saved.records["taken"]["place"])
        numbers, starts = np.unique(block_of(taken), return_index=True)
        for number, ours in zip(numbers.tolist(), np.split(taken, starts[1:]), strict=False):  # none: one empty part
            self._blocks.set_alive(number, entry_of(ours), alive=False)
        if not self._blocks.tables.is_durable:
            self._restore(saved.logs["blocks"])
        positions = [self.positions(number) for number in self.numbers()]
        addresses = [
            self._list_of(number)[entry_of(ours), 0] for number, ours in zip(self.numbers(), positions, strict=True)
        ]
        whole, at = np.concatenate([NO_INTS, *addresses]), np.concatenate([NO_INTS, *positions])
        order = np.argsort(whole, kind="stable")
        self._index.add(whole[order], at[order])

    def _restore(self, log: LoadedRowLog) -> None:
        """Write all blocks again, each with a list of its own."""
        self._blocks.records["list"], self._blocks.records["offset"] = self._blocks.numbers, 0
        for at, number in enumerate(log.ids.tolist()):
            row = log.rows.slice(at, 1)
            self._write_list(number, np.frombuffer(_first_of(row), np.int64))
            self._blocks.restore(number, row.drop_columns(row.column_names[0]))


def _as_row(data: Sequence[bytes | None]) -> pa.Table:
    """A table of one row, with a column for each of these."""
    return pa.table([pa.array([each], pa.large_binary()) for each in data], names=[*map(str, range(len(data)))])


def _first_of(row: pa.Table) -> pa.Buffer:
    return row.column(0)[0].as_buffer()


def _no_tuples(schema: pa.Schema) -> DetachedTuples:
    return DetachedTuples(schema.empty_table(), NO_INTS, NO_INTS, NO_INTS, NO_INTS, NO_INTS)


def _cuts(values: DetachedValues, most_bytes: int) -> Iterator[tuple[int, int]]:
    """Where to cut values into blocks that are not larger than that, but have at least one value each."""
    n, most = values.addresses.size, most_bytes * values.n_tuples // max(1, values.nbytes)
    sizes = sum((np.bincount(each.owner, minlength=n) for each in values.tuples), np.zeros(n, np.int64))
    behind = np.cumsum(sizes)
    start = 0
    while start < n:
        before = int(behind[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(behind, before + most, side="right")))
        stop = min(stop, start + MOST_ENTRIES)
        yield start, stop
        start = stop
