"""The clock of stamps: which tuple came, and which one left memory, before which other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import from_ipc, to_ipc
from punctuated.kernels.layout import FOREVER, Records
from punctuated.kernels.staged import MEMBER, PROBE
from punctuated.snapshot.parts import Content, Ints, Loaded, Log
from punctuated.state.arrays import JoinState
from punctuated.state.rows import ring_positions
from punctuated.storage.scratch import TableStore

_TICK_BITS = 16  # below the number of an object: what is done between two objects
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_FEWEST, _MOST = 2, 64
_TUPLES = 256  # in memory for each partition, so that its parts are worth files
CODE, ARRIVED, DEPARTED, SLOT = "\0code", "\0arrived", "\0departed", "\0slot"
_STAMPS = (CODE, ARRIVED, DEPARTED, SLOT)
_CHUNK = np.dtype([(name, "i8") for name in ("number", "side", "partition", "n", "last_departure", "indexed_to")])
_PLACED_PROBE = np.dtype([("side", "i8"), ("partition", "i8"), *PROBE.descr])
_MOST_SMALL = 8  # chunks of a part, before they become one
_SAVED = pa.schema([("data", pa.large_binary())])


class StampClock:
    """Ticks for every object, and for everything that is done between two of them."""

    def __init__(self, state: JoinState) -> None:
        self._state, self.last = state, 0

    def tick(self) -> int:
        """A stamp that is larger than all so far, and smaller than those of all tuples to come."""
        now = int(self._state.common["seq"][0]) << _TICK_BITS
        self.last = max(self.last, now) + 1
        assert self.last - now < 1 << _TICK_BITS
        return self.last

    @staticmethod
    def arrivals(numbers: Ints) -> Ints:
        """The stamps of tuples by the numbers of their objects."""
        return np.asarray(numbers << _TICK_BITS)


# Partitions of the values by a hash of their codes, and the tuples of a partition that are in memory.


class Partitions(NamedTuple):
    """How many there are, and which one a value is in."""

    bits: int

    @staticmethod
    def for_memory(limit: int | None) -> "Partitions":
        """As many as are worth it for so many tuples.

        >>> [Partitions.for_memory(n).n for n in (1, 1_000, 1_000_000)]
        [2, 2, 64]
        """
        wanted = _MOST if limit is None else min(_MOST, max(_FEWEST, limit // _TUPLES))
        return Partitions(wanted.bit_length() - 1)

    @property
    def n(self) -> int:
        """How many."""
        return 1 << self.bits

    def of(self, codes: Ints) -> Ints:
        """The partition of each code."""
        mixed = np.ascontiguousarray(codes).view(np.uint64) * _FACTOR
        return (mixed >> np.uint64(64 - self.bits)).astype(np.int64)


class InMemory(NamedTuple):
    """The tuples of one side that are in memory, in the order of arrival."""

    positions: Ints
    codes: Ints
    partitions: Ints

    @staticmethod
    def of(state: JoinState, side: int, partitions: Partitions) -> "InMemory":
        """All of them."""
        positions = ring_positions(state, side)
        codes = state.arrays.values["code"][state.arrays.nodes["value"][positions]]
        return InMemory(positions, codes, partitions.of(codes))

    def within(self, kept: npt.NDArray[np.bool_]) -> "InMemory":
        """Some of them."""
        return InMemory(self.positions[kept], self.codes[kept], self.partitions[kept])

    def members(self, state: JoinState) -> Records:
        """What tells whom they have met, by ascending code."""
        members = np.empty(self.positions.size, MEMBER)
        members["code"], members["row"] = self.codes, state.arrays.nodes["row"][self.positions]
        members["arrived"] = StampClock.arrivals(state.arrays.seq[self.positions])
        members["departed"] = FOREVER
        return np.asarray(members[np.argsort(members["code"], kind="stable")])


# Disk parts: tuples that were relocated, by side and partition, as files that are never changed.
#
# A disk part is a list of chunks. Whoever changes a part writes other chunks in their place; so a chunk, once saved,
# is saved for good.


@dataclass
class Chunk:
    """One file of a disk part."""

    number: int
    side: int
    partition: int
    n: int
    last_departure: int
    indexed_to: int  # the last punctuation of its own stream that its tuples were compared with

    @property
    def name(self) -> str:
        """Of the file."""
        return f"{self.number}.arrow"


@dataclass
class Block:
    """Tuples of a disk part that were read."""

    rows: pa.Table  # with the stamps behind the columns of the stream

    def __len__(self) -> int:
        return len(self.rows)

    def ints(self, name: str) -> Ints:
        """A column of stamps."""
        return np.asarray(self.rows[name].to_numpy())

    def members(self, first_row: int) -> Records:
        """What tells whom they have met, by ascending code; rows are numbered from `first_row` on."""
        members = np.empty(len(self.rows), MEMBER)
        for field, name in (("code", CODE), ("arrived", ARRIVED), ("departed", DEPARTED)):
            members[field] = self.ints(name)
        members["row"] = first_row + np.arange(members.size)
        return np.asarray(members[np.argsort(members["code"], kind="stable")])


Change = Callable[[Chunk, Block], Block | None]


class DiskParts:
    """All chunks, what the disk joins have seen of them, and how they are saved."""

    def __init__(self, partitions: Partitions, portion: Callable[[], int], tables: TableStore) -> None:
        """`portion` says how many tuples of the disk may be in memory at a time."""
        self._portion, self._tables = portion, tables
        self._chunks = [[dict[int, Chunk]() for _ in range(partitions.n)] for _ in range(2)]  # by their numbers
        self._next_number = 1
        self.tuples = np.zeros((2, partitions.n), np.int64)
        self.complete_to = np.zeros(partitions.n, np.int64)  # by then everything had met everything
        self.probes = [[np.empty(0, PROBE) for _ in range(partitions.n)] for _ in range(2)]

    @property
    def portion(self) -> int:
        """How many tuples of the disk may be in memory at a time."""
        return max(1, self._portion())

    def chunks(self, side: int, partition: int | None = None) -> list[Chunk]:
        """Those of a disk part, or of all of a side."""
        parts = self._chunks[side] if partition is None else [self._chunks[side][partition]]
        return [chunk for part in parts for chunk in part.values()]

    def add(self, side: int, partition: int, rows: pa.Table, indexed_to: int) -> None:
        """Tuples with their stamps become a chunk."""
        last = int(rows[DEPARTED].to_numpy().max())
        chunk = Chunk(self._next_number, side, partition, len(rows), last, indexed_to)
        self._tables.write(chunk.name, rows)
        self._next_number += 1
        self._enter(chunk)

    def _enter(self, chunk: Chunk) -> None:
        self._chunks[chunk.side][chunk.partition][chunk.number] = chunk
        self.tuples[chunk.side, chunk.partition] += chunk.n

    def remove(self, chunk: Chunk) -> None:
        """Forget a chunk and its tuples."""
        del self._chunks[chunk.side][chunk.partition][chunk.number]
        self.tuples[chunk.side, chunk.partition] -= chunk.n
        self._tables.remove(chunk.name)

    def read(self, chunk: Chunk) -> Block:
        """The tuples of a chunk."""
        return Block(self._tables.read(chunk.name))

    def blocks(self, side: int, partition: int) -> Iterator[Block]:
        """A disk part in portions."""
        portion = self.portion
        waiting: list[pa.Table] = []
        for chunk in self.chunks(side, partition):
            rows = self.read(chunk).rows
            if waiting and sum(map(len, waiting)) + len(rows) > portion:
                yield Block(pa.concat_tables(waiting).combine_chunks())
                waiting = []
            for start in range(0, len(rows), portion):
                piece = rows.slice(start, portion)
                if len(piece) == portion:
                    yield Block(piece)
                else:
                    waiting.append(piece)
        if waiting:
            yield Block(pa.concat_tables(waiting).combine_chunks())

    def rewrite(self, side: int, partition: int, change: Change | None = None, built_to: int = 0) -> None:
        """What `change` makes of each chunk takes its place, and small ones become one; None leaves it as it is.

        Tuples have by then been compared with all punctuations up to `built_to`.
        """
        changed: list[pa.Table] = []
        small = self.portion // 4
        chunks = self.chunks(side, partition)
        gather = sum(chunk.n <= small for chunk in chunks) > _MOST_SMALL
        for chunk in chunks:
            is_gathered = gather and chunk.n <= small
            if change is None and not is_gathered:
                continue
            block = self.read(chunk)
            fresh = None if change is None else change(chunk, block)
            if fresh is None and not is_gathered:
                chunk.indexed_to = built_to
                continue
            changed.append((block if fresh is None else fresh).rows)
            self.remove(chunk)
            if sum(map(len, changed)) > small:
                self._write_again(side, partition, changed, built_to)
                changed = []
        self._write_again(side, partition, changed, built_to)

    def _write_again(self, side: int, partition: int, tables: list[pa.Table], built_to: int) -> None:
        if sum(map(len, tables)):
            self.add(side, partition, pa.concat_tables(tables).combine_chunks(), built_to)

    def note_probe(self, side: int, partition: int, time: int) -> None:
        """All that is in memory now has met a disk part."""
        last = max((chunk.last_departure for chunk in self.chunks(side, partition)), default=0)
        probe = np.array([(last, time)], PROBE)
        self.probes[side][partition] = np.concatenate([self.probes[side][partition], probe])

    def note_clean_up(self, partition: int, time: int) -> None:
        """All that there is of a partition has met; what was noted of its parts says nothing more."""
        self.complete_to[partition] = time
        for side in range(2):
            self.probes[side][partition] = np.empty(0, PROBE)

    # What outlives a batch

    def save(self) -> Content:
        """Chunks are a log: each is written once. What changes of them are records."""
        chunks = sorted((chunk for side in range(2) for chunk in self.chunks(side)), key=lambda chunk: chunk.number)
        records = np.array([tuple(getattr(each, name) for name in _CHUNK.names or ()) for each in chunks], _CHUNK)
        return Content(
            {
                "next": np.int64(self._next_number).tobytes(),
                "complete_to": self.complete_to.tobytes(),
                "probes": self._all_probes().tobytes(),
            },
            {"chunks": records},
            {} if self._tables.is_durable else {"data": self._log(chunks, records["number"])},
        )

    def _log(self, chunks: list[Chunk], numbers: Ints) -> Log:
        return Log(numbers, self._next_number, lambda places: self._data([chunks[place] for place in places.tolist()]))

    def _all_probes(self) -> Records:
        placed = [
            np.array([(side, partition, *each) for each in probes.tolist()], _PLACED_PROBE)
            for side, of_side in enumerate(self.probes)
            for partition, probes in enumerate(of_side)
        ]
        return np.concatenate(placed)

    def _data(self, chunks: list[Chunk]) -> pa.Table:
        data = [to_ipc(self.read(chunk).rows).to_pybytes() for chunk in chunks]
        return pa.table([pa.array(data, pa.large_binary())], schema=_SAVED)

    def load(self, saved: Loaded) -> None:
        """Enter the chunks again, and write those that did not stay."""
        chunks = [Chunk(*(int(record[name]) for name in _CHUNK.names or ())) for record in saved.records["chunks"]]
        for chunk in chunks:
            self._enter(chunk)
        if not self._tables.is_durable:
            for chunk, data in zip(chunks, saved.logs["data"].rows["data"], strict=True):
                self._tables.write(chunk.name, from_ipc(data.as_buffer()))
        self._next_number = int(np.frombuffer(saved.plain["next"], np.int64)[0])
        self.complete_to = np.frombuffer(saved.plain["complete_to"], np.int64).copy()
        for side, partition, *probe in np.frombuffer(saved.plain["probes"], _PLACED_PROBE).tolist():
            known = self.probes[side][partition]
            self.probes[side][partition] = np.concatenate([known, np.array([tuple(probe)], PROBE)])


def with_stamps(rows: pa.Table, codes: Ints, arrived: Ints, departed: int, slots: Ints) -> pa.Table:
    """Rows with what must be known of them beside their columns."""
    stamps = (codes, arrived, np.full(codes.size, departed, np.int64), slots.astype(np.int64))
    for name, values in zip(_STAMPS, stamps, strict=True):
        rows = rows.append_column(name, pa.array(np.ascontiguousarray(values)))
    return rows


def kept_rows(block: Block, kept: npt.NDArray[np.bool_], slots: Ints) -> Block:
    """Some tuples of a block, with the slots of their punctuations."""
    place = block.rows.schema.get_field_index(SLOT)
    rows = block.rows.set_column(place, SLOT, pa.array(slots))
    return Block(rows.filter(pa.array(kept)))
