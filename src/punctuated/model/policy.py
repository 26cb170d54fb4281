"""Events of a staged join and the policy that ties its work to them (PJ-13): `pt.Event` and `pt.Policy`."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from punctuated.errors import AlgorithmError
from punctuated.model.arguments import whole_number
from punctuated.model.window import Duration, parse_duration

Listener = Callable[[Any], None]  # of the join
Condition = Callable[[Any], bool]  # of the join: whether the listener is called
TASKS = ("disk join", "state purge", "state relocation", "index build", "propagation")
DEFAULT_COUNT = 100  # punctuations that a lazy purge, and propagation, wait for


class Event(Enum):
    """What can happen to a staged join. Several events at once are reported in this order."""

    PUNCTUATIONS_ARRIVED = "punctuations arrived"  # some have taken effect since the last look
    PURGE_THRESHOLD_REACHED = "purge threshold reached"  # as many as a lazy purge waits for
    STATE_FULL = "state full"  # there are as many tuples in memory as there may be
    STREAM_EMPTY = "stream empty"  # no stream brings anything for a while
    DISK_JOIN_ACTIVATED = "disk join activated"  # too many tuples in memory wait for nothing but a disk join
    PROPAGATION_REQUESTED = "propagation requested"  # somebody asks for punctuations (pull)
    PROPAGATION_TIME_EXPIRED = "propagation time expired"  # it is time again to emit punctuations (push)
    PROPAGATION_COUNT_REACHED = "propagation count reached"  # enough have come to emit some (push)


# Policies


@dataclass(frozen=True)
class Wish:
    """A listener for an event, to be called before or after another one, which is given by its name."""

    event: Event
    listener: Listener | str  # or one of TASKS
    when: Condition | None = None
    before: str | None = None
    after: str | None = None

    @property
    def name(self) -> str:
        """The name by which other listeners are put before or after this one."""
        return self.listener if isinstance(self.listener, str) else getattr(self.listener, "__name__", "listener")


@dataclass(frozen=True, kw_only=True)
class Policy:
    """When a staged join purges, indexes, propagates, relocates and joins what is on disk.

    Args:
        purge: "eager" purges at every punctuation; "lazy" waits until `purge_threshold` of them have come.
        purge_threshold: How many punctuations a lazy purge waits for. The default is 100.
        index: When the punctuation index is built: "eager" at every punctuation, "lazy" when it is needed.
        propagate: "push" emits output punctuations by itself; "pull" emits them only on request.
        propagate_every: For push: emit after this many punctuations. The default is 100, unless a time is given.
        propagate_after: For push: emit after this much event time.
        disk_join_after: How long all streams must be silent, in event time, before the join turns to what is on
            disk. An empty batch always counts as silence.
        relocate: Which partition goes to disk when memory is full, the "largest" or the "smallest".

    Example:
        >>> Policy(purge="lazy", purge_threshold=400).threshold
        400
    """

    purge: str = "lazy"
    purge_threshold: int | None = None
    index: str = "lazy"
    propagate: str = "push"
    propagate_every: int | None = None
    propagate_after: Duration | None = None
    disk_join_after: Duration | None = None
    relocate: str = "largest"
    wishes: tuple[Wish, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        _one_of(self.purge, "purge", "eager", "lazy")
        _one_of(self.index, "index", "eager", "lazy")
        _one_of(self.propagate, "propagate", "push", "pull")
        _one_of(self.relocate, "relocate", "largest", "smallest")
        for name in ("purge_threshold", "propagate_every"):
            if getattr(self, name) is not None:
                whole_number(getattr(self, name), name, AlgorithmError, least=1)
        for name in ("propagate_after", "disk_join_after"):
            value = getattr(self, name)
            if value is not None and parse_duration(value) <= 0:
                raise AlgorithmError(f"{name}={value!r}: give a time longer than zero")
        if self.purge == "eager" and self.purge_threshold not in (None, 1):
            raise AlgorithmError(
                f"purge_threshold={self.purge_threshold}: an eager purge waits for none; give purge='lazy'"
            )
        if self.propagate == "pull" and (self.propagate_every is not None or self.propagate_after is not None):
            raise AlgorithmError("propagate='pull' waits to be asked; leave propagate_every and propagate_after out")

    @property
    def threshold(self) -> int:
        """How many punctuations a purge waits for."""
        return 1 if self.purge == "eager" else self.purge_threshold or DEFAULT_COUNT

    @property
    def count(self) -> int | None:
        """How many punctuations a propagation waits for."""
        is_given = self.propagate_every is not None or self.propagate_after is not None or self.propagate == "pull"
        return self.propagate_every if is_given else DEFAULT_COUNT

    @property
    def interval_us(self) -> int | None:
        """How much event time a propagation waits for."""
        return None if self.propagate_after is None else parse_duration(self.propagate_after)

    @property
    def silence_us(self) -> int | None:
        """How much event time without an object counts as silence."""
        return None if self.disk_join_after is None else parse_duration(self.disk_join_after)

    def on(
        self,
        event: Event,
        listener: Listener | str,
        *,
        when: Condition | None = None,
        before: str | None = None,
        after: str | None = None,
    ) -> "Policy":
        """The same policy with one more listener: a function of the join, or the name of one of its tasks.

        It comes last, or directly `before` or `after` the listener of that name, and is called if `when` says so.

        Example:
            >>> from punctuated.model.policy import Event
            >>> Policy().on(Event.STATE_FULL, print, before="state relocation").wishes[0].name
            'print'
        """
        if not isinstance(event, Event):
            raise AlgorithmError(f"on({event!r}, …): give an event, such as pt.Event.STATE_FULL")
        if isinstance(listener, str):
            _one_of(listener, "listener", *TASKS)
        elif not callable(listener):
            raise AlgorithmError(f"on(…, {listener!r}): give a function of the join, or one of {', '.join(TASKS)}")
        if before is not None and after is not None:
            raise AlgorithmError("a listener stands before one or after one: give before= or after=, not both")
        return replace(self, wishes=(*self.wishes, Wish(event, listener, when, before, after)))


def _one_of(value: Any, name: str, *known: str) -> None:
    if value not in known:
        raise AlgorithmError(f"{name}={value!r}: give one of {', '.join(map(repr, known))}")
