"""Where values are on disk: sorted runs of addresses, merged as they grow, so that there are few of them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.join.state.saved import NO_INTS, Ints
from punctuated.kernels.ascending import occurrences

_SLOT_BITS = 20


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
