"""The monitor: parameters of a join as it runs, and which events follow from them (PJ-13)."""

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.overflow.staged.disk_parts import DiskParts
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.saved import Content, Loaded
from punctuated.kernels.layout import FOREVER, NEVER
from punctuated.model.event import Event
from punctuated.model.policy import Policy

_BUFFERED = 0.5  # of memory: beyond that, tuples that wait for a disk join only are too many


class Monitor:
    """What is measured, and what the policy says of it. The join sets what it alone knows."""

    def __init__(self, policy: Policy, state: JoinState, disk: DiskParts) -> None:
        self.policy, self._state, self._disk = policy, state, disk
        self.limit: int | None = None  # of tuples in memory
        self.arrived = 0  # punctuations that took effect since the last look
        self.since_propagation = 0  # and since the last propagation
        self.propagated_at: int | None = None  # in event time
        self.is_silent = False
        self.is_requested = False
        self.buffered = 0  # tuples in the purge buffers, as far as seen

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

    # What outlives a batch

    def save(self) -> Content:
        """What was counted since events of earlier batches."""
        counted = [self.since_propagation, self.propagated_at, self.is_requested, self.buffered]
        return Content({"counted": to_json(counted)})

    def load(self, saved: Loaded) -> None:
        """Go on counting."""
        self.since_propagation, self.propagated_at, self.is_requested, self.buffered = from_json(saved.plain["counted"])

    # A look

    def look(self, fresh: int) -> None:
        """So many punctuations have taken effect; time goes on."""
        self.arrived = fresh
        self.since_propagation += fresh
        if self.propagated_at is None and self.time != NEVER:
            self.propagated_at = self.time

    def note_propagation(self) -> None:
        """What could be said has been said."""
        self.since_propagation, self.is_requested, self.propagated_at = 0, False, self.time

    def sees(self, event: Event) -> bool:
        """Whether this has happened."""
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
