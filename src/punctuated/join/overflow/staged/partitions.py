"""Partitions of the values by a hash of their codes, and the tuples of a partition that are in memory."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.join.overflow.staged.stamps import StampClock
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.rows import ring_positions
from punctuated.join.state.saved import Ints
from punctuated.kernels.layout import FOREVER, Records
from punctuated.kernels.staged import MEMBER

_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_FEWEST, _MOST = 2, 64
_TUPLES = 256  # in memory for each partition, so that its parts are worth files


class Partitions(NamedTuple):
    """How many there are, and which one a value is in."""

    bits: int

    @staticmethod
    def for_memory(limit: int | None) -> "Partitions":
        """As many as are worth it for so many tuples.

        >>> [Partitions.for_memory(n).n for n in (1, 1_000, 1_000_000)]
        [2, 2, 64]
        """
        wanted = _MOST if limit is None else min(_MOST, max(_FEWEST, limit // _TUPLES))
        return Partitions(wanted.bit_length() - 1)

    @property
    def n(self) -> int:
        """How many."""
        return 1 << self.bits

    def of(self, codes: Ints) -> Ints:
        """The partition of each code."""
        mixed = np.ascontiguousarray(codes).view(np.uint64) * _FACTOR
        return (mixed >> np.uint64(64 - self.bits)).astype(np.int64)


class InMemory(NamedTuple):
    """The tuples of one side that are in memory, in the order of arrival."""

    positions: Ints
    codes: Ints
    partitions: Ints

    @staticmethod
    def of(state: JoinState, side: int, partitions: Partitions) -> "InMemory":
        """All of them."""
        positions = ring_positions(state, side)
        codes = state.arrays.values["code"][state.arrays.nodes["value"][positions]]
        return InMemory(positions, codes, partitions.of(codes))

    def within(self, kept: npt.NDArray[np.bool_]) -> "InMemory":
        """Some of them."""
        return InMemory(self.positions[kept], self.codes[kept], self.partitions[kept])

    def members(self, state: JoinState) -> Records:
        """What tells whom they have met, by ascending code."""
        members = np.empty(self.positions.size, MEMBER)
        members["code"], members["row"] = self.codes, state.arrays.nodes["row"][self.positions]
        members["arrived"] = StampClock.arrivals(state.arrays.seq[self.positions])
        members["departed"] = FOREVER
        return np.asarray(members[np.argsort(members["code"], kind="stable")])
