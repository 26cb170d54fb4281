"""Disk parts: the tuples of each side and partition that are on disk, in blocks, and what they have met there.

A disk part is a list of blocks; whoever changes a part replaces its blocks by others. Beside them stands what the
stages have done: which part was joined with what was in memory, and when, and until when everything of a partition has
met everything.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import from_ipc, to_ipc
from punctuated.kernels.layout import Records
from punctuated.kernels.staged import MEMBER, PROBE
from punctuated.operator.staged.memory import Partitions
from punctuated.snapshot.parts import Content, Ints, Loaded
from punctuated.spill.blocks import BlockStore
from punctuated.storage.scratch import TableStore

CODE, ARRIVED, DEPARTED, SLOT = "\0code", "\0arrived", "\0departed", "\0slot"
_STAMPS = (CODE, ARRIVED, DEPARTED, SLOT)
# "indexed_to" is the last punctuation of its own stream that the tuples of a block were compared with.
_BLOCK = np.dtype([(name, "i8") for name in ("number", "side", "partition", "n", "last_departure", "indexed_to")])
_PLACED_PROBE = np.dtype([("side", "i8"), ("partition", "i8"), *PROBE.descr])
_MERGED = 9  # small blocks of a part that become larger ones
_SAVED = pa.schema([("data", pa.large_binary())])
_ALL_SEEN = np.iinfo(np.int64).max


@dataclass
class StampedTuples:
    """Tuples that were read from a disk part, with their stamps behind the columns of the stream."""

    rows: pa.Table

    def __len__(self) -> int:
        return len(self.rows)

    def ints(self, name: str) -> Ints:
        """A column of stamps."""
        return np.asarray(self.rows[name].to_numpy())

    def members(self, first_row: int) -> Records:
        """The tuples as MEMBER records, by ascending code; rows are numbered from `first_row` on."""
        members = np.empty(len(self.rows), MEMBER)
        for field, name in (("code", CODE), ("arrived", ARRIVED), ("departed", DEPARTED)):
            members[field] = self.ints(name)
        members["row"] = first_row + np.arange(members.size)
        return np.asarray(members[np.argsort(members["code"], kind="stable")])

    def keep(self, kept: npt.NDArray[np.bool_], slots: Ints) -> "StampedTuples":
        """The tuples that `kept` keeps, with new slots of their punctuations."""
        rows = self.rows.set_column(self.rows.schema.get_field_index(SLOT), SLOT, pa.array(slots))
        return StampedTuples(rows.filter(pa.array(kept)))


def with_stamps(rows: pa.Table, codes: Ints, arrived: Ints, departed: int, slots: Ints) -> pa.Table:
    """Rows with their codes, stamps and slots behind their columns."""
    stamps = (codes, arrived, np.full(codes.size, departed, np.int64), slots.astype(np.int64))
    for name, values in zip(_STAMPS, stamps, strict=True):
        rows = rows.append_column(name, pa.array(np.ascontiguousarray(values)))
    return rows


Change = Callable[[int, StampedTuples], StampedTuples | None]  # given what a block is indexed to, and its tuples


class DiskParts:
    """All disk parts of a join, and which tuples have met there."""

    def __init__(self, partitions: Partitions, piece_size: Callable[[], int], tables: TableStore) -> None:
        """`piece_size` says how many tuples of the disk may be in memory at a time."""
        self._piece_size = piece_size
        self._blocks = BlockStore(tables, _BLOCK, "arrow", n_entries="n", first=1)
        self.tuples = np.zeros((2, partitions.n), np.int64)
        self.complete_to = np.zeros(partitions.n, np.int64)  # by then everything had met everything
        self.probes = [[np.empty(0, PROBE) for _ in range(partitions.n)] for _ in range(2)]

    @property
    def piece_size(self) -> int:
        """How many tuples of the disk may be in memory at a time."""
        return max(1, self._piece_size())

    def indexed_to(self, side: int) -> Ints:
        """For each partition, the last punctuation that all tuples of its disk part were compared with."""
        seen = np.full(self.complete_to.size, _ALL_SEEN, np.int64)
        ours = self._blocks.records[self._blocks.records["side"] == side]
        np.minimum.at(seen, ours["partition"], ours["indexed_to"])
        return seen

    def _of_part(self, side: int, partition: int) -> npt.NDArray[np.bool_]:
        records = self._blocks.records
        return np.asarray((records["side"] == side) & (records["partition"] == partition))

    # Blocks

    def add(self, side: int, partition: int, rows: pa.Table, indexed_to: int) -> None:
        """Tuples with their stamps become a block of a part."""
        last = int(rows[DEPARTED].to_numpy().max())
        self._blocks.add(rows, side=side, partition=partition, n=len(rows), last_departure=last, indexed_to=indexed_to)
        self.tuples[side, partition] += len(rows)

    def remove_side(self, side: int) -> None:
        """Forget all tuples of a side."""
        self._remove(self._blocks.numbers[self._blocks.records["side"] == side])

    def _remove(self, numbers: Ints) -> None:
        if not numbers.size:
            return
        gone = self._blocks.remove(numbers)
        np.subtract.at(self.tuples, (gone["side"], gone["partition"]), gone["n"])

    def pieces(self, side: int, partition: int) -> Iterator[StampedTuples]:
        """The tuples of a part, as many at a time as may be in memory."""
        numbers = self._blocks.numbers[self._of_part(side, partition)]
        for rows in self._blocks.pieces(numbers.tolist(), self.piece_size):
            yield StampedTuples(rows)

    def rewrite(self, side: int, partition: int, change: Change | None = None, built_to: int = 0) -> None:
        """Replace each block of a part by what `change` makes of it (None: leave it), and merge small blocks.

        By then, tuples have been compared with all punctuations up to `built_to`.
        """
        gone, changed = list[int](), list[pa.Table]()
        small, ours = self.piece_size // 4, self._of_part(side, partition)
        merged = self._blocks.mergeable(ours & (self._blocks.records["n"] <= small), _MERGED).tolist()
        for number in self._blocks.numbers[ours].tolist() if change is not None else merged:
            record, is_merged = self._blocks.record(number), number in merged
            tuples = StampedTuples(self._blocks.read(number))
            fresh = None if change is None else change(int(record["indexed_to"]), tuples)
            if fresh is None and not is_merged:
                record["indexed_to"] = built_to
                continue
            gone.append(number)
            changed.append((tuples if fresh is None else fresh).rows)
            if sum(map(len, changed)) > small:
                self._replace(side, partition, gone, changed, built_to)
                gone, changed = [], []
        self._replace(side, partition, gone, changed, built_to)

    def _replace(self, side: int, partition: int, gone: list[int], tables: list[pa.Table], built_to: int) -> None:
        """Put tables in the place of blocks, as one block."""
        self._remove(np.array(gone, np.int64))
        if sum(map(len, tables)):
            self.add(side, partition, pa.concat_tables(tables).combine_chunks(), built_to)

    # What has met

    def note_probe(self, side: int, partition: int, time: int) -> None:
        """All that is in memory now has met a disk part."""
        last = int(self._blocks.records["last_departure"][self._of_part(side, partition)].max(initial=0))
        probe = np.array([(last, time)], PROBE)
        self.probes[side][partition] = np.concatenate([self.probes[side][partition], probe])

    def note_clean_up(self, partition: int, time: int) -> None:
        """All tuples of a partition have met, so earlier probes of its parts say nothing more."""
        self.complete_to[partition] = time
        for side in range(2):
            self.probes[side][partition] = np.empty(0, PROBE)

    # What outlives a batch

    def save(self) -> Content:
        """What has met, the records of blocks, and each block once."""
        return Content(
            {
                "next": self._blocks.save_next(),
                "complete_to": self.complete_to.tobytes(),
                "probes": self._all_probes().tobytes(),
            },
            {"chunks": self._blocks.records.copy()},
            self._blocks.save_tables("data", self._as_row, _SAVED.empty_table()),
        )

    def _as_row(self, number: int) -> pa.Table:
        return pa.table([pa.array([to_ipc(self._blocks.read(number)).to_pybytes()], pa.large_binary())], schema=_SAVED)

    def _all_probes(self) -> Records:
        placed = [
            np.array([(side, partition, *each) for each in probes.tolist()], _PLACED_PROBE)
            for side, of_side in enumerate(self.probes)
            for partition, probes in enumerate(of_side)
        ]
        return np.concatenate(placed)

    def load(self, saved: Loaded) -> None:
        """Know the blocks again, and write those that the store has lost."""
        self._blocks.load(saved.records["chunks"], saved.plain["next"])
        records = self._blocks.records
        np.add.at(self.tuples, (records["side"], records["partition"]), records["n"])
        if not self._blocks.tables.is_durable:
            for number, data in zip(records["number"].tolist(), saved.logs["data"].rows["data"], strict=True):
                self._blocks.restore(number, from_ipc(data.as_buffer()))
        self.complete_to = np.frombuffer(saved.plain["complete_to"], np.int64).copy()
        for side, partition, *probe in np.frombuffer(saved.plain["probes"], _PLACED_PROBE).tolist():
            known = self.probes[side][partition]
            self.probes[side][partition] = np.concatenate([known, np.array([tuple(probe)], PROBE)])
