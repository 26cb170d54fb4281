"""A join in stages, driven by events: XJoin, and PJoin on top of it (PJ-13).

The loop joins what is in memory. After each stretch of objects the monitor looks, and tells the registry what has
happened; the registry calls the tasks that listen: disk join, state purge, state relocation, index build, propagation.
Which task listens to which event, the policy says (see `wiring`), and so may the listeners themselves, at any time.
"""

from collections.abc import Sequence

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.output.collector import Collector
from punctuated.join.overflow.scratch import TableStore
from punctuated.join.overflow.staged.disk_join import DiskJoin
from punctuated.join.overflow.staged.disk_parts import DiskParts
from punctuated.join.overflow.staged.memory_limit import MemoryLimit
from punctuated.join.overflow.staged.monitor import Monitor
from punctuated.join.overflow.staged.parted_state import PartedState
from punctuated.join.overflow.staged.partitions import Partitions
from punctuated.join.overflow.staged.propagation import Propagation
from punctuated.join.overflow.staged.punctuation_index import PunctuationIndex
from punctuated.join.overflow.staged.registry import Registry
from punctuated.join.overflow.staged.stamps import StampClock
from punctuated.join.overflow.staged.state_purge import StatePurge
from punctuated.join.overflow.staged.state_relocation import StateRelocation
from punctuated.join.overflow.staged.timetable import Timetable
from punctuated.join.overflow.staged.wiring import wire
from punctuated.join.setup import DriverSetup
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.pending_ranges import Pending
from punctuated.join.state.rows import RowStore
from punctuated.join.state.saved import Ints, Part
from punctuated.join.state.statements import Statements
from punctuated.kernels.layout import Objects
from punctuated.kernels.packed import unpack
from punctuated.model.event import Event


class StagedJoin:
    """The stages of one driver. Listeners are given this object: tasks are methods, `monitor` has the parameters."""

    def __init__(
        self,
        setup: DriverSetup,
        codec: KeyCodec,
        state: JoinState,
        rows: tuple[RowStore, ...],
        statements: Statements,
        collector: Collector,
        tables: TableStore,
    ) -> None:
        spec, policy = setup.spec, setup.spec.policy
        assert policy is not None
        memory = None if spec.memory is None else spec.memory.share(setup.place.n)
        self._limit = MemoryLimit(memory, state)
        partitions = Partitions.for_memory(self._limit.tuples(()))
        disk = DiskParts(partitions, self._limit.portion, tables)
        index, clock = PunctuationIndex(codec), StampClock(state)
        self._parted = PartedState(
            state, rows, collector, partitions, disk, index, clock, by_punctuation=spec.algorithm.by_punctuation
        )
        self.monitor, self.registry = Monitor(policy, state, disk), Registry()
        self._timetable = Timetable(spec.streams, policy.silence_us)
        self._purge = StatePurge(self._parted, self.monitor)
        self._relocation = StateRelocation(self._parted, self.monitor, largest=policy.relocate == "largest")
        self._disk_join = DiskJoin(self._parted, self._purge)
        rule, speaks = spec.algorithm.propagation, setup.place.speaks_for_all
        self._propagation = Propagation(self._parted, statements, rule, speaks_for_all=speaks)
        self._n_collected = 0  # of the endings that wait for a purge, those that are in the index
        self._ranges: list[tuple[int, Pending]] = []  # that took effect since the last look
        self._cleaned_before: int | None = None  # the place of an object that ends a stream
        self._is_empty, self._over = False, [False, False]
        statements.ranges.watch = lambda side, ending: self._ranges.append((side, ending))
        self.parts: dict[str, Part] = {
            "disk parts": disk,
            "punctuation index": index,
            "stages": self._parted,
            "monitor": self.monitor,
        }
        wire(self.registry, policy, self, by_punctuation=spec.algorithm.by_punctuation)

    @property
    def nbytes(self) -> int:
        """Next to nothing: of what is on disk, how many tuples are in each part."""
        return 0

    # The driver's questions

    def begin(self, order: Ints, inputs: Sequence[Objects]) -> None:
        """A batch begins: its objects, in the order of processing."""
        self._timetable.begin(order, inputs)
        self.monitor.limit = self._limit.tuples(self._parted.rows)
        self._n_collected = self.monitor.since_purge
        self._over = [self._parted.is_over(side) for side in range(2)]
        self._is_empty, self._cleaned_before = order.size == 0, None

    def before(self, at: int, stop: int) -> int:
        """Up to the next object after which somebody must look; none while parts on disk are being joined.

        Before a stream ends, its tuples meet all that is left, since the end lets go of it.
        """
        table, monitor = self._timetable, self.monitor
        if at in table.ends and self._cleaned_before != at:
            self._cleaned_before = at
            self._disk_join.start(clean_up=True)
        if self._disk_join.is_running:
            return at
        stop = min(table.next_stop(at, stop), at + max(1, monitor.room))
        if monitor.due_at is not None:
            stop = min(stop, max(at + 1, table.after_time(monitor.due_at)))
        return min(stop, table.after_endings(at, self._endings_to_come()))

    def _endings_to_come(self) -> int:
        """How many endings may come before somebody must look."""
        policy, monitor = self.monitor.policy, self.monitor
        if policy.index == "eager":
            return 1
        counts = [policy.threshold - monitor.since_purge]
        if policy.count is not None:
            counts.append(policy.count - monitor.since_propagation)
        return max(1, min(counts))

    def after(self, at: int) -> None:
        """One more partition of a disk join, or else what has happened is told."""
        if self._disk_join.is_running:
            self._disk_join.step()
            return
        self._look(is_silent=at in self._timetable.silences)

    def finish(self) -> None:
        """What the end of the batch has brought; and once all streams are over, all that can be said is said."""
        self._disk_join.run()
        self._look(is_silent=self._is_empty)
        self._disk_join.run()
        if all(self._parted.is_over(side) for side in range(2)):
            self._purge.purge_all()
            self._n_collected = 0
            self.build_index()
            self.propagate()

    def _look(self, *, is_silent: bool) -> None:
        self._let_go_for_ends()
        self.monitor.look(self._collect())
        self.monitor.is_silent = is_silent
        for event in Event:
            if self.monitor.sees(event):
                self.registry.tell(event, self)

    def _collect(self) -> int:
        """Endings that took effect since the last look enter the index; returns how many there are."""
        state, index = self._parted.state, self._parted.index
        values, by = unpack(state.arrays.queue[self._n_collected : self.monitor.since_purge])
        codes = state.arrays.values["code"][values]
        for side in range(2):
            ours = by == side
            index.add_values(side, codes[ours], state.arrays.endings["ended_ts"][values[ours], side])
        for side, ending in self._ranges:
            index.add_range(side, ending)
        n_fresh = values.size + len(self._ranges)
        self._n_collected, self._ranges = self.monitor.since_purge, []
        return int(n_fresh)

    def _let_go_for_ends(self) -> None:
        """A stream has ended: the other's tuples have met all of its tuples, so nothing of them need be kept."""
        parted = self._parted
        for side in range(2):
            if parted.is_over(side) and not self._over[side]:
                for chunk in parted.disk.chunks(1 - side):
                    parted.disk.remove(chunk)
                parted.index.forget_tuples(1 - side)
                parted.note_disk()
                self._over[side] = True

    # The tasks

    def purge(self) -> None:
        """State purge: the values that were ended since the last one."""
        self._purge.purge_ended()
        self._n_collected = 0

    def purge_all(self) -> None:
        """State purge: all values in memory, whenever they were ended."""
        self._purge.purge_all()
        self._n_collected = 0

    def relocate(self) -> None:
        """State relocation, if memory is full."""
        if self.monitor.room <= 0:
            self._relocation.relocate()

    def join_disk(self) -> None:
        """Disk join: begins with the next stretch, and comes before all further objects."""
        self._disk_join.start(clean_up=False)
        self.monitor.buffered = 0

    def build_index(self) -> None:
        """Index build: tuples in memory without a punctuation are compared with new ones."""
        self._parted.build_index()

    def propagate(self) -> None:
        """Propagation: the output is told what it may be told."""
        self._propagation.propagate()
        self.monitor.note_propagation()

    def request_propagation(self) -> None:
        """Pull: have it done after the objects that are being processed, or in the next batch."""
        self.monitor.is_requested = True
