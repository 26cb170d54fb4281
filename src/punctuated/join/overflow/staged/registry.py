"""Which listeners are called for an event, in which order and under which conditions; it may change at any time."""

from collections.abc import Iterator

from punctuated.errors import AlgorithmError
from punctuated.model.event import Event
from punctuated.model.policy import Condition, Listener


class Registry:
    """Ordered listeners of events (PJ-13).

    >>> registry, called = Registry(), []
    >>> registry.on(Event.STATE_FULL, "relocate", lambda join: called.append("relocate"))
    >>> registry.on(Event.STATE_FULL, "purge", lambda join: called.append("purge"), before="relocate")
    >>> registry.tell(Event.STATE_FULL, None)
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
        """Call a listener for an event, last or directly before or after another one; from its next turn on."""
        listeners = list(self._listeners[event])
        place = len(listeners)
        if before is not None or after is not None:
            place = self._place(event, before or after or "") + (after is not None)
        listeners.insert(place, (name, listener, when))
        self._listeners[event] = listeners

    def off(self, event: Event, name: str) -> None:
        """No longer call the listener of that name."""
        place = self._place(event, name)
        self._listeners[event] = [each for i, each in enumerate(self._listeners[event]) if i != place]

    def names(self, event: Event) -> list[str]:
        """Who listens, in order."""
        return [name for name, _, _ in self._listeners[event]]

    def tell(self, event: Event, join: object) -> None:
        """Call those whose conditions hold, each when its turn comes."""
        for listener in self._called(event, join):
            listener(join)

    def _called(self, event: Event, join: object) -> Iterator[Listener]:
        for _, listener, when in self._listeners[event]:
            if when is None or when(join):
                yield listener

    def _place(self, event: Event, name: str) -> int:
        names = self.names(event)
        if name not in names:
            known = ", ".join(map(repr, names)) or "nobody"
            raise AlgorithmError(f"no listener {name!r} of the event {event.value!r}; there: {known}")
        return names.index(name)
