"""A join in stages, driven by events: XJoin, and PJoin on top of it (PJ-13).

The loop joins what is in memory, with its own purges and propagation switched off. After each part of a batch the
monitor observes the join, and the registry calls the tasks that listen to the events that have occurred: disk join,
state purge, state relocation, index build, propagation. Which task listens to which event the policy decides (see
`wire`), and by the listeners themselves, at any time.

Invariant: when the streams have ended, every pair has come out, and each once. A part of a batch ends where an event
may occur, so tasks run neither too early nor too late.
"""

from collections.abc import Sequence

from punctuated.kernels.layout import Objects
from punctuated.kernels.order import unpack
from punctuated.model.pattern import Pattern
from punctuated.model.policy import Event, Listener, Policy
from punctuated.operator.staged.disk import DiskParts
from punctuated.operator.staged.events import Interruptions, Monitor, Registry
from punctuated.operator.staged.memory import MemoryLimit, Partitions, StampClock
from punctuated.operator.staged.punctuation_index import PunctuationIndex
from punctuated.operator.staged.state import PartitionedState
from punctuated.operator.staged.tasks import DiskJoin, PropagationTask, StatePurge, StateRelocation
from punctuated.punctuations.pending_ranges import PendingRange
from punctuated.snapshot.parts import Ints, SavedPart
from punctuated.spill.policy import Stored
from punctuated.storage.scratch import TableStore

_PROPAGATIONS = (Event.PROPAGATION_REQUESTED, Event.PROPAGATION_TIME_EXPIRED, Event.PROPAGATION_COUNT_REACHED)


# Who listens


def wire(registry: Registry, policy: Policy, join: "StagedJoin", *, by_punctuation: bool) -> None:
    """Register the tasks as PJ-13 has them, and then the listeners of the policy."""
    tasks = _tasks(join)

    def usual(event: Event, name: str, task: Listener | None = None) -> None:
        registry.on(event, name, task or tasks[name])

    usual(Event.STREAM_EMPTY, "disk join")
    usual(Event.DISK_JOIN_ACTIVATED, "disk join")
    if by_punctuation:
        if policy.index == "eager":
            usual(Event.PUNCTUATIONS_ARRIVED, "index build")
        usual(Event.PURGE_THRESHOLD_REACHED, "state purge")
        usual(Event.STATE_FULL, "state purge", lambda _: join.purge_all())
        for event in _PROPAGATIONS:
            usual(event, "index build")
            usual(event, "propagation")
    usual(Event.STATE_FULL, "state relocation")
    for wish in policy.wishes:
        listener = tasks[wish.listener] if isinstance(wish.listener, str) else wish.listener
        registry.on(wish.event, wish.name, listener, when=wish.when, before=wish.before, after=wish.after)


def _tasks(join: "StagedJoin") -> dict[str, Listener]:
    return {
        "disk join": lambda _: join.join_disk(),
        "state purge": lambda _: join.purge(),
        "state relocation": lambda _: join.relocate(),
        "index build": lambda _: join.build_index(),
        "propagation": lambda _: join.propagate(),
    }


# The join


class StagedJoin:
    """The policy that spills partitions, which later stages join.

    Listeners are given this object: tasks are its methods, and `monitor` has the parameters.
    """

    def __init__(self, stored: Stored, store: TableStore) -> None:
        setup, state = stored.setup, stored.state
        spec, policy = setup.spec, setup.spec.policy
        assert policy is not None
        memory = None if spec.memory is None else spec.memory.share(setup.place.n)
        self._limit = MemoryLimit(memory, state)
        partitions = Partitions.for_memory(self._limit.tuples(()))
        disk = DiskParts(partitions, self._limit.piece_size, store)
        index, clock = PunctuationIndex(stored.codec), StampClock(state)
        self._partitioned = PartitionedState(
            state,
            stored.rows,
            stored.collector,
            partitions,
            disk,
            index,
            clock,
            by_punctuation=spec.algorithm.by_punctuation,
        )
        self.monitor, self.registry = Monitor(policy, state, disk), Registry()
        self._interruptions = Interruptions(spec.streams, policy.silence_us)
        self._purge = StatePurge(self._partitioned, self.monitor)
        self._relocation = StateRelocation(self._partitioned, self.monitor, largest=policy.relocate == "largest")
        self._disk_join = DiskJoin(self._partitioned, self._purge)
        rule, is_primary = spec.algorithm.propagation, setup.place.is_primary
        self._propagation = PropagationTask(self._partitioned, stored.punctuations, rule, is_primary=is_primary)
        self._n_collected = 0  # of the endings that wait for a purge, those that are in the index
        self._ranges: list[tuple[int, PendingRange]] = []  # those that took effect since the last observation
        self._cleaned_before: int | None = None  # the index of an object that ends a stream
        self._is_empty, self._over = False, [False, False]
        self.parts: dict[str, SavedPart] = {
            "disk parts": disk,
            "punctuation index": index,
            "stages": self._partitioned,
            "monitor": self.monitor,
        }
        wire(self.registry, policy, self, by_punctuation=spec.algorithm.by_punctuation)

    @property
    def nbytes(self) -> int:
        """Nothing that is worth counting: what is kept of a block is as long as one tuple."""
        return 0

    # A batch

    def begin(self, order: Ints, inputs: Sequence[Objects]) -> None:
        """A batch begins: its objects, in the order of processing."""
        self._interruptions.begin(order, inputs)
        self.monitor.limit = self._limit.tuples(self._partitioned.rows)
        self._n_collected = self.monitor.since_purge
        self._over = [self._partitioned.is_over(side) for side in range(2)]
        self._is_empty, self._cleaned_before = order.size == 0, None

    def before(self, at: int, stop: int) -> int:
        """Up to the next object after which an event may occur; no object while parts on disk are being joined.

        Before a stream ends, everything on disk meets everything, since the end drops the other stream's tuples.
        """
        stops, monitor = self._interruptions, self.monitor
        if at in stops.ends and self._cleaned_before != at:
            self._cleaned_before = at
            self._disk_join.start(clean_up=True)
        if self._disk_join.is_running:
            return at
        stop = min(stops.next_stop(at, stop), at + max(1, monitor.room))
        if monitor.due_at is not None:
            stop = min(stop, max(at + 1, stops.after_time(monitor.due_at)))
        return min(stop, stops.after_endings(at, self._endings_to_come()))

    def _endings_to_come(self) -> int:
        """How many endings may come before an event occurs."""
        policy, monitor = self.monitor.policy, self.monitor
        if policy.index == "eager":
            return 1
        counts = [policy.threshold - monitor.since_purge]
        if policy.count is not None:
            counts.append(policy.count - monitor.since_propagation)
        return max(1, min(counts))

    def after(self, at: int) -> None:
        """One more partition of a disk join, or else the events that have occurred."""
        if self._disk_join.is_running:
            self._disk_join.step()
            return
        self._handle_events(is_silent=at in self._interruptions.silences)

    def finish(self) -> None:
        """The events at the end of the batch; once all streams are over, all that can be propagated is."""
        self._disk_join.run()
        self._handle_events(is_silent=self._is_empty)
        self._disk_join.run()
        if all(self._partitioned.is_over(side) for side in range(2)):
            self._purge.purge_all()
            self._n_collected = 0
            self.build_index()
            self.propagate()

    def _handle_events(self, *, is_silent: bool) -> None:
        self._drop_for_ends()
        self.monitor.observe(self._collect())
        self.monitor.is_silent = is_silent
        for event in Event:
            if self.monitor.has_occurred(event):
                self.registry.notify(event, self)

    def _collect(self) -> int:
        """Enter the endings that took effect since the last observation into the index; returns how many."""
        state, index = self._partitioned.state, self._partitioned.index
        values, by = unpack(state.arrays.queue[self._n_collected : self.monitor.since_purge])
        codes = state.arrays.values["code"][values]
        for side in range(2):
            ours = by == side
            index.add_values(side, codes[ours], state.arrays.endings["ended_ts"][values[ours], side])
        for side, ending in self._ranges:
            index.add_range(side, ending)
        n_new = values.size + len(self._ranges)
        self._n_collected, self._ranges = self.monitor.since_purge, []
        return int(n_new)

    def _drop_for_ends(self) -> None:
        """Drop tuples of the other stream when one has ended: they have met all of its tuples."""
        partitioned = self._partitioned
        for side in range(2):
            if partitioned.is_over(side) and not self._over[side]:
                partitioned.disk.remove_side(1 - side)
                partitioned.index.forget_tuples(1 - side)
                partitioned.note_disk()
                self._over[side] = True

    def before_range(self, patterns: tuple[Pattern, ...]) -> None:
        """Nothing: a later stage finds out which tuples on disk a range covers."""

    def after_range(self, side: int, ending: PendingRange) -> None:
        """The range enters the punctuation index with the next observation."""
        self._ranges.append((side, ending))

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
        """Disk join: comes before all further objects."""
        self._disk_join.start(clean_up=False)
        self.monitor.buffered = 0

    def build_index(self) -> None:
        """Index build: compare tuples in memory that have no punctuation with new ones."""
        self._partitioned.build_index()

    def propagate(self) -> None:
        """Propagation: emit the punctuations that may come out."""
        self._propagation.propagate()
        self.monitor.note_propagation()

    def request_propagation(self) -> None:
        """Pull: have propagation done after the objects that are being processed, or in the next batch."""
        self.monitor.is_requested = True
