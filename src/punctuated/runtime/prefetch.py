"""Prefetching: a thread makes the items of an iterator a few items before they are asked for.

The items and their order are those of the iterator; an error is raised where the item would have been read. A thread
waits while nobody takes its items, so only a few of them are in memory.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")
_MOST = 2  # finished items that wait to be taken; one more is being made
_POLL_S = 0.05  # how often to look whether a thread has stopped


@dataclass(frozen=True)
class _End:
    """The last thing a thread puts out: there are no more items, because of an error if there is one."""

    error: BaseException | None = None


class Prefetched(Generic[T]):
    """An iterator that runs in a thread of its own, a few items ahead of its reader."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._made: Queue[T | _End] = Queue(_MOST)
        self._stopped = False
        self._thread = Thread(target=self._work, name="punctuated", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        end = _End()
        try:
            for item in self._items:
                self._made.put(item)
                if self._stopped:
                    return
        except BaseException as error:  # the reader gets it
            end = _End(error)
        self._made.put(end)

    def next(self) -> T | _End:
        """The next item, or the end; raises what the iterator has raised in its thread."""
        item = self._made.get()
        if isinstance(item, _End) and item.error is not None:
            raise item.error
        return item

    def close(self) -> None:
        """Stop the thread when its current item is done, and wait for that."""
        self._stopped = True
        while self._thread.is_alive():
            with suppress(Empty):
                self._made.get(timeout=_POLL_S)


def interleave(iterators: Sequence[Iterator[T]]) -> Iterator[T]:
    """The items of these iterators in turn; each iterator runs in a thread of its own.

    The order depends only on the items. If one iterator falls behind, the others continue until they are a few items
    ahead, and then wait.
    """
    threads = [Prefetched(items) for items in iterators]
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
