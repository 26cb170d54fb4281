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

from punctuated.join.exchange.bundle import from_ipc, to_ipc
from punctuated.join.overflow.cold.cold_index import MOST_SLOTS, ColdIndex, block_of, place_of, slot_of
from punctuated.join.overflow.cold.portion import ColdTuples, Portion
from punctuated.join.overflow.scratch import TableStore
from punctuated.join.state.saved import NO_INTS, Content, Ints, Loaded, Log
from punctuated.kernels.layout import NEVER, NOT_SET

_MERGED = 16  # blocks that are written anew together
Mask = npt.NDArray[np.bool_]
_PLACE = np.dtype([("place", "i8")])


class ColdBlocks:
    """All values that are on disk, and how they are saved."""

    def __init__(self, store: TableStore, schemas: Sequence[pa.Schema], widths: tuple[int, int]) -> None:
        """`widths`: how many times of last tuples, and ends of their windows, are remembered of each value."""
        self._store, self._schemas, self._n, self._widths = store, schemas, len(schemas), widths
        self._index = ColdIndex()
        fields = [(name, "i8", (self._n,)) for name in ("left", "soonest", "latest")]
        self._blocks = np.zeros(
            0, [("number", "i8"), ("watched", "i8"), ("whole", "i8"), ("slots", "i8"), ("values", "i8"), *fields]
        )
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
        return self._index.nbytes + self._blocks.nbytes

    # In and out

    def put(self, portion: Portion, *, watched: bool) -> None:
        """Write values to disk."""
        portion = portion.select(np.argsort(portion.addresses, kind="stable"))
        for start, stop in _cuts(portion, self._store.table_bytes):
            self._write(portion.slice(start, stop), watched)

    def find(self, addresses: Ints) -> tuple[Ints, Ints]:
        """The places of values with these addresses, and for each which of the addresses it is of."""
        return self._index.find(addresses)

    def between(self, low: int, high: int) -> Ints:
        """The places of all values with addresses from one to another."""
        return self._index.between(low, high)

    def volume(self, places: Ints) -> Ints:
        """About how many tuples the value at each place has: as many as others of its block."""
        at = np.searchsorted(self._blocks["number"], block_of(places))
        return np.asarray((self._blocks["left"].sum(axis=1) // self._blocks["values"])[at])

    def take(self, places: Ints) -> list[tuple[Portion, bool]]:
        """The values at these places, block by block, and whether they were watched; they are not here any more."""
        places = np.sort(places)
        numbers, starts = np.unique(block_of(places), return_index=True)
        taken = []
        for number, ours in zip(numbers.tolist(), np.split(places, starts[1:]), strict=True):
            block, portion = self._block(number), self._read(number).select(slot_of(ours))
            block["left"] -= [len(each) for each in portion.tuples]
            block["values"] -= ours.size
            self._left.setdefault(number, np.ones(int(block["slots"]), np.bool_))[slot_of(ours)] = False
            taken.append((portion, bool(block["watched"])))
        self._index.remove(np.concatenate([NO_INTS, *(portion.addresses for portion, _ in taken)]), places)
        self._remove(self._blocks["number"][self._blocks["values"] == 0])
        return taken

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
            self._index.remove(self._values(number)[slot_of(left), 0], left)
        self._remove(gone["number"])
        return np.asarray(gone["left"].sum(axis=0))

    def tidy(self) -> None:
        """Write blocks anew of which less than half is left."""
        for watched in (False, True):
            sparse = 2 * self._blocks["left"].sum(axis=1) < self._blocks["whole"]
            ours = self._blocks["number"][sparse & (self._blocks["watched"] == watched)]
            if ours.size >= _MERGED:
                places = np.concatenate([self.all_places(number) for number in ours.tolist()])
                self.put(Portion.joined([portion for portion, _ in self.take(places)]), watched=watched)

    # Blocks

    def _write(self, portion: Portion, watched: bool) -> None:
        number, n = self._next, portion.addresses.size
        self._next += 1
        soonest = np.stack([each.soonest(n) for each in portion.tuples], axis=1)
        values = np.concatenate([portion.addresses[:, np.newaxis], portion.last_ts, portion.last_ends, soonest], axis=1)
        tuples = [to_ipc(each.to_table()).to_pybytes() if len(each) else None for each in portion.tuples]
        self._keep(number, _as_row([values.tobytes(), *tuples]))
        block = np.zeros(1, self._blocks.dtype)
        block["number"], block["watched"], block["whole"] = number, watched, portion.n_tuples
        block["slots"] = block["values"] = n
        block["left"], block["soonest"] = [len(each) for each in portion.tuples], soonest.min(axis=0)
        block["latest"] = [each.ends.max(initial=NEVER) for each in portion.tuples]
        self._blocks = np.concatenate([self._blocks, block])
        self._index.add(portion.addresses, place_of(number, np.arange(n)))

    def _keep(self, number: int, block: pa.Table) -> None:
        """What is known of its values is asked for more often than their tuples, and is read without them."""
        self._store.write(f"{number}.values", block.select([0]))
        self._store.write(f"{number}.tuples", block.drop_columns(block.column_names[0]))

    def _values(self, number: int) -> Ints:
        """Of each value of a block the address, the times of its last tuples, and the first ends of its windows."""
        return self._numbers(self._store.read(f"{number}.values"))

    def _numbers(self, block: pa.Table) -> Ints:
        data = block.column(0)[0].as_buffer()
        return np.frombuffer(data, np.int64).reshape(-1, 1 + sum(self._widths) + self._n)

    def _read(self, number: int) -> Portion:
        values, stored = self._values(number), self._store.read(f"{number}.tuples").columns
        of_ts, of_ends = 1 + self._widths[0], 1 + sum(self._widths)
        tuples = [
            ColdTuples.of_table(from_ipc(column[0].as_buffer())) if column[0].is_valid else _none(schema)
            for column, schema in zip(stored, self._schemas, strict=True)
        ]
        return Portion(values[:, 0], values[:, 1:of_ts], values[:, of_ts:of_ends], tuple(tuples))

    def _block(self, number: int) -> Any:
        return self._blocks[np.searchsorted(self._blocks["number"], number)]

    def _remove(self, numbers: Ints) -> None:
        if not numbers.size:
            return
        for number in numbers.tolist():
            self._store.remove(f"{number}.values")
            self._store.remove(f"{number}.tuples")
            self._left.pop(number, None)
        self._blocks = self._blocks[~np.isin(self._blocks["number"], numbers)]

    # What outlives a batch

    def save(self) -> Content:
        """Blocks as they were written, once; what is left of them; and what was taken.

        Of blocks in a durable store only what the index is made of.
        """
        log = Log(
            self._blocks["number"].copy(), self._next, lambda places: self._read_rows(self._blocks["number"][places])
        )
        taken = [place_of(number, np.flatnonzero(~left)) for number, left in sorted(self._left.items())]
        places = np.concatenate([NO_INTS, *taken]).view(_PLACE)
        return Content(records={"left": self._blocks.copy(), "taken": places}, logs={"blocks": log})

    def _read_rows(self, numbers: Ints) -> pa.Table:
        """Blocks as rows, just as they are in their files; without tuples if those stay where they are."""
        empty = _as_row([None] * (1 + self._n)).slice(0, 0)
        if self._store.is_durable:
            empty = empty.select([0])
        return pa.concat_tables([empty, *(self._row(number) for number in numbers.tolist())])

    def _row(self, number: int) -> pa.Table:
        values = self._store.read(f"{number}.values")
        if self._store.is_durable:
            return values
        tuples = self._store.read(f"{number}.tuples")
        return pa.table([*values.columns, *tuples.columns], names=[*values.column_names, *tuples.column_names])

    def load(self, saved: Loaded) -> None:
        """Find what is left in the blocks, and write those that did not stay."""
        log = saved.logs["blocks"]
        self._blocks, self._next = saved.records["left"].copy(), log.next_id
        taken = np.ascontiguousarray(saved.records["taken"]["place"])
        numbers, starts = np.unique(block_of(taken), return_index=True)
        for number, ours in zip(numbers.tolist(), np.split(taken, starts[1:]), strict=False):  # none: one empty part
            self._left[number] = np.ones(int(self._block(number)["slots"]), np.bool_)
            self._left[number][slot_of(ours)] = False
        addresses, places = [NO_INTS], [NO_INTS]
        for at, number in enumerate(log.ids.tolist()):
            block = log.rows.slice(at, 1)
            if not self._store.is_durable:
                self._keep(number, block)
            places.append(self.all_places(number))
            addresses.append(self._numbers(block)[slot_of(places[-1]), 0])
        found, at_places = np.concatenate(addresses), np.concatenate(places)
        order = np.argsort(found, kind="stable")
        self._index.add(found[order], at_places[order])


def _as_row(data: Sequence[bytes | None]) -> pa.Table:
    """The values of a block as bytes, and its tuples of each side."""
    names = ["values", *map(str, range(len(data) - 1))]
    return pa.table([pa.array([each], pa.large_binary()) for each in data], names=names)


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
