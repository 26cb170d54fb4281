"""How far a run is: it reports the share of itself that is done, from 0 to 1, to whoever listens."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Progress = Callable[[float], None]
_Item = TypeVar("_Item")


def silent(done: float) -> None:
    """Nobody listens."""


def part(progress: Progress, i: int, n: int) -> Progress:
    """The progress of the i-th of n equal parts of a run.

    >>> reported: list[float] = []
    >>> part(reported.append, 1, 4)(0.5)
    >>> reported
    [0.375]
    """
    return lambda done: progress((i + done) / n)


def each_part(progress: Progress, items: Sequence[_Item]) -> Iterator[tuple[_Item, Progress]]:
    """Each item with the progress of its part of the run, which is done when the next item is asked for.

    >>> reported: list[float] = []
    >>> for item, share in each_part(reported.append, "AB"):
    ...     share(0.5)
    >>> reported
    [0.25, 0.5, 0.75, 1.0]
    """
    for i, item in enumerate(items):
        share = part(progress, i, len(items))
        yield item, share
        share(1.0)
