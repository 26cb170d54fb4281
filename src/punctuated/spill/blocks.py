"""Values on disk, in blocks that are written once: what is taken out of a block is dead there.

A block holds tuples of values that are neighbours by address, and is as large as a table of the store should be. In
memory there are of each value its address and its place, and of each block how many tuples are left and when the first
and the last of them leave their windows. Blocks of which less than half is left are written anew together.

Blocks are *watched* or silent. A value of a watched block has to come back when the first of its tuples leaves its
window, since that is seen outside; a silent block is dropped unread when all its tuples are out of their windows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import from_ipc, to_ipc
from punctuated.kernels.layout import NEVER, NOT_SET
from punctuated.snapshot.parts import NO_INTS, Content, Ints, Loaded, LoadedLog, Log
from punctuated.spill.index import MOST_SLOTS, ColdIndex, Returning, Taken, block_of, place_of, slot_of
from punctuated.spill.portion import ColdTuples, Portion
from punctuated.storage.scratch import TableStore

_MERGED = 16  # blocks that are written anew together
_SMALL = 4  # half of such a part of a full block is worth keeping as it is
Mask = npt.NDArray[np.bool_]
_PLACE = np.dtype([("place", "i8")])


class ColdBlocks:
    """All values that are on disk, and how they are saved."""

    def __init__(self, store: TableStore, schemas: Sequence[pa.Schema], widths: tuple[int, int]) -> None:
        """`widths`: how many times of last tuples, and ends of their windows, are remembered of each value."""
        self._store, self._schemas, self._n, self._widths = store, schemas, len(schemas), widths
        self._index = ColdIndex()
        plain = [(name, "i8") for name in ("number", "list", "offset", "watched", "whole", "slots", "values")]
        of_sides = [(name, "i8", (self._n,)) for name in ("left", "soonest", "latest")]
        self._blocks = np.zeros(0, [*plain, *of_sides])
        self._last_read: tuple[int, Ints] | None = None  # a list: the next one asked for is often the same
        self._left: dict[int, Mask] = {}  # which values are still there, of blocks out of which some were taken
        self._next = 0

    def __bool__(self) -> bool:
        return self._blocks.size > 0

    @property
    def n_tuples(self) -> Ints:
        """Of each side."""
        return np.asarray(self._blocks["left"].sum(axis=0))

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        masks = sum(left.nbytes for left in self._left.values())
        return self._index.nbytes + int(self._blocks.nbytes) + masks

    # In and out

    def put(self, portion: Portion, *, watched: bool) -> None:
        """Write values to disk, ascending by their addresses."""
        n, first = portion.addresses.size, self._next
        known = [portion.addresses[:, np.newaxis], portion.last_ts, portion.last_ends]
        if watched:
            known += [each.soonest(n)[:, np.newaxis] for each in portion.tuples]
        values = np.concatenate(known, axis=1)
        self._write_list(first, values)
        places = [
            self._write(portion.slice(start, stop), (first, start), values[start:stop], watched)
            for start, stop in _cuts(portion, self._store.table_bytes)
        ]
        self._index.add(portion.addresses, np.concatenate([NO_INTS, *places]))

    def find(self, addresses: Ints) -> tuple[Ints, Ints]:
        """The places of values with these addresses, and for each which of the addresses it is of."""
        return self._index.find(addresses)

    def between(self, low: int, high: int) -> Ints:
        """The places of all values with addresses from one to another."""
        return self._index.between(low, high)

    def volume(self, places: Ints) -> Ints:
        """About how many tuples the value at each place has: as many as others of its block."""
        at = np.searchsorted(self._blocks["number"], block_of(places))
        return np.asarray((self._blocks["left"].sum(axis=1) // np.maximum(1, self._blocks["values"]))[at])

    def whole(self, places: Ints) -> Ints:
        """These places, and all others of the values there."""
        numbers, starts = np.unique(block_of(places := np.unique(places)), return_index=True)
        ours = zip(numbers.tolist(), np.split(places, starts[1:]), strict=False)  # none: one empty part
        addresses = np.unique(np.concatenate([NO_INTS, *(self._values(n)[slot_of(at), 0] for n, at in ours)]))
        return self.find(addresses)[1]

    def take(self, places: Ints) -> list[Taken]:
        """The values at these places, block by block; they are not here any more, unless they are given back."""
        places, taken = np.sort(places), list[Taken]()
        numbers, starts = np.unique(block_of(places), return_index=True)
        for number, ours in zip(numbers.tolist(), np.split(places, starts[1:]), strict=True):
            block, portion = self._block(number), self._read(number).select(slot_of(ours))
            block["left"] -= [len(each) for each in portion.tuples]
            block["values"] -= ours.size
            self._left.setdefault(number, np.ones(int(block["slots"]), np.bool_))[slot_of(ours)] = False
            taken.append(Taken(portion, ours, bool(block["watched"])))
        self._index.mark(np.concatenate([NO_INTS, *(each.portion.addresses for each in taken)]), places, here=False)
        return taken

    def give_back(self, values: Returning) -> None:
        """Values that were taken are here again, as they were; nothing may have been written or tidied up meanwhile."""
        order = np.argsort(values.places)
        places, n_tuples = values.places[order], values.n_tuples[order]
        numbers, starts = np.unique(block_of(places), return_index=True)
        for number, start, ours in zip(numbers.tolist(), starts, np.split(places, starts[1:]), strict=False):
            block, slots = self._block(number), slot_of(ours)
            block["left"] += n_tuples[start : start + ours.size].sum(axis=0)
            block["values"] += ours.size
            if block["values"] == block["slots"]:
                del self._left[number]
            else:
                self._left[number][slots] = True
            if block["watched"]:
                soonest = self._values(number)[slots, -self._n :].min(axis=0)
                block["soonest"] = np.minimum(block["soonest"], soonest)
        self._index.mark(values.addresses, values.places, here=True)

    def all_places(self, number: int) -> Ints:
        """The places of all values that are left in a block."""
        left = self._left.get(number)
        return place_of(number, np.arange(int(self._block(number)["slots"])) if left is None else np.flatnonzero(left))

    def numbers(self, having: int | None = None) -> list[int]:
        """The blocks that are there; with `having`, those that have tuples of that side."""
        blocks = self._blocks if having is None else self._blocks[self._blocks["left"][:, having] > 0]
        found: list[int] = blocks["number"].tolist()
        return found

    def rows(self, number: int) -> list[ColdTuples]:
        """The tuples of a block, side by side, those that were taken among them."""
        return list(self._read(number).tuples)

    # Windows

    def due(self, before: Sequence[int]) -> Ints:
        """The places of watched values that have a tuple of any side that ends before the time given for that side."""
        limits = np.array(before)
        is_due = (self._blocks["watched"] != 0) & (self._blocks["soonest"] < limits).any(axis=1)
        places = [NO_INTS]
        for number in self._blocks["number"][is_due].tolist():
            left, soonest = self.all_places(number), self._values(number)[:, -self._n :]
            ours = soonest[slot_of(left)]
            now = (ours < limits).any(axis=1)
            places.append(left[now])
            self._block(number)["soonest"] = ours[~now].min(axis=0, initial=NOT_SET)
        return np.concatenate(places)

    def drop_ended(self, before: Sequence[int]) -> Ints:
        """Drop silent blocks whose tuples all end before the times given; returns how many of each side went."""
        is_over = (self._blocks["latest"] < np.array(before)) | (self._blocks["left"] == 0)
        return self._drop(is_over.all(axis=1))

    def drop_all_of(self, side: int) -> Ints:
        """Drop silent blocks that have tuples of one side only; returns how many went, of each side."""
        others = [other for other in range(self._n) if other != side]
        return self._drop((self._blocks["left"][:, others] == 0).all(axis=1))

    def _drop(self, which: Mask) -> Ints:
        gone = self._blocks[which & (self._blocks["watched"] == 0)]
        for number in gone["number"].tolist():
            left = self.all_places(number)
            self._index.mark(self._values(number)[slot_of(left), 0], left, here=False)
        self._remove(gone["number"])
        return np.asarray(gone["left"].sum(axis=0))

    def tidy(self) -> None:
        """Let go of what was taken, and write blocks anew of which less than half is left."""
        self._remove(self._blocks["number"][self._blocks["values"] == 0])
        self._index.tidy()
        for watched in (False, True):
            sparse = 2 * self._blocks["left"].sum(axis=1) < self._blocks["whole"]
            ours = self._blocks["number"][sparse & (self._blocks["watched"] == watched)]
            if ours.size >= _MERGED:
                places = np.concatenate([self.all_places(number) for number in ours.tolist()])
                portion = Portion.joined([each.portion for each in self.take(places)])
                self._remove(ours)
                self.put(portion.select(np.argsort(portion.addresses, kind="stable")), watched=watched)

    # Blocks

    def _write(self, portion: Portion, listed: tuple[int, int], values: Ints, watched: bool) -> Ints:
        """Write a block, whose `values` stand in a list from some place on; returns their places."""
        number, n = self._next, portion.addresses.size
        self._next += 1
        tuples = [to_ipc(each.to_table()).to_pybytes() if len(each) else None for each in portion.tuples]
        self._store.write(f"{number}.tuples", _as_row(tuples))
        block = np.zeros(1, self._blocks.dtype)
        block["number"], block["watched"], block["whole"] = number, watched, self._whole(portion)
        block["list"], block["offset"] = listed
        block["slots"] = block["values"] = n
        block["left"] = [len(each) for each in portion.tuples]
        block["soonest"] = values[:, -self._n :].min(axis=0) if watched else NOT_SET
        block["latest"] = [each.ends.max(initial=NEVER) for each in portion.tuples]
        self._blocks = np.concatenate([self._blocks, block])
        return place_of(number, np.arange(n))

    def _whole(self, portion: Portion) -> int:
        """How many tuples make up a block: less than half of that is little. A small one is little from the start."""
        full = self._store.table_bytes * portion.n_tuples // max(1, portion.nbytes)
        return max(portion.n_tuples, full // _SMALL)

    def _write_list(self, number: int, values: Ints) -> None:
        """What is known of values lies apart from their tuples: it is asked for more often, and of many blocks."""
        self._store.write(f"{number}.values", _as_row([values.tobytes()]))

    def _list(self, number: int) -> Ints:
        if self._last_read is None or self._last_read[0] != number:
            self._last_read = number, np.frombuffer(_first_of(self._store.read(f"{number}.values")), np.int64)
        return self._last_read[1]

    def _values(self, number: int) -> Ints:
        """Of each value of a block the address, the times of its last tuples and, if watched, when windows end."""
        block = self._block(number)
        width = 1 + sum(self._widths) + (self._n if block["watched"] else 0)
        return self._list(int(block["list"])).reshape(-1, width)[block["offset"] : block["offset"] + block["slots"]]

    def _read(self, number: int) -> Portion:
        values, stored = self._values(number), self._store.read(f"{number}.tuples").columns
        of_ts, of_ends = 1 + self._widths[0], 1 + sum(self._widths)
        tuples = [
            ColdTuples.of_table(from_ipc(column[0].as_buffer())) if column[0].is_valid else _none(schema)
            for column, schema in zip(stored, self._schemas, strict=True)
        ]
        return Portion(values[:, 0], values[:, 1:of_ts], values[:, of_ts:of_ends], tuple(tuples))

    def _block(self, number: int) -> Any:
        block = self._blocks[np.searchsorted(self._blocks["number"], number)]
        assert block["number"] == number
        return block

    def _remove(self, numbers: Ints) -> None:
        if not numbers.size:
            return
        for number in numbers.tolist():
            self._store.remove(f"{number}.tuples")
            self._left.pop(number, None)
        gone = np.isin(self._blocks["number"], numbers)
        lists, self._blocks = self._blocks["list"][gone], self._blocks[~gone]
        for number in np.setdiff1d(lists, self._blocks["list"]).tolist():
            self._store.remove(f"{number}.values")

    # What outlives a batch

    def save(self) -> Content:
        """What is left of the blocks, what was taken, and, unless they stay where they are, the blocks, once."""
        self._last_read = None  # files that nobody looks into may change
        taken = [place_of(number, np.flatnonzero(~left)) for number, left in sorted(self._left.items())]
        records = {"left": self._blocks.copy(), "taken": np.concatenate([NO_INTS, *taken]).view(_PLACE)}
        log = Log(self._blocks["number"].copy(), self._next, lambda at: self._rows(self._blocks["number"][at]))
        next_number = np.int64(self._next).tobytes()
        return Content({"next": next_number}, records, {} if self._store.is_durable else {"blocks": log})

    def _rows(self, numbers: Ints) -> pa.Table:
        """Each block with its values as a row."""
        empty = _as_row([None] * (1 + self._n)).slice(0, 0)
        rows = [
            pa.table([_as_row([self._values(number).tobytes()]).column(0), *stored.columns], names=empty.column_names)
            for number, stored in ((number, self._store.read(f"{number}.tuples")) for number in numbers.tolist())
        ]
        return pa.concat_tables([empty, *rows])

    def load(self, saved: Loaded) -> None:
        """Find what is left in the blocks, and write those that did not stay."""
        if not saved.plain:
            return  # the join had all in memory then
        self._blocks = saved.records["left"].copy()
        self._next = int(np.frombuffer(saved.plain["next"], np.int64)[0])
        taken = np.ascontiguousarray(saved.records["taken"]["place"])
        numbers, starts = np.unique(block_of(taken), return_index=True)
        for number, ours in zip(numbers.tolist(), np.split(taken, starts[1:]), strict=False):  # none: one empty part
            self._left[number] = np.ones(int(self._block(number)["slots"]), np.bool_)
            self._left[number][slot_of(ours)] = False
        if not self._store.is_durable:
            self._write_again(saved.logs["blocks"])
        places = [self.all_places(number) for number in self.numbers()]
        addresses = [
            self._values(number)[slot_of(ours), 0] for number, ours in zip(self.numbers(), places, strict=True)
        ]
        whole, at = np.concatenate([NO_INTS, *addresses]), np.concatenate([NO_INTS, *places])
        order = np.argsort(whole, kind="stable")
        self._index.add(whole[order], at[order])

    def _write_again(self, log: LoadedLog) -> None:
        """Every block gets a list of its own."""
        self._blocks["list"], self._blocks["offset"] = self._blocks["number"], 0
        for at, number in enumerate(log.ids.tolist()):
            row = log.rows.slice(at, 1)
            self._write_list(number, np.frombuffer(_first_of(row), np.int64))
            self._store.write(f"{number}.tuples", row.drop_columns(row.column_names[0]))


def _as_row(data: Sequence[bytes | None]) -> pa.Table:
    """Bytes as the columns of a row."""
    return pa.table([pa.array([each], pa.large_binary()) for each in data], names=[*map(str, range(len(data)))])


def _first_of(row: pa.Table) -> pa.Buffer:
    return row.column(0)[0].as_buffer()


def _none(schema: pa.Schema) -> ColdTuples:
    return ColdTuples(schema.empty_table(), NO_INTS, NO_INTS, NO_INTS, NO_INTS, NO_INTS)


def _cuts(portion: Portion, most_bytes: int) -> Iterator[tuple[int, int]]:
    """Where to cut a portion, so that a block is not larger than that, but has at least one value."""
    n, most = portion.addresses.size, most_bytes * portion.n_tuples // max(1, portion.nbytes)
    sizes = sum((np.bincount(each.owner, minlength=n) for each in portion.tuples), np.zeros(n, np.int64))
    behind = np.cumsum(sizes)
    start = 0
    while start < n:
        before = int(behind[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(behind, before + most, side="right")))
        stop = min(stop, start + MOST_SLOTS)
        yield start, stop
        start = stop
