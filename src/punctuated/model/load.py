"""The load of a join: rates of its streams and sizes of its windows, as measured batch by batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from punctuated.model.spec import LEFT, RIGHT

Sides = tuple[float, float]
# From rates, complete windows and a measured limit of the rate to what the resources allow.
Allocate = Callable[[Sides, Sides, float | None], tuple[Sides, Sides]]

_WEIGHT_OF_NEW = 0.5  # so a shift shows within a few batches


def smoothed(before: Sequence[float] | None, now: Sequence[float]) -> tuple[float, ...]:
    """Moving averages after another batch; `before` is None at the first one.

    >>> smoothed(smoothed(None, [4.0, 8.0]), [6.0, 0.0])
    (5.0, 4.0)
    """
    old = now if before is None else before
    return tuple(_WEIGHT_OF_NEW * new + (1 - _WEIGHT_OF_NEW) * was for was, new in zip(old, now, strict=True))


@dataclass(frozen=True)
class Observation:
    """The load of a join as it was measured.

    For each stream, tuples per second that come, that probe the other's window and that are stored; for each window,
    the tuples in it and the matches of a probe.
    """

    rates: Sides
    probing: Sides
    storing: Sides
    windows: Sides
    matches: Sides = (0.0, 0.0)

    @staticmethod
    def unshed(rates: Sides, windows: Sides, matches: Sides = (0.0, 0.0)) -> "Observation":
        """The load of a join that sheds nothing: every tuple that comes probes and is stored."""
        return Observation(rates, rates, rates, windows, matches)


def matches_in(probing: Sides, windows: Sides, results: float) -> Sides:
    """The matches of a probe in each window, if so many results come in a second: the larger one gives more (KN-34).

    >>> matches_in(probing=(1, 1), windows=(100, 300), results=8)
    (2.0, 6.0)
    """
    meetings = probing[LEFT] * windows[RIGHT] + probing[RIGHT] * windows[LEFT]
    share = results / meetings if meetings else 0.0
    return share * windows[LEFT], share * windows[RIGHT]


# From what was observed and the structures at present to the structures to go on with.
Chooser = Callable[[Observation, tuple[str, str]], tuple[str, str]]
