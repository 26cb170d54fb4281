"""Which task listens to which event, unless a policy says otherwise (PJ-13)."""

from typing import TYPE_CHECKING

from punctuated.join.overflow.staged.registry import Registry
from punctuated.model.event import Event
from punctuated.model.policy import Listener, Policy

if TYPE_CHECKING:
    from punctuated.join.overflow.staged.staged_join import StagedJoin

_PROPAGATIONS = (Event.PROPAGATION_REQUESTED, Event.PROPAGATION_TIME_EXPIRED, Event.PROPAGATION_COUNT_REACHED)


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
