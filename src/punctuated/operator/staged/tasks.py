"""State purge (PJ-06, PJ-07): tuples that the other stream has ended go, unless they must still meet its disk part.

Those that must are the purge buffer. They stay where they are, in memory, and no tuple to come looks for them; a disk
join of their partition clears them. On disk, covered tuples go when a clean-up has read them.
"""

from collections import deque
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from punctuated.kernels import layout as lay
from punctuated.kernels.layout import Records
from punctuated.kernels.order import unpack
from punctuated.kernels.rebuild import find_values
from punctuated.kernels.staged import SLOT_SHIFT, join_members, punctuate_values, purge_covered, release_values
from punctuated.model.algorithm import Propagation as Rule
from punctuated.operator.staged.disk import CODE, SLOT, Block, Chunk, InMemory, StampClock, kept_rows, with_stamps
from punctuated.operator.staged.events import Monitor
from punctuated.operator.staged.punctuation_index import PartedState
from punctuated.punctuations.memory import Statements
from punctuated.punctuations.pending_ranges import OutputRange
from punctuated.snapshot.parts import Ints

_MOST_PROBES = 16  # each one is looked at for every pair; a clean-up makes an end of them
_FREED = 8  # a part of memory: it is looked for the largest partition once for all that must go
Mask = npt.NDArray[np.bool_]
_ALL_SEEN = np.iinfo(np.int64).max


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


# The later stages of XJoin: what is in memory meets what is on disk, and at the end everything meets everything.
#
# Stage 2, while the streams are silent: a disk part meets the opposite memory part, which is noted with the part, so
# that nothing comes out twice. Stage 3, the clean-up: memory with disk, disk with memory, disk with disk. PJoin
# always cleans up: only a tuple that has met everything may go.


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


# State relocation: when memory is full, partitions leave it for the disk, the largest first (or the smallest).


class StateRelocation:
    """Brings tuples to disk."""

    def __init__(self, parted: PartedState, monitor: Monitor, *, largest: bool) -> None:
        self._parted, self._monitor, self._largest = parted, monitor, largest

    def relocate(self) -> None:
        """Until an eighth of the memory is free."""
        assert self._monitor.limit is not None
        wanted = max(1, self._monitor.limit // _FREED)
        in_memory = [self._parted.in_memory(side) for side in range(2)]
        sizes = np.stack([np.bincount(each.partitions, minlength=self._parted.partitions.n) for each in in_memory])
        order = np.argsort(-sizes if self._largest else sizes, axis=None, kind="stable")
        stamp = self._parted.clock.tick()
        for place in order.tolist():
            if self._monitor.room >= wanted:
                break
            side, partition = divmod(place, self._parted.partitions.n)
            if sizes[side, partition]:
                ours = in_memory[side]
                self._flush(side, partition, ours.within(ours.partitions == partition), stamp)
        self._parted.note_disk()

    def _flush(self, side: int, partition: int, tuples: InMemory, stamp: int) -> None:
        state, rows = self._parted.state, self._parted.rows[side]
        nodes = state.arrays.nodes[tuples.positions]
        table = rows.take(np.ascontiguousarray(nodes["row"]), rows.schema.names).combine_chunks()
        arrived = StampClock.arrivals(state.arrays.seq[tuples.positions])
        stamped = with_stamps(table, tuples.codes, arrived, stamp, nodes["mark"] >> SLOT_SHIFT)
        self._parted.disk.add(side, partition, stamped, self._parted.index.built_to[side])
        release_values(state.arrays, side, np.unique(nodes["value"]).astype(np.int64))


# Propagation: which punctuations of the inputs the output may be told (PJ-08, PJ-09), and telling it.


class Propagation:
    """Says what is over in the output.

    By Theorem 1 a punctuation may be said once no tuple of its own stream's state matches it. The both-sides rule also
    asks for the other stream's word.
    """

    def __init__(self, parted: PartedState, statements: Statements, rule: Rule, *, is_primary: bool) -> None:
        self._parted, self._statements, self._rule = parted, statements, rule
        self._is_primary = is_primary

    def propagate(self) -> None:
        """All that the rule allows."""
        if self._rule is Rule.NONE:
            return
        for side in range(2):
            self._propagate(side)

    def _propagate(self, side: int) -> None:
        parted = self._parted
        waiting = parted.index.waiting(side)
        if not waiting.size:
            return
        ready = parted.index.propagable(side, self._indexed_to(side), parted.partitions.of(waiting["low"]))
        if self._rule is Rule.REGULAR:
            ready = ready[self._ended_by_other(1 - side, ready)]
        is_range = ready["is_range"] != 0
        self._say_values(side, ready[~is_range])
        self._say_ranges(1 - side, ready[is_range])
        parted.index.remove(ready["slot"])

    def _indexed_to(self, side: int) -> lay.Ints:
        """Up to which punctuation the disk part of each partition was compared."""
        seen = np.full(self._parted.partitions.n, _ALL_SEEN, np.int64)
        for chunk in self._parted.disk.chunks(side):
            seen[chunk.partition] = min(seen[chunk.partition], chunk.indexed_to)
        return seen

    def _ended_by_other(self, other: int, entries: lay.Records) -> Mask:
        ended = self._parted.ended(other, entries["low"])
        for at in np.flatnonzero(entries["is_range"]).tolist():
            ended[at] = self._parted.is_over(other) or self._covers(other, entries[at])
        return ended

    def _covers(self, other: int, ending: np.void) -> bool:
        """Whether the other stream has ended all of a range, by ranges that lie side by side."""
        low = int(ending["low"])
        for stretch in self._parted.state.arrays.ranges:
            if stretch["low"] <= low <= stretch["high"] and stretch["flags"] & (lay.EFFECT << other):
                if stretch["high"] >= ending["high"]:
                    return True
                low = int(stretch["high"]) + 1
        return False

    def _say_values(self, side: int, entries: lay.Records) -> None:
        """Tuples of the other stream that wait for these values wait in vain."""
        parted, codes = self._parted, np.ascontiguousarray(entries["low"])
        if not codes.size:
            return
        self._make_room(codes.size)
        arrays = parted.state.arrays
        indices = find_values(arrays, codes)
        known = indices[indices >= 0]
        purge_covered(arrays, 1 - side, known, np.zeros(known.size, np.uint8), parted.index.counts)
        both = parted.ended(1 - side, codes)
        reasons = np.where(both, lay.BOTH, lay.OWN_STATE)
        punctuate_values(arrays, side, codes, self._times(entries), reasons)

    def _times(self, entries: lay.Records) -> lay.Ints:
        """Not before any result so far."""
        return np.asarray(np.maximum(entries["ts"], int(self._parted.state.sides["newest"].max())))

    def _say_ranges(self, other: int, entries: lay.Records) -> None:
        times = self._times(entries).tolist()
        patterns = [self._parted.index.patterns[slot] for slot in entries["slot"].tolist()]
        reasons = np.where(self._ended_by_other(other, entries), lay.BOTH, lay.OWN_STATE).tolist()
        told = [OutputRange(*each) for each in zip(patterns, times, reasons, strict=True)]
        self._parted.collector.add_ranges(told)
        self._parted.state.common["punctuations_out"] += len(told) if self._is_primary else 0

    def _make_room(self, n: int) -> None:
        state = self._parted.state
        before, state.quota = state.quota, max(state.quota, n)
        if state.lacks_values:
            self._statements.archive()
        state.make_room()
        state.quota = before
