"""The state of a join in stages: parts in memory, parts on disk, and the punctuation index over both."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from punctuated.join.output.collector import Collector
from punctuated.join.overflow.staged.disk_parts import DiskParts
from punctuated.join.overflow.staged.partitions import InMemory, Partitions
from punctuated.join.overflow.staged.punctuation_index import PunctuationIndex
from punctuated.join.overflow.staged.stamps import StampClock
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.rows import RowStore
from punctuated.join.state.saved import Content, Ints, Loaded
from punctuated.kernels.layout import FOREVER
from punctuated.kernels.staged import SLOT_SHIFT, mark_ended

_TUPLE = np.dtype([(name, "i8") for name in ("id", "arrived", "slot")])


@dataclass
class PartedState:
    """What the tasks of a join work on."""

    state: JoinState
    rows: tuple[RowStore, ...]
    collector: Collector
    partitions: Partitions
    disk: DiskParts
    index: PunctuationIndex
    clock: StampClock
    by_punctuation: bool

    def in_memory(self, side: int) -> InMemory:
        """The tuples of a side in memory."""
        return InMemory.of(self.state, side, self.partitions)

    def build_index(self) -> None:
        """Tuples in memory without a punctuation are compared with new ones, if there are any."""
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
        """Let the loop know whose tuples are on disk: what they must still meet is not dropped."""
        has_any = self.disk.tuples.sum(axis=1) > 0
        self.state.common["on_disk"] = int(has_any[0]) + 2 * int(has_any[1])

    # What outlives a batch

    def save(self) -> Content:
        """The clock, and what is known of tuples in memory beside their rows."""
        records = {}
        for side, rows in enumerate(self.rows):
            positions = self.in_memory(side).positions
            tuples = np.empty(positions.size, _TUPLE)
            tuples["id"], marks = rows.live_ids(self.state, side)
            tuples["arrived"], tuples["slot"] = self.state.arrays.seq[positions], marks >> SLOT_SHIFT
            records[f"tuples.{side}"] = tuples
        return Content({"last": np.int64(self.clock.last).tobytes()}, records)

    def load(self, saved: Loaded) -> None:
        """Give tuples in memory their numbers and punctuations again; arrays and disk parts are there already."""
        self.clock.last = int(np.frombuffer(saved.plain["last"], np.int64)[0])
        for side in range(2):
            tuples, positions = saved.records[f"tuples.{side}"], self.in_memory(side).positions
            self.state.arrays.seq[positions] = tuples["arrived"]
            self.state.arrays.nodes["mark"][positions] |= (tuples["slot"] << SLOT_SHIFT).astype(np.int32)
        self.note_disk()
