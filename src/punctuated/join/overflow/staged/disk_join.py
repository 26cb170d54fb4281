"""The later stages of XJoin: what is in memory meets what is on disk, and at the end everything meets everything.

Stage 2, while the streams are silent: a disk part meets the opposite memory part, which is noted with the part, so that
nothing comes out twice. Stage 3, the clean-up: memory with disk, disk with memory, disk with disk. PJoin always cleans
up: only a tuple that has met everything may go.
"""

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np

from punctuated.join.overflow.staged.disk_parts import Block
from punctuated.join.overflow.staged.parted_state import PartedState
from punctuated.join.overflow.staged.partitions import InMemory
from punctuated.join.overflow.staged.state_purge import StatePurge
from punctuated.kernels.layout import Records
from punctuated.kernels.staged import join_members

_MOST_PROBES = 16  # each one is looked at for every pair; a clean-up makes an end of them


class DiskJoin:
    """Joins parts, partition by partition."""

    def __init__(self, parted: PartedState, purge: StatePurge) -> None:
        self._parted, self._purge = parted, purge
        self._due: deque[tuple[int, bool]] = deque()  # partitions, and whether they are cleaned up
        self._in_memory: list[InMemory] | None = None  # for as long as it runs, since nothing else happens meanwhile
        self._seen: tuple[int, bool] | None = None  # how much had come when all had met, and how thoroughly

    @property
    def is_running(self) -> bool:
        """Whether there is more to do."""
        return bool(self._due)

    def start(self, *, clean_up: bool) -> None:
        """All partitions in which tuples may not have met yet."""
        clean_up = clean_up or self._parted.by_punctuation
        seen = self._n_objects(), clean_up
        if seen == self._seen:
            return
        self._seen = seen
        on_disk = np.flatnonzero(self._parted.disk.tuples.sum(axis=0)).tolist()
        self._due = deque((partition, clean_up) for partition in on_disk)

    def _n_objects(self) -> int:
        sides = self._parted.state.sides
        return int(sides["tuples"].sum() + sides["punctuations"].sum()) + self._parted.index.last_pid

    def step(self) -> None:
        """The next partition."""
        partition, clean_up = self._due.popleft()
        probes = self._parted.disk.probes
        if clean_up or any(probes[side][partition].size >= _MOST_PROBES for side in range(2)):
            self.clean_up(partition)
        else:
            for side in range(2):
                self.probe(side, partition)
        if not self._due:
            self._in_memory = None

    def run(self) -> None:
        """All that is due."""
        while self._due:
            self.step()

    def probe(self, side: int, partition: int) -> None:
        """Stage 2: a disk part and the opposite memory part."""
        disk = self._parted.disk
        theirs = self._memory(1 - side, partition)
        if not disk.tuples[side, partition] or not theirs.size:
            return
        for block in disk.blocks(side, partition):
            with self._parted.rows[side].lending(block.rows) as first_row:
                self._meet(side, block.members(first_row), theirs, partition)
        disk.note_probe(side, partition, self._parted.clock.tick())

    def clean_up(self, partition: int) -> None:
        """Stage 3: everything meets everything, and what nothing can match any more goes."""
        disk, rows = self._parted.disk, self._parted.rows
        memory = [self._memory(side, partition) for side in range(2)]
        right_parts = list(_cached(disk.blocks(1, partition), int(disk.tuples[1, partition]), disk.portion))
        for left in disk.blocks(0, partition) if memory[1].size or disk.tuples[1, partition] else ():
            with rows[0].lending(left.rows) as first_left:
                ours = left.members(first_left)
                self._meet(0, ours, memory[1], partition)
                for right in right_parts or disk.blocks(1, partition):
                    with rows[1].lending(right.rows) as first_right:
                        self._meet(0, ours, right.members(first_right), partition)
        for right in (right_parts or disk.blocks(1, partition)) if memory[0].size else ():
            with rows[1].lending(right.rows) as first_right:
                self._meet(1, right.members(first_right), memory[0], partition)
        disk.note_clean_up(partition, self._parted.clock.tick())
        self._purge.purge_partition(partition)

    def _memory(self, side: int, partition: int) -> Records:
        if self._in_memory is None:
            self._in_memory = [self._parted.in_memory(each) for each in range(2)]
        tuples = self._in_memory[side]
        return tuples.within(tuples.partitions == partition).members(self._parted.state)

    def _meet(self, side: int, ours: Records, other: Records, partition: int) -> None:
        """Emit the pairs that have not come out yet."""
        if not ours.size or not other.size:
            return
        state, disk = self._parted.state, self._parted.disk
        self._parted.collector.drain_pairs(state)
        complete_to, cursor = int(disk.complete_to[partition]), np.array([0, 0, -1], np.int64)
        probes = disk.probes[side][partition], disk.probes[1 - side][partition]
        while cursor[0] < ours.size:
            pairs = state.arrays.pairs
            n = join_members(ours, other, complete_to, *probes, pairs[side], pairs[1 - side], cursor)
            state.common["n_pairs"], state.common["results"] = n, state.common["results"] + n
            self._parted.collector.drain_pairs(state)


def _cached(blocks: Iterable[Block], n: int, portion: int) -> Iterator[Block]:
    """The blocks of a part that fits into memory, so that it is read once; else nothing."""
    return iter(blocks) if n <= portion else iter(())
