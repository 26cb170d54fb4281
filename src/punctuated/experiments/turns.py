"""Turns: queries that run at the same time, but only one of them at a moment, a micro-batch each.

Their micro-batches can be compared one by one, a moment apart: a slow spell of the machine hits all of them. A query
takes its turn when a micro-batch begins, and keeps it until it asks again: for the job, the commit, and the plan of the
next micro-batch.

    one     |  0  | wait  |  1  | wait  |  2  |
    other   wait  |   0   | wait |  1   | wait |  2  |
"""

from collections import deque
from collections.abc import Sequence
from threading import Condition
from time import perf_counter


class Turns:
    """Who may run, and how long each turn took."""

    def __init__(self, names: Sequence[str]) -> None:
        self.seconds: dict[str, list[float]] = {name: [] for name in names}
        self._queue = deque(names)  # the first one may run
        self._running: str | None = None
        self._began = 0.0
        self._changed = Condition()

    def take(self, name: str) -> None:
        """End the turn of this name, if it has one, and wait for the next."""
        with self._changed:
            self._end(name)
            self._changed.wait_for(lambda: self._is_free_for(name))
            self._running, self._began = name, perf_counter()

    def leave(self, name: str) -> None:
        """There are no more turns of this name; who waits for one goes on at once."""
        with self._changed:
            self._end(name)
            if name in self._queue:
                self._queue.remove(name)
            self._changed.notify_all()

    def _is_free_for(self, name: str) -> bool:
        return name not in self._queue or (self._running is None and self._queue[0] == name)

    def _end(self, name: str) -> None:
        if self._running == name:
            self.seconds[name].append(perf_counter() - self._began)
            self._running = None
            self._queue.rotate(-1)
            self._changed.notify_all()
