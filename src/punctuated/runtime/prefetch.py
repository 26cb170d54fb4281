"""Work ahead: the items of an iterator are made in a thread of its own, a few items before they are asked for."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
_MOST = 2  # items that wait; one more is in the making
_LOOK_S = 0.05  # how often to look whether a thread has stopped


@dataclass(frozen=True)
class _End:
    """The last item of a thread: there is nothing more, or an error says why not."""

    error: BaseException | None = None


class Prefetched(Generic[T]):
    """An iterator that runs in a thread; it waits while nobody takes its items."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._made: Queue[T | _End] = Queue(_MOST)
        self._stopped = False
        self._thread = Thread(target=self._work, name="punctuated", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        over = _End()
        try:
            for item in self._items:
                self._made.put(item)
                if self._stopped:
                    return
        except BaseException as error:  # the reader gets it
            over = _End(error)
        self._made.put(over)

    def next(self) -> T | _End:
        """The next item, or the end; an error of the thread is raised here."""
        item = self._made.get()
        if isinstance(item, _End) and item.error is not None:
            raise item.error
        return item

    def close(self) -> None:
        """Stop as soon as the current item is done, and wait for that."""
        self._stopped = True
        while self._thread.is_alive():
            with suppress(Empty):
                self._made.get(timeout=_LOOK_S)


def interleave(many: Sequence[Iterator[T]]) -> Iterator[T]:
    """The items of all these iterators, each in a thread of its own; the order depends only on the items.

    They take turns. If one falls behind, the others continue until they are a few items ahead, and then wait.
    """
    threads = [Prefetched(items) for items in many]
    turns = deque(threads)
    try:
        while turns:
            first = turns.popleft()
            item = first.next()
            if not isinstance(item, _End):
                turns.append(first)
                yield item
    finally:
        for each in threads:
            each.close()
