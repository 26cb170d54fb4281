"""The first stage of a join in stages: tuples in memory meet as in PWJoin; who purges and propagates stands aside."""

from collections.abc import Sequence

import numpy as np

from punctuated.kernels import layout as lay
from punctuated.kernels.layout import Objects
from punctuated.kernels.order import unpack, unpack_object
from punctuated.model.memory import Memory
from punctuated.model.pattern import Pattern
from punctuated.model.policy import Event, Listener, Policy
from punctuated.model.spec import StreamSpec
from punctuated.operator.staged.disk import DiskParts, Partitions, StampClock
from punctuated.operator.staged.events import Monitor, Registry
from punctuated.operator.staged.punctuation_index import PartedState, PunctuationIndex
from punctuated.operator.staged.tasks import DiskJoin, Propagation, StatePurge, StateRelocation
from punctuated.punctuations.pending_ranges import Pending
from punctuated.snapshot.parts import Ints, Part
from punctuated.spill.policy import Stored
from punctuated.state.arrays import JoinState
from punctuated.state.budget import tuples_within
from punctuated.state.rows import RowStore
from punctuated.storage.scratch import TableStore

_FEWEST = 4096  # of the disk, read at a time
_ROW_BYTES = 64  # as long as no row is known
_NOTHING = np.empty(0, np.int64)
_PROPAGATIONS = (Event.PROPAGATION_REQUESTED, Event.PROPAGATION_TIME_EXPIRED, Event.PROPAGATION_COUNT_REACHED)


# How many tuples may be in memory: as given, or as many as so many bytes hold.


class MemoryLimit:
    """A limit of tuples; rows of other widths change what fits into bytes."""

    def __init__(self, memory: Memory | None, state: JoinState) -> None:
        self._memory, self._state = memory, state
        self._row_bytes = _ROW_BYTES
        self._last: int | None = None

    def tuples(self, rows: Sequence[RowStore]) -> int | None:
        """The most that may be in memory; a batch brings the `rows` at hand."""
        if self._memory is None:
            return None
        self._row_bytes = max([self._row_bytes, *(int(each.bytes_per_row) for each in rows)])
        self._last = tuples_within(self._memory, self._state, self._row_bytes)
        return self._last

    def portion(self) -> int:
        """How many tuples may be read from disk at a time, beside those in memory."""
        return _FEWEST if self._last is None else max(_FEWEST, self._last // 2)


# Where the objects of a batch must be interrupted, so that events are told in time.


class Timetable:
    """The objects of a batch, as far as somebody may have to look after one."""

    def __init__(self, streams: Sequence[StreamSpec], silence_us: int | None) -> None:
        self._always_end = [stream.unique or stream.clustered for stream in streams]
        self._silence_us = silence_us
        self.silences, self.ends, self._times, self._endings = _NOTHING, _NOTHING, _NOTHING, _NOTHING

    def begin(self, order: Ints, inputs: Sequence[lay.Objects]) -> None:
        """Another batch."""
        position, is_punctuation, side = unpack_object(order)
        self._times = np.empty(order.size, np.int64)
        is_end = np.zeros(order.size, np.bool_)
        may_end = is_punctuation != 0
        for number, objects in enumerate(inputs):
            ours = side == number
            said = ours & (is_punctuation != 0)
            self._times[ours & ~said] = objects.ts[position[ours & ~said]]
            self._times[said] = objects.punctuation_ts[position[said]]
            is_end[said] = objects.punctuation_kind[position[said]] == lay.END_STREAM
            may_end |= ours & self._always_end[number]
        self.ends = np.flatnonzero(is_end)
        self._endings = np.cumsum(may_end)
        gaps = np.diff(self._times) >= (lay.FOREVER if self._silence_us is None else self._silence_us)
        self.silences = np.flatnonzero(gaps) + 1

    def next_stop(self, at: int, stop: int) -> int:
        """The next object before which a silence lies, or by which a stream ends, or `stop`."""
        for places in (self.silences, self.ends):
            following = np.searchsorted(places, at, side="right")
            if following < places.size:
                stop = min(stop, int(places[following]))
        return stop

    def after_endings(self, at: int, n: int) -> int:
        """Behind the object that brings the n-th ending from `at` on, if each one that may brings one."""
        before = int(self._endings[at - 1]) if at else 0
        return int(np.searchsorted(self._endings, before + n)) + 1

    def after_time(self, time: int) -> int:
        """Behind the first object that is not before a time."""
        return int(np.searchsorted(self._times, time)) + 1


# Which task listens to which event, unless a policy says otherwise (PJ-13).


def wire(registry: Registry, policy: Policy, join: "StagedJoin", *, by_punctuation: bool) -> None:
    """The usual listeners, and then those of the policy."""
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


# A join in stages, driven by events: XJoin, and PJoin on top of it (PJ-13).
#
# The loop joins what is in memory. After each stretch of objects the monitor looks, and tells the registry what has
# happened; the registry calls the tasks that listen: disk join, state purge, state relocation, index build,
# propagation. Which task listens to which event, the policy says (see `wiring`), and so may the listeners themselves,
# at any time.


class StagedJoin:
    """The stages of one driver. Listeners are given this object: tasks are methods, `monitor` has the parameters."""

    def __init__(self, stored: Stored, store: TableStore) -> None:
        setup, state = stored.setup, stored.state
        spec, policy = setup.spec, setup.spec.policy
        assert policy is not None
        memory = None if spec.memory is None else spec.memory.share(setup.place.n)
        self._limit = MemoryLimit(memory, state)
        partitions = Partitions.for_memory(self._limit.tuples(()))
        disk = DiskParts(partitions, self._limit.portion, store)
        index, clock = PunctuationIndex(stored.codec), StampClock(state)
        self._parted = PartedState(
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
        self._timetable = Timetable(spec.streams, policy.silence_us)
        self._purge = StatePurge(self._parted, self.monitor)
        self._relocation = StateRelocation(self._parted, self.monitor, largest=policy.relocate == "largest")
        self._disk_join = DiskJoin(self._parted, self._purge)
        rule, speaks = spec.algorithm.propagation, setup.place.is_primary
        self._propagation = Propagation(self._parted, stored.statements, rule, is_primary=speaks)
        self._n_collected = 0  # of the endings that wait for a purge, those that are in the index
        self._ranges: list[tuple[int, Pending]] = []  # that took effect since the last look
        self._cleaned_before: int | None = None  # the place of an object that ends a stream
        self._is_empty, self._over = False, [False, False]
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

    def before_range(self, patterns: tuple[Pattern, ...]) -> None:
        """Nothing to do: what a range has ended on disk is found out in stages."""

    def after_range(self, side: int, ending: Pending) -> None:
        """The range enters the punctuation index with the next look."""
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
