"""Events of a join in stages (PJ-13): a monitor finds out which have occurred, a registry calls their listeners.

Who listens, in which order and under which conditions, may change at any time, also while listeners are being called.
A batch is interrupted wherever an event may occur, so that none is noticed late.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from punctuated.arrow.ipc import from_json, to_json
from punctuated.errors import AlgorithmError
from punctuated.kernels.layout import END_STREAM, FOREVER, NEVER, Objects
from punctuated.kernels.order import unpack_object
from punctuated.model.policy import Condition, Event, Listener, Policy
from punctuated.model.spec import StreamSpec
from punctuated.operator.staged.disk import DiskParts
from punctuated.snapshot.parts import NO_INTS, Content, Ints, Loaded
from punctuated.state.arrays import JoinState

_BUFFERED = 0.5  # of memory: beyond that, tuples that wait for a disk join only are too many


class Registry:
    """Ordered listeners of events (PJ-13).

    >>> registry, called = Registry(), []
    >>> registry.on(Event.STATE_FULL, "relocate", lambda join: called.append("relocate"))
    >>> registry.on(Event.STATE_FULL, "purge", lambda join: called.append("purge"), before="relocate")
    >>> registry.notify(Event.STATE_FULL, None)
    >>> called
    ['purge', 'relocate']
    """

    def __init__(self) -> None:
        self._listeners: dict[Event, list[tuple[str, Listener, Condition | None]]] = {event: [] for event in Event}

    def on(
        self,
        event: Event,
        name: str,
        listener: Listener,
        *,
        when: Condition | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> None:
        """Call a listener for an event from now on: last, or directly before or after another one."""
        listeners = list(self._listeners[event])
        index = len(listeners)
        if before is not None or after is not None:
            index = self._index(event, before or after or "") + (after is not None)
        listeners.insert(index, (name, listener, when))
        self._listeners[event] = listeners

    def off(self, event: Event, name: str) -> None:
        """No longer call the listener of that name."""
        index = self._index(event, name)
        self._listeners[event] = [each for i, each in enumerate(self._listeners[event]) if i != index]

    def names(self, event: Event) -> list[str]:
        """The listeners of an event, in order."""
        return [name for name, _, _ in self._listeners[event]]

    def notify(self, event: Event, join: object) -> None:
        """Call the listeners whose conditions hold; each condition is asked right before."""
        for listener in self._called(event, join):
            listener(join)

    def _called(self, event: Event, join: object) -> Iterator[Listener]:
        for _, listener, when in self._listeners[event]:
            if when is None or when(join):
                yield listener

    def _index(self, event: Event, name: str) -> int:
        names = self.names(event)
        if name not in names:
            known = ", ".join(map(repr, names)) or "nobody"
            raise AlgorithmError(f"no listener {name!r} of the event {event.value!r}; there: {known}")
        return names.index(name)


# The monitor


class Monitor:
    """Parameters of a join as it runs, and which events follow from them under its policy (PJ-13)."""

    def __init__(self, policy: Policy, state: JoinState, disk: DiskParts) -> None:
        self.policy, self._state, self._disk = policy, state, disk
        self.limit: int | None = None  # of tuples in memory
        self.arrived = 0  # punctuations that took effect since the last observation
        self.since_propagation = 0  # punctuations that took effect since the last propagation
        self.propagated_at: int | None = None  # in event time
        self.is_silent = False
        self.is_requested = False
        self.buffered = 0  # tuples in the purge buffers, as far as purges have found them

    @property
    def in_memory(self) -> tuple[int, ...]:
        """Tuples in memory, of each side."""
        return tuple(self._state.sides["live"].tolist())

    @property
    def on_disk(self) -> tuple[int, ...]:
        """Tuples on disk, of each side."""
        return tuple(self._disk.tuples.sum(axis=1).tolist())

    @property
    def room(self) -> int:
        """How many more tuples memory may hold."""
        return FOREVER if self.limit is None else self.limit - int(self._state.sides["live"].sum())

    @property
    def since_purge(self) -> int:
        """Punctuations that took effect since the last purge."""
        return int(self._state.common["n_queued"][0])

    @property
    def time(self) -> int:
        """The time of the last object, on either side."""
        return int(self._state.sides["newest"].max())

    @property
    def due_at(self) -> int | None:
        """When a propagation by time is due."""
        interval = self.policy.interval_us
        return None if interval is None or self.propagated_at is None else self.propagated_at + interval

    # Events

    def observe(self, n_new: int) -> None:
        """So many punctuations have taken effect since the last observation; time goes on."""
        self.arrived = n_new
        self.since_propagation += n_new
        if self.propagated_at is None and self.time != NEVER:
            self.propagated_at = self.time

    def note_propagation(self) -> None:
        """All punctuations that could be propagated were."""
        self.since_propagation, self.is_requested, self.propagated_at = 0, False, self.time

    def has_occurred(self, event: Event) -> bool:
        policy = self.policy
        if event is Event.PUNCTUATIONS_ARRIVED:
            return self.arrived > 0
        if event is Event.PURGE_THRESHOLD_REACHED:
            return self.since_purge >= policy.threshold
        if event is Event.STATE_FULL:
            return self.room <= 0
        if event is Event.STREAM_EMPTY:
            return self.is_silent
        if event is Event.DISK_JOIN_ACTIVATED:
            return self.limit is not None and self.buffered > _BUFFERED * self.limit
        if event is Event.PROPAGATION_REQUESTED:
            return self.is_requested
        if event is Event.PROPAGATION_TIME_EXPIRED:
            return self.due_at is not None and self.time >= self.due_at
        return policy.count is not None and self.since_propagation >= policy.count

    # What outlives a batch

    def save(self) -> Content:
        """What was counted since the last propagation and purge."""
        counted = [self.since_propagation, self.propagated_at, self.is_requested, self.buffered]
        return Content({"counted": to_json(counted)})

    def load(self, saved: Loaded) -> None:
        """Go on counting."""
        self.since_propagation, self.propagated_at, self.is_requested, self.buffered = from_json(saved.plain["counted"])


# Where a batch must be interrupted, so that events are noticed in time


class Interruptions:
    """The objects of a batch before or after which an event may occur."""

    def __init__(self, streams: Sequence[StreamSpec], silence_us: int | None) -> None:
        self._always_end = [stream.unique or stream.clustered for stream in streams]
        self._silence_us = silence_us
        self.silences, self.ends, self._times, self._endings = (NO_INTS for _ in range(4))

    def begin(self, order: Ints, inputs: Sequence[Objects]) -> None:
        """A batch begins."""
        position, is_punctuation, side = unpack_object(order)
        self._times = np.empty(order.size, np.int64)
        is_end = np.zeros(order.size, np.bool_)
        may_end = is_punctuation != 0
        for stream, objects in enumerate(inputs):
            ours = side == stream
            punctuations = ours & (is_punctuation != 0)
            tuples = ours & ~punctuations
            self._times[tuples] = objects.ts[position[tuples]]
            self._times[punctuations] = objects.punctuation_ts[position[punctuations]]
            is_end[punctuations] = objects.punctuation_kind[position[punctuations]] == END_STREAM
            may_end |= ours & self._always_end[stream]
        self.ends = np.flatnonzero(is_end)
        self._endings = np.cumsum(may_end)
        gaps = np.diff(self._times) >= (FOREVER if self._silence_us is None else self._silence_us)
        self.silences = np.flatnonzero(gaps) + 1

    def next_stop(self, at: int, stop: int) -> int:
        """The next object that follows a silence or ends a stream, or `stop` if that comes before."""
        for indices in (self.silences, self.ends):
            following = np.searchsorted(indices, at, side="right")
            if following < indices.size:
                stop = min(stop, int(indices[following]))
        return stop

    def after_endings(self, at: int, n: int) -> int:
        """Behind the object with the n-th ending from `at` on, if each object that may end a value does."""
        before = int(self._endings[at - 1]) if at else 0
        return int(np.searchsorted(self._endings, before + n)) + 1

    def after_time(self, time: int) -> int:
        """Behind the first object at or after a time."""
        return int(np.searchsorted(self._times, time)) + 1
