"""Work ahead: what an iterator gives is made in a thread of its own, a few items before it is asked for."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
_MOST = 2  # items that wait; one more is in the making
_LOOK_S = 0.05  # how often a thread that is told to stop is looked after


@dataclass(frozen=True)
class _Over:
    """The last that a thread says: there is nothing more, or why there is not."""

    error: BaseException | None = None


class Ahead(Generic[T]):
    """An iterator that runs in a thread; it waits while nobody takes what it has made."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._made: Queue[T | _Over] = Queue(_MOST)
        self._stopped = False
        self._thread = Thread(target=self._work, name="punctuated", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        over = _Over()
        try:
            for item in self._items:
                self._made.put(item)
                if self._stopped:
                    return
        except BaseException as error:  # whoever reads gets it
            over = _Over(error)
        self._made.put(over)

    def next(self) -> T | _Over:
        """The next item, or the end; what went wrong in the thread is raised here."""
        item = self._made.get()
        if isinstance(item, _Over) and item.error is not None:
            raise item.error
        return item

    def close(self) -> None:
        """Stop as soon as the item in the making is done, and wait for that."""
        self._stopped = True
        while self._thread.is_alive():
            with suppress(Empty):
                self._made.get(timeout=_LOOK_S)


def side_by_side(many: Sequence[Iterator[T]]) -> Iterator[T]:
    """What all of these give, each in a thread of its own; the order depends on nothing but what each gives.

    They take turns. One that has fallen behind is waited for, while the others go on until they are a few items ahead.
    """
    threads = [Ahead(items) for items in many]
    turns = deque(threads)
    try:
        while turns:
            first = turns.popleft()
            item = first.next()
            if not isinstance(item, _Over):
                turns.append(first)
                yield item
    finally:
        for each in threads:
            each.close()
