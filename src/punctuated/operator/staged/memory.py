"""Tuples in memory by partition and stamp: how many there may be, and which go to disk together.

Values are partitioned by a hash of their codes. A stamp says when a tuple came to memory or left it; all stamps are of
one clock, so that two stamps tell whether two tuples have met (see `kernels.staged`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.kernels.layout import FOREVER, Records
from punctuated.kernels.staged import MEMBER
from punctuated.model.memory import Memory
from punctuated.snapshot.parts import Ints
from punctuated.state.arrays import JoinState
from punctuated.state.budget import tuples_within
from punctuated.state.rows import RowStore, ring_positions

_TICK_BITS = 16  # below the number of an object: what is done between two objects
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_FEWEST, _MOST = 2, 64
_TUPLES = 256  # in memory for each partition, so that its parts are worth files
_LEAST_READ = 4096  # tuples of the disk that are read at a time
_ROW_BYTES = 64  # of a row, as long as none is known


class StampClock:
    """Ticks for every object, and for everything that is done between two of them."""

    def __init__(self, state: JoinState) -> None:
        self._state, self.last = state, 0

    def tick(self) -> int:
        """A stamp that is larger than all so far, and smaller than those of all tuples to come."""
        now = int(self._state.common["seq"][0]) << _TICK_BITS
        self.last = max(self.last, now) + 1
        assert self.last - now < 1 << _TICK_BITS
        return self.last

    @staticmethod
    def arrivals(numbers: Ints) -> Ints:
        """The stamps of tuples by the numbers of their objects."""
        return np.asarray(numbers << _TICK_BITS)


class Partitions(NamedTuple):
    """How many partitions there are, as a power of two, and which one a value is in."""

    bits: int

    @staticmethod
    def for_memory(limit: int | None) -> "Partitions":
        """As many as are worth it for so many tuples in memory.

        >>> [Partitions.for_memory(n).n for n in (1, 1_000, 1_000_000)]
        [2, 2, 64]
        """
        wanted = _MOST if limit is None else min(_MOST, max(_FEWEST, limit // _TUPLES))
        return Partitions(wanted.bit_length() - 1)

    @property
    def n(self) -> int:
        return 1 << self.bits

    def of(self, codes: Ints) -> Ints:
        """The partition of each code."""
        mixed = np.ascontiguousarray(codes).view(np.uint64) * _FACTOR
        return (mixed >> np.uint64(64 - self.bits)).astype(np.int64)


class MemoryTuples(NamedTuple):
    """The tuples of one side that are in memory, in the order of arrival."""

    positions: Ints
    codes: Ints
    partitions: Ints

    @staticmethod
    def of(state: JoinState, side: int, partitions: Partitions) -> "MemoryTuples":
        """All tuples of a side that are in memory."""
        positions = ring_positions(state, side)
        codes = state.arrays.values["code"][state.arrays.nodes["value"][positions]]
        return MemoryTuples(positions, codes, partitions.of(codes))

    def within(self, kept: npt.NDArray[np.bool_]) -> "MemoryTuples":
        """The tuples that `kept` keeps."""
        return MemoryTuples(self.positions[kept], self.codes[kept], self.partitions[kept])

    def members(self, state: JoinState) -> Records:
        """The tuples as MEMBER records, which tell whom they have met, by ascending code."""
        members = np.empty(self.positions.size, MEMBER)
        members["code"], members["row"] = self.codes, state.arrays.nodes["row"][self.positions]
        members["arrived"] = StampClock.arrivals(state.arrays.seq[self.positions])
        members["departed"] = FOREVER
        return np.asarray(members[np.argsort(members["code"], kind="stable")])


class MemoryLimit:
    """A limit of tuples: as given, or as many as fit into the bytes given, which depends on the widths of rows."""

    def __init__(self, memory: Memory | None, state: JoinState) -> None:
        self._memory, self._state = memory, state
        self._row_bytes = _ROW_BYTES
        self._last: int | None = None

    def tuples(self, rows: Sequence[RowStore]) -> int | None:
        """The most tuples that may be in memory; `rows` says how wide they are."""
        if self._memory is None:
            return None
        self._row_bytes = max([self._row_bytes, *(int(each.bytes_per_row) for each in rows)])
        self._last = tuples_within(self._memory, self._state, self._row_bytes)
        return self._last

    def piece_size(self) -> int:
        """How many tuples may be read from disk at a time, beside those in memory."""
        return _LEAST_READ if self._last is None else max(_LEAST_READ, self._last // 2)
