"""The tasks of a join in stages (PJ-13): state purge, disk join, state relocation and propagation.

Each works on whole parts of the state, between two parts of a batch. A task knows nothing of events: `join` calls it.
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
from punctuated.operator.staged.disk import CODE, SLOT, StampedTuples, with_stamps
from punctuated.operator.staged.events import Monitor
from punctuated.operator.staged.memory import MemoryTuples, StampClock
from punctuated.operator.staged.state import PartitionedState
from punctuated.punctuations.memory import PunctuationState
from punctuated.punctuations.pending_ranges import OutputRange
from punctuated.snapshot.parts import Ints

_MOST_PROBES = 16  # each one is looked at for every pair; a clean-up takes their place
_FREED = 8  # this part of the memory is made free at a time, since partitions are sized up each time
Mask = npt.NDArray[np.bool_]


# State purge


class StatePurge:
    """Forgets tuples that the other stream has ended (PJ-06, PJ-07), unless they must still meet its disk part.

    Those that must are the purge buffer. They stay in memory where they are, and no tuple to come looks for them; a
    disk join of their partition forgets them. On disk, covered tuples go when a clean-up has read them.
    """

    def __init__(self, partitioned: PartitionedState, monitor: Monitor) -> None:
        self._partitioned, self._monitor = partitioned, monitor

    def purge_ended(self) -> None:
        """Purge the values that were ended since the last purge."""
        common, queue = self._partitioned.state.common, self._partitioned.state.arrays.queue
        indices, by = unpack(queue[: int(common["n_queued"][0])])
        for side in range(2):
            self._monitor.buffered += self._purge(side, np.ascontiguousarray(indices[by == 1 - side]))
        common["n_queued"] = 0

    def purge_all(self) -> None:
        """Purge all values in memory."""
        values = np.arange(self._partitioned.state.n_values, dtype=np.int64)
        self._monitor.buffered = sum(self._purge(side, values) for side in range(2))
        self._partitioned.state.common["n_queued"] = 0

    def _purge(self, side: int, indices: Ints) -> int:
        partitioned = self._partitioned
        codes = partitioned.state.arrays.values["code"][indices]
        blocked = (partitioned.disk.tuples[1 - side] > 0)[partitioned.partitions.of(codes)].astype(np.uint8)
        return int(purge_covered(partitioned.state.arrays, side, indices, blocked, partitioned.index.counts))

    def purge_partition(self, partition: int) -> None:
        """Forget covered tuples of a partition after its clean-up, in memory and on disk: all have met."""
        partitioned = self._partitioned
        if not partitioned.by_punctuation:
            self._compact(partition)
            return
        partitioned.build_index()
        values = np.arange(partitioned.state.n_values, dtype=np.int64)
        values = values[partitioned.partitions.of(partitioned.state.arrays.values["code"][: values.size]) == partition]
        free = np.zeros(values.size, np.uint8)
        for side in range(2):
            purge_covered(partitioned.state.arrays, side, values, free, partitioned.index.counts)
            self._purge_disk(side, partition)
        partitioned.note_disk()

    def _purge_disk(self, side: int, partition: int) -> None:
        """Forget covered tuples of a disk part, and compare the others with new punctuations of their own stream."""
        partitioned, index = self._partitioned, self._partitioned.index

        def change(indexed_to: int, tuples: StampedTuples) -> StampedTuples | None:
            codes, slots = tuples.ints(CODE), tuples.ints(SLOT).copy()
            bare = slots == 0
            slots[bare] = index.take(side, codes[bare], indexed_to)
            covered = partitioned.ended(1 - side, codes)
            index.drop(slots[covered])
            partitioned.state.common["purged"] += int(covered.sum())
            if not covered.any() and (slots != 0).sum() == (~bare).sum():
                return None
            return tuples.keep(~covered, slots)

        partitioned.disk.rewrite(side, partition, change, index.built_to[side])

    def _compact(self, partition: int) -> None:
        """Merge the small blocks of a partition."""
        for side in range(2):
            self._partitioned.disk.rewrite(side, partition)


# Disk join


class DiskJoin:
    """The later stages of XJoin (PJ-13), partition by partition.

    Stage 2, while the streams are silent: a disk part meets the opposite memory part, which is noted with the part so
    that no pair comes out twice. Stage 3, the clean-up: memory meets disk, disk meets memory, and disk meets disk.
    PJoin always cleans up: only a tuple that has met everything may be purged.
    """

    def __init__(self, partitioned: PartitionedState, purge: StatePurge) -> None:
        self._partitioned, self._purge = partitioned, purge
        self._due: deque[tuple[int, bool]] = deque()  # partitions, and whether they are cleaned up
        self._in_memory: list[MemoryTuples] | None = None  # while it runs: nothing else happens then
        self._last_start: tuple[int, bool] | None = None  # objects so far, and whether it cleaned up

    @property
    def is_running(self) -> bool:
        """Whether there is more to do."""
        return bool(self._due)

    def start(self, *, clean_up: bool) -> None:
        """Begin with all partitions in which tuples may not have met yet."""
        clean_up = clean_up or self._partitioned.by_punctuation
        start = self._n_objects(), clean_up
        if start == self._last_start:
            return
        self._last_start = start
        on_disk = np.flatnonzero(self._partitioned.disk.tuples.sum(axis=0)).tolist()
        self._due = deque((partition, clean_up) for partition in on_disk)

    def _n_objects(self) -> int:
        sides = self._partitioned.state.sides
        return int(sides["tuples"].sum() + sides["punctuations"].sum()) + self._partitioned.index.last_pid

    def step(self) -> None:
        """Join the next partition."""
        partition, clean_up = self._due.popleft()
        probes = self._partitioned.disk.probes
        if clean_up or any(probes[side][partition].size >= _MOST_PROBES for side in range(2)):
            self.clean_up(partition)
        else:
            for side in range(2):
                self.probe(side, partition)
        if not self._due:
            self._in_memory = None

    def run(self) -> None:
        """Join all partitions that are left."""
        while self._due:
            self.step()

    def probe(self, side: int, partition: int) -> None:
        """Stage 2: a disk part and the opposite memory part."""
        disk = self._partitioned.disk
        other = self._memory(1 - side, partition)
        if not disk.tuples[side, partition] or not other.size:
            return
        for piece in disk.pieces(side, partition):
            with self._partitioned.rows[side].lending(piece.rows) as first_row:
                self._meet(side, piece.members(first_row), other, partition)
        disk.note_probe(side, partition, self._partitioned.clock.tick())

    def clean_up(self, partition: int) -> None:
        """Stage 3: everything meets everything, and tuples that match nothing to come are forgotten."""
        disk, rows = self._partitioned.disk, self._partitioned.rows
        memory = [self._memory(side, partition) for side in range(2)]
        right_pieces = list(_cached(disk.pieces(1, partition), int(disk.tuples[1, partition]), disk.piece_size))
        for left in disk.pieces(0, partition) if memory[1].size or disk.tuples[1, partition] else ():
            with rows[0].lending(left.rows) as first_left:
                ours = left.members(first_left)
                self._meet(0, ours, memory[1], partition)
                for right in right_pieces or disk.pieces(1, partition):
                    with rows[1].lending(right.rows) as first_right:
                        self._meet(0, ours, right.members(first_right), partition)
        for right in (right_pieces or disk.pieces(1, partition)) if memory[0].size else ():
            with rows[1].lending(right.rows) as first_right:
                self._meet(1, right.members(first_right), memory[0], partition)
        disk.note_clean_up(partition, self._partitioned.clock.tick())
        self._purge.purge_partition(partition)

    def _memory(self, side: int, partition: int) -> Records:
        if self._in_memory is None:
            self._in_memory = [self._partitioned.in_memory(each) for each in range(2)]
        tuples = self._in_memory[side]
        return tuples.within(tuples.partitions == partition).members(self._partitioned.state)

    def _meet(self, side: int, ours: Records, other: Records, partition: int) -> None:
        """Emit the pairs that have not come out yet."""
        if not ours.size or not other.size:
            return
        state, disk = self._partitioned.state, self._partitioned.disk
        self._partitioned.collector.drain_pairs(state)
        complete_to, cursor = int(disk.complete_to[partition]), np.array([0, 0, -1], np.int64)
        probes = disk.probes[side][partition], disk.probes[1 - side][partition]
        while cursor[0] < ours.size:
            pairs = state.arrays.pairs
            n = join_members(ours, other, complete_to, *probes, pairs[side], pairs[1 - side], cursor)
            state.common["n_pairs"], state.common["results"] = n, state.common["results"] + n
            self._partitioned.collector.drain_pairs(state)


def _cached(pieces: Iterable[StampedTuples], n: int, piece_size: int) -> Iterator[StampedTuples]:
    """The pieces of a part that fits into memory, so that it is read once; else nothing."""
    return iter(pieces) if n <= piece_size else iter(())


# State relocation


class StateRelocation:
    """Spills partitions when memory is full (PJ-13), the largest first, or the smallest."""

    def __init__(self, partitioned: PartitionedState, monitor: Monitor, *, largest: bool) -> None:
        self._partitioned, self._monitor, self._largest = partitioned, monitor, largest

    def relocate(self) -> None:
        """Spill partitions until an eighth of the memory is free."""
        assert self._monitor.limit is not None
        wanted = max(1, self._monitor.limit // _FREED)
        in_memory = [self._partitioned.in_memory(side) for side in range(2)]
        sizes = np.stack([np.bincount(each.partitions, minlength=self._partitioned.partitions.n) for each in in_memory])
        order = np.argsort(-sizes if self._largest else sizes, axis=None, kind="stable")
        stamp = self._partitioned.clock.tick()
        for index in order.tolist():
            if self._monitor.room >= wanted:
                break
            side, partition = divmod(index, self._partitioned.partitions.n)
            if sizes[side, partition]:
                ours = in_memory[side]
                self._spill(side, partition, ours.within(ours.partitions == partition), stamp)
        self._partitioned.note_disk()

    def _spill(self, side: int, partition: int, tuples: MemoryTuples, stamp: int) -> None:
        state, rows = self._partitioned.state, self._partitioned.rows[side]
        nodes = state.arrays.nodes[tuples.positions]
        table = rows.take(np.ascontiguousarray(nodes["row"]), rows.schema.names).combine_chunks()
        arrived = StampClock.arrivals(state.arrays.seq[tuples.positions])
        stamped = with_stamps(table, tuples.codes, arrived, stamp, nodes["mark"] >> SLOT_SHIFT)
        self._partitioned.disk.add(side, partition, stamped, self._partitioned.index.built_to[side])
        release_values(state.arrays, side, np.unique(nodes["value"]).astype(np.int64))


# Propagation


class PropagationTask:
    """Emits the punctuations of the inputs that hold for the output (PJ-08, PJ-09).

    By Theorem 1 a punctuation may come out once no tuple of its own stream's state matches it. The rule "regular" also
    waits for the other stream to end the value.
    """

    def __init__(
        self, partitioned: PartitionedState, punctuations: PunctuationState, rule: Rule, *, is_primary: bool
    ) -> None:
        """`is_primary`: of the buckets that all emit the same ranges, this is the one that counts them."""
        self._partitioned, self._punctuations, self._rule, self._is_primary = (
            partitioned,
            punctuations,
            rule,
            is_primary,
        )

    def propagate(self) -> None:
        """Emit all punctuations that the rule allows."""
        if self._rule is Rule.NONE:
            return
        for side in range(2):
            self._propagate(side)

    def _propagate(self, side: int) -> None:
        partitioned = self._partitioned
        waiting = partitioned.index.waiting(side)
        if not waiting.size:
            return
        ready = partitioned.index.propagable(
            side, partitioned.disk.indexed_to(side), partitioned.partitions.of(waiting["low"])
        )
        if self._rule is Rule.REGULAR:
            ready = ready[self._ended_by_other(1 - side, ready)]
        is_range = ready["is_range"] != 0
        self._emit_values(side, ready[~is_range])
        self._emit_ranges(1 - side, ready[is_range])
        partitioned.index.remove(ready["slot"])

    def _ended_by_other(self, other: int, entries: lay.Records) -> Mask:
        ended = self._partitioned.ended(other, entries["low"])
        for at in np.flatnonzero(entries["is_range"]).tolist():
            ended[at] = self._partitioned.is_over(other) or self._covers(other, entries[at])
        return ended

    def _covers(self, other: int, ending: np.void) -> bool:
        """Whether the other stream has ended all of a range, by ranges that are neighbours."""
        low = int(ending["low"])
        for segment in self._partitioned.state.arrays.ranges:
            if segment["low"] <= low <= segment["high"] and segment["flags"] & (lay.EFFECT << other):
                if segment["high"] >= ending["high"]:
                    return True
                low = int(segment["high"]) + 1
        return False

    def _emit_values(self, side: int, entries: lay.Records) -> None:
        """Punctuate the output by value; tuples of the other stream with these values match nothing to come."""
        partitioned, codes = self._partitioned, np.ascontiguousarray(entries["low"])
        if not codes.size:
            return
        self._make_room(codes.size)
        arrays = partitioned.state.arrays
        indices = find_values(arrays, codes)
        known = indices[indices >= 0]
        purge_covered(arrays, 1 - side, known, np.zeros(known.size, np.uint8), partitioned.index.counts)
        both = partitioned.ended(1 - side, codes)
        reasons = np.where(both, lay.BOTH, lay.OWN_STATE)
        punctuate_values(arrays, side, codes, self._times(entries), reasons)

    def _times(self, entries: lay.Records) -> lay.Ints:
        """The times of output punctuations: not before any result so far."""
        return np.asarray(np.maximum(entries["ts"], int(self._partitioned.state.sides["newest"].max())))

    def _emit_ranges(self, other: int, entries: lay.Records) -> None:
        times = self._times(entries).tolist()
        patterns = [self._partitioned.index.patterns[slot] for slot in entries["slot"].tolist()]
        reasons = np.where(self._ended_by_other(other, entries), lay.BOTH, lay.OWN_STATE).tolist()
        ranges = [OutputRange(*each) for each in zip(patterns, times, reasons, strict=True)]
        self._partitioned.collector.add_ranges(ranges)
        self._partitioned.state.common["punctuations_out"] += len(ranges) if self._is_primary else 0

    def _make_room(self, n: int) -> None:
        state = self._partitioned.state
        before, state.quota = state.quota, max(state.quota, n)
        if state.lacks_values:
            self._punctuations.archive()
        state.make_room()
        state.quota = before
