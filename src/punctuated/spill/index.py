"""Where values are on disk: sorted runs of addresses, merged as they grow, so that there are few of them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from punctuated.kernels.rebuild import find_values
from punctuated.kernels.sequences import occurrences
from punctuated.snapshot.parts import NO_INTS, Ints
from punctuated.spill.portion import Portion
from punctuated.state.arrays import JoinState

_SLOT_BITS = 20
_MOST = 4  # places of a value; the fewer, the more often tuples are written, the more, the more often blocks are read
_LOST = 1 << 32  # more tuples than come back
Mask = npt.NDArray[np.bool_]


def place_of(block: int, slots: Ints) -> Ints:
    """A block and places in it as one number."""
    return (block << _SLOT_BITS) + slots


def block_of(places: Ints) -> Ints:
    """The blocks of such numbers."""
    return places >> _SLOT_BITS


def slot_of(places: Ints) -> Ints:
    """The places in their blocks."""
    return places & ((1 << _SLOT_BITS) - 1)


MOST_SLOTS = 1 << _SLOT_BITS


class _Run(NamedTuple):
    addresses: Ints  # ascending
    places: Ints
    is_here: npt.NDArray[np.bool_]  # else it was taken


class ColdIndex:
    """Finds the places of values by their addresses; equal addresses may have several places."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for run in self._runs for array in run)

    def add(self, addresses: Ints, places: Ints) -> None:
        """Ascending addresses and where their values are."""
        self._runs.append(_Run(addresses, places, np.ones(places.size, np.bool_)))
        while len(self._runs) > 1 and self._runs[-2].places.size <= 2 * self._runs[-1].places.size:
            last, before = self._runs.pop(), self._runs.pop()
            self._runs.append(_merged(before, last))

    def find(self, addresses: Ints) -> tuple[Ints, Ints]:
        """The places of these addresses, and for each which of the addresses it is of."""
        which, places = [NO_INTS], [NO_INTS]
        for run in self._runs:
            of, at = _located(run, addresses)
            is_here = run.is_here[at]
            which.append(of[is_here])
            places.append(run.places[at][is_here])
        return np.concatenate(which), np.concatenate(places)

    def between(self, low: int, high: int) -> Ints:
        """The places of all addresses from one to another, both included."""
        places = [NO_INTS]
        for run in self._runs:
            first, last = np.searchsorted(run.addresses, low), np.searchsorted(run.addresses, high, side="right")
            places.append(run.places[first:last][run.is_here[first:last]])
        return np.concatenate(places)

    def mark(self, addresses: Ints, places: Ints, *, here: bool) -> None:
        """Whether the values with these addresses are at these places; those that were taken may come back."""
        for run in self._runs:
            of, at = _located(run, addresses)
            run.is_here[at[run.places[at] == places[of]]] = here

    def tidy(self) -> None:
        """Nothing that was taken comes back any more."""
        self._runs = [run for run in self._runs if run.is_here.any()]


def _located(run: _Run, addresses: Ints) -> tuple[Ints, Ints]:
    """Where in a run each address is, as often as it is there: which address, and at which position."""
    start, counts = occurrences(run.addresses, np.ascontiguousarray(addresses))
    hit = np.flatnonzero(counts)
    return np.repeat(hit, counts[hit]), _stretches(start[hit], counts[hit])


def _merged(one: _Run, two: _Run) -> _Run:
    addresses = np.concatenate([each.addresses[each.is_here] for each in (one, two)])
    places = np.concatenate([each.places[each.is_here] for each in (one, two)])
    order = np.argsort(addresses, kind="stable")
    return _Run(addresses[order], places[order], np.ones(order.size, np.bool_))


def _stretches(starts: Ints, counts: Ints) -> Ints:
    """All numbers of several stretches, one after the other."""
    if not counts.size:
        return NO_INTS
    before = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.asarray(np.repeat(starts - before, counts) + np.arange(int(counts.sum())))


# Where values lie on disk that were brought back: one whose tuples are as they were goes back there, unwritten.
#
# What came to it meanwhile is written alone, so a value may lie in several blocks. All of it comes back together. One
# that lies in many places is written as a whole.
#
# Tuples from disk are told from others by the numbers of their rows, so homes are forgotten when rows are gathered.


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
