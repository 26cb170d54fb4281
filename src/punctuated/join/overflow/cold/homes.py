"""Where values lie on disk that were brought back: one whose tuples are as they were goes back there, unwritten.

What came to it meanwhile is written alone, so a value may lie in several blocks. All of it comes back together.
One that lies in many places is written as a whole.

Tuples from disk are told from others by the numbers of their rows, so homes are forgotten when rows are gathered.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from punctuated.join.overflow.cold.portion import Portion
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.saved import NO_INTS, Ints
from punctuated.kernels.restore import find_values

_MOST = 4  # places of a value; the fewer, the more often tuples are written, the more, the more often blocks are read
_LOST = 1 << 32  # more tuples than come back

Mask = npt.NDArray[np.bool_]


class Owned(Protocol):
    """Tuples with the places of their values."""

    @property
    def owner(self) -> Ints: ...
    @property
    def marks(self) -> Ints: ...


class Taken(NamedTuple):
    """Values that were taken out of a block."""

    portion: Portion
    places: Ints
    watched: bool


class Returning(NamedTuple):
    """Values that are back in their blocks, by address."""

    addresses: Ints
    places: Ints
    n_tuples: Ints  # (values, sides)


class Homes:
    """The places of values that were taken since rows were last gathered."""

    def __init__(self) -> None:
        self._taken: list[tuple[Ints, Ints]] = []  # what is known of values, without their rows, and their codes

    def __bool__(self) -> bool:
        return bool(self._taken)

    def remember(self, taken: Taken, codes: Ints) -> None:
        """These values have these codes in memory, and all of their tuples of this block are there."""
        self._taken.append((_numbers(taken), codes))

    def lose(self, n_sides: int, codes: Ints) -> None:
        """Values with these codes have come back, but not all of their tuples: they stay away from home."""
        lost = np.zeros((codes.size, 4 + n_sides), np.int64)
        lost[:, 4:] = _LOST
        self._taken.append((lost, codes))

    def forget(self) -> None:
        """Nothing goes back any more."""
        self._taken = []

    def returning(
        self, state: JoinState, values: Ints, watched: Mask, tuples: Sequence[Owned], came_back: Sequence[Mask]
    ) -> tuple[Mask, Returning]:
        """Which of the values go back: all of their tuples that came back, and these places.

        `tuples` are those of the values, side by side, and `came_back` says which of them are from disk.
        """
        n = values.size
        numbers = np.concatenate([np.empty((0, 4 + len(tuples)), np.int64), *(known for known, _ in self._taken)])
        (addresses, places, marks, was_watched), counts = numbers[:, :4].T, numbers[:, 4:]
        codes = np.concatenate([NO_INTS, *(codes for _, codes in self._taken)])
        owner = np.full(state.n_values + 1, n)  # the last one is of codes that are not in memory
        owner[values] = np.arange(n)
        of = owner[find_values(state.arrays, codes)]

        def total(numbers: Ints) -> Ints:
            return np.bincount(of, numbers, minlength=n + 1)[:n].astype(np.int64)

        back = [(each.owner[is_back], each.marks[is_back]) for each, is_back in zip(tuples, came_back, strict=True)]
        owners, now = (np.concatenate(each) for each in zip(*back, strict=True))
        n_places = np.bincount(of, minlength=n + 1)[:n]
        go = (n_places > 0) & (n_places < _MOST)
        go &= total(counts.sum(axis=1)) == np.bincount(owners, minlength=n)
        go &= total(marks) == np.bincount(owners, now, minlength=n)  # a mark that was set stays
        go &= total(was_watched) == n_places * watched
        chosen = np.append(go, False)[of]
        return go, Returning(addresses[chosen], places[chosen], counts[chosen])


def _numbers(taken: Taken) -> Ints:
    """Of each value the address, the place, the marks of its tuples, whether it was watched, and how many they are."""
    portion, n = taken.portion, taken.places.size
    marks = sum(np.bincount(each.owner, each.marks, minlength=n) for each in portion.tuples)
    counts = [np.bincount(each.owner, minlength=n) for each in portion.tuples]
    watched = np.full(n, int(taken.watched))
    return np.stack([portion.addresses, taken.places, np.asarray(marks, np.int64), watched, *counts], axis=1)
