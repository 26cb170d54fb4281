"""The state of a join in stages: tuples in memory, tuples on disk, and the punctuation index over both.

Invariant: a tuple in memory carries the slot of its punctuation in its mark, above the flags; one on disk carries it in
a column of its block.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from punctuated.kernels.layout import FOREVER
from punctuated.kernels.staged import SLOT_SHIFT, mark_ended
from punctuated.operator.staged.disk import DiskParts
from punctuated.operator.staged.memory import MemoryTuples, Partitions, StampClock
from punctuated.operator.staged.punctuation_index import PunctuationIndex
from punctuated.output.collector import Collector
from punctuated.snapshot.parts import Content, Ints, Loaded
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore

_TUPLE = np.dtype([(name, "i8") for name in ("id", "arrived", "slot")])


@dataclass
class PartitionedState:
    """What the tasks of a join work on."""

    state: JoinState
    rows: tuple[RowStore, ...]
    collector: Collector
    partitions: Partitions
    disk: DiskParts
    index: PunctuationIndex
    clock: StampClock
    by_punctuation: bool

    def in_memory(self, side: int) -> MemoryTuples:
        """The tuples of a side in memory."""
        return MemoryTuples.of(self.state, side, self.partitions)

    def build_index(self) -> None:
        """Compare the tuples in memory with new punctuations, if there are any."""
        if not all(self.index.is_built(side) for side in range(2)):
            self.index.build(self.state, [self.in_memory(side) for side in range(2)])

    def is_over(self, side: int) -> bool:
        """Whether a stream has ended."""
        return bool(self.state.sides["end_ts"][side] != FOREVER)

    def ended(self, side: int, codes: Ints) -> npt.NDArray[np.bool_]:
        """Which of these values a stream has ended."""
        ended = np.zeros(codes.size, np.uint8)
        mark_ended(self.state.arrays, side, np.ascontiguousarray(codes), ended)
        return np.asarray(ended != 0)

    def note_disk(self) -> None:
        """Tell the loop which sides have tuples on disk: tuples that must still meet those are not dropped."""
        has_any = self.disk.tuples.sum(axis=1) > 0
        self.state.common["on_disk"] = int(has_any[0]) + 2 * int(has_any[1])

    # What outlives a batch

    def save(self) -> Content:
        """The clock, and for each tuple in memory its arrival and the slot of its punctuation."""
        records = {}
        for side, rows in enumerate(self.rows):
            positions = self.in_memory(side).positions
            tuples = np.empty(positions.size, _TUPLE)
            tuples["id"], marks = rows.live_ids(self.state, side)
            tuples["arrived"], tuples["slot"] = self.state.arrays.seq[positions], marks >> SLOT_SHIFT
            records[f"tuples.{side}"] = tuples
        return Content({"last": np.int64(self.clock.last).tobytes()}, records)

    def load(self, saved: Loaded) -> None:
        """Give tuples in memory their arrivals and punctuations again; arrays and disk parts are loaded before."""
        self.clock.last = int(np.frombuffer(saved.plain["last"], np.int64)[0])
        for side in range(2):
            tuples, positions = saved.records[f"tuples.{side}"], self.in_memory(side).positions
            self.state.arrays.seq[positions] = tuples["arrived"]
            self.state.arrays.nodes["mark"][positions] |= (tuples["slot"] << SLOT_SHIFT).astype(np.int32)
        self.note_disk()
