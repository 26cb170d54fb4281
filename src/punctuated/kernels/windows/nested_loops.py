"""Nested loops, no structure at all: a probe scans the buffer of the window (KN-13).

Loops without a branch run on whole vectors, if their indices are unsigned: signed ones are checked for being negative.
"""

import numpy as np

from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.windows.layout import LARGEST, SMALLEST, UNLIMITED, WindowIndex

_BLOCK = 64  # tuples that are looked at together: few enough to stay in the first cache for a second look


@inlined
def add_to_buffer(index: WindowIndex, side: int, position: int) -> None:
    """Note that the buffer reaches as far as a tuple that is in it already."""
    ours = index.sides[side]
    ours.first_position = min(ours.first_position, position)
    ours.last_position = max(ours.last_position, position)


@inlined
def blank(index: WindowIndex, position: int) -> None:
    """Make the tuple at a position an empty interval, which nothing overlaps."""
    index.low[position], index.high[position] = LARGEST, SMALLEST


@subroutine
def blank_buffer(index: WindowIndex, side: int) -> None:
    """Make all tuples of a side empty intervals: their slots may stay in the ring for a while."""
    ours = index.sides[side]
    for position in range(ours.first_position, ours.last_position + 1):
        blank(index, position)
    ours.first_position, ours.last_position = UNLIMITED, NONE


@inlined
def count_group(index: WindowIndex, first: int, last: int, group: int) -> int:
    """How many slots have the group."""
    n = 0
    for position in range(first, last):
        n += index.group[np.uint64(position)] == group
    return n


@inlined
def count_overlaps(index: WindowIndex, first: int, last: int, low: int, high: int) -> int:
    """How many slots overlap the interval, whatever their group."""
    n = 0
    for position in range(first, last):
        n += (index.high[np.uint64(position)] >= low) & (index.low[np.uint64(position)] <= high)
    return n


@inlined
def scan_buffer(index: WindowIndex, first: int, last: int, group: int, low: int, high: int, found: Indices) -> int:
    """Write the positions of the matches among the slots [first, last); returns how many there are.

    Most blocks hold none, and are left at the first look.
    """
    n = 0
    for start in range(first, last, _BLOCK):
        stop = min(start + _BLOCK, last)
        if count_group(index, start, stop, group) == 0 or count_overlaps(index, start, stop, low, high) == 0:
            continue
        for position in range(start, stop):
            its_low, its_high = index.low[np.uint64(position)], index.high[np.uint64(position)]
            overlaps = (its_high >= low) & (its_low <= high) & (its_low <= its_high)  # never a blank one
            if (index.group[np.uint64(position)] == group) & overlaps:  # one branch, not four that nobody can predict
                found[n] = np.int32(position)
                n += 1
    return n
