"""State purge (PJ-06, PJ-07): tuples that the other stream has ended go, unless they must still meet its disk part.

Those that must are the purge buffer. They stay where they are, in memory, and no tuple to come looks for them; a disk
join of their partition clears them. On disk, covered tuples go when a clean-up has read them.
"""

import numpy as np

from punctuated.join.overflow.staged.disk_parts import CODE, SLOT, Block, Chunk, kept_rows
from punctuated.join.overflow.staged.monitor import Monitor
from punctuated.join.overflow.staged.parted_state import PartedState
from punctuated.join.state.saved import Ints
from punctuated.kernels.packed import unpack
from punctuated.kernels.staged import purge_covered


class StatePurge:
    """Forgets what nothing can match any more."""

    def __init__(self, parted: PartedState, monitor: Monitor) -> None:
        self._parted, self._monitor = parted, monitor

    def purge_ended(self) -> None:
        """The values that were ended since the last purge."""
        common, queue = self._parted.state.common, self._parted.state.arrays.queue
        indices, by = unpack(queue[: int(common["n_queued"][0])])
        for side in range(2):
            self._monitor.buffered += self._purge(side, np.ascontiguousarray(indices[by == 1 - side]))
        common["n_queued"] = 0

    def purge_all(self) -> None:
        """All values in memory."""
        values = np.arange(self._parted.state.n_values, dtype=np.int64)
        self._monitor.buffered = sum(self._purge(side, values) for side in range(2))
        self._parted.state.common["n_queued"] = 0

    def _purge(self, side: int, indices: Ints) -> int:
        parted = self._parted
        codes = parted.state.arrays.values["code"][indices]
        blocked = (parted.disk.tuples[1 - side] > 0)[parted.partitions.of(codes)].astype(np.uint8)
        return int(purge_covered(parted.state.arrays, side, indices, blocked, parted.index.counts))

    def purge_partition(self, partition: int) -> None:
        """A clean-up is done: all tuples of a partition have met, so covered ones go, in memory and on disk."""
        parted = self._parted
        if not parted.by_punctuation:
            self._tidy(partition)
            return
        parted.build_index()
        values = np.arange(parted.state.n_values, dtype=np.int64)
        values = values[parted.partitions.of(parted.state.arrays.values["code"][: values.size]) == partition]
        free = np.zeros(values.size, np.uint8)
        for side in range(2):
            purge_covered(parted.state.arrays, side, values, free, parted.index.counts)
            self._purge_disk(side, partition)
        parted.note_disk()

    def _purge_disk(self, side: int, partition: int) -> None:
        """What is read is compared with new punctuations of its own stream, too."""
        parted, index = self._parted, self._parted.index

        def change(chunk: Chunk, block: Block) -> Block | None:
            codes, slots = block.ints(CODE), block.ints(SLOT).copy()
            bare = slots == 0
            slots[bare] = index.take(side, codes[bare], chunk.indexed_to)
            covered = parted.ended(1 - side, codes)
            index.drop(slots[covered])
            parted.state.common["purged"] += int(covered.sum())
            if not covered.any() and (slots != 0).sum() == (~bare).sum():
                return None
            return kept_rows(block, ~covered, slots)

        parted.disk.rewrite(side, partition, change, index.built_to[side])

    def _tidy(self, partition: int) -> None:
        """Small chunks become larger ones."""
        for side in range(2):
            self._parted.disk.rewrite(side, partition)
