"""Where values are on disk: an index from addresses to positions, kept as sorted arrays that merge as they grow.

A position is a block and an entry of it as one number. Equal addresses may have several positions: one value may lie
in several blocks, and different keys may have one address (those whose bytes have the same hash).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.kernels.sequences import occurrences
from punctuated.snapshot.parts import NO_INTS, Ints

_ENTRY_BITS = 20
MOST_ENTRIES = 1 << _ENTRY_BITS  # of a block


def position_of(block: int, entries: Ints) -> Ints:
    return (block << _ENTRY_BITS) + entries


def block_of(positions: Ints) -> Ints:
    return positions >> _ENTRY_BITS


def entry_of(positions: Ints) -> Ints:
    return positions & (MOST_ENTRIES - 1)


class _Sorted(NamedTuple):
    addresses: Ints  # ascending
    positions: Ints
    is_here: npt.NDArray[np.bool_]  # whether the value is at the position still


class AddressIndex:
    """Finds the positions of values by their addresses."""

    def __init__(self) -> None:
        self._levels: list[_Sorted] = []  # each more than twice as long as the next one

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for level in self._levels for array in level)

    def add(self, addresses: Ints, positions: Ints) -> None:
        """Enter ascending addresses with the positions of their values."""
        self._levels.append(_Sorted(addresses, positions, np.ones(positions.size, np.bool_)))
        while len(self._levels) > 1 and self._levels[-2].positions.size <= 2 * self._levels[-1].positions.size:
            last, before = self._levels.pop(), self._levels.pop()
            self._levels.append(_merged(before, last))

    def find(self, addresses: Ints) -> tuple[Ints, Ints]:
        """For each position of these addresses, which of the addresses it belongs to, and the position itself."""
        which, positions = [NO_INTS], [NO_INTS]
        for level in self._levels:
            of, at = _located(level, addresses)
            is_here = level.is_here[at]
            which.append(of[is_here])
            positions.append(level.positions[at][is_here])
        return np.concatenate(which), np.concatenate(positions)

    def between(self, low: int, high: int) -> Ints:
        """The positions of all addresses from `low` to `high`, both included."""
        positions = [NO_INTS]
        for level in self._levels:
            first, last = np.searchsorted(level.addresses, low), np.searchsorted(level.addresses, high, side="right")
            positions.append(level.positions[first:last][level.is_here[first:last]])
        return np.concatenate(positions)

    def mark(self, addresses: Ints, positions: Ints, *, here: bool) -> None:
        """Note whether the values with these addresses are at these positions; one that was taken may return."""
        for level in self._levels:
            of, at = _located(level, addresses)
            level.is_here[at[level.positions[at] == positions[of]]] = here

    def compact(self) -> None:
        """Forget arrays of which everything was taken; nothing of it may return any more."""
        self._levels = [level for level in self._levels if level.is_here.any()]


def _located(level: _Sorted, addresses: Ints) -> tuple[Ints, Ints]:
    """Every occurrence of the addresses: which address it is, and its index in the sorted array."""
    start, counts = occurrences(level.addresses, np.ascontiguousarray(addresses))
    hit = np.flatnonzero(counts)
    return np.repeat(hit, counts[hit]), _intervals(start[hit], counts[hit])


def _merged(one: _Sorted, two: _Sorted) -> _Sorted:
    addresses = np.concatenate([each.addresses[each.is_here] for each in (one, two)])
    positions = np.concatenate([each.positions[each.is_here] for each in (one, two)])
    order = np.argsort(addresses, kind="stable")
    return _Sorted(addresses[order], positions[order], np.ones(order.size, np.bool_))


def _intervals(starts: Ints, counts: Ints) -> Ints:
    """All numbers of several intervals, one interval after the other."""
    if not counts.size:
        return NO_INTS
    before = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.asarray(np.repeat(starts - before, counts) + np.arange(int(counts.sum())))
