"""No structure at all: a probe scans the buffer of the window (KN-13).

Loops without a branch run on whole vectors, if their indices are unsigned: signed ones are checked for being negative.
"""

import numpy as np

from punctuated.kernels.jit import inlined, part
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.windows.layout import LARGEST, SMALLEST, UNLIMITED, WindowIndex

_BLOCK = 64  # tuples that are looked at together: few enough to stay in the first cache for a second look


@inlined
def add_to_buffer(index: WindowIndex, side: int, place: int) -> None:
    """Note how far the buffer reaches; the tuple is there already."""
    ours = index.sides[side]
    ours.first_place = min(ours.first_place, place)
    ours.last_place = max(ours.last_place, place)


@inlined
def blank(index: WindowIndex, place: int) -> None:
    """Make a place an empty interval, which nothing overlaps."""
    index.low[place], index.high[place] = LARGEST, SMALLEST


@part
def blank_buffer(index: WindowIndex, side: int) -> None:
    """Make everything that a side has stored empty: its slots may stay in the ring for a while."""
    ours = index.sides[side]
    for place in range(ours.first_place, ours.last_place + 1):
        blank(index, place)
    ours.first_place, ours.last_place = UNLIMITED, NONE


@inlined
def count_group(index: WindowIndex, first: int, last: int, group: int) -> int:
    """How many slots have the group."""
    n = 0
    for place in range(first, last):
        n += index.group[np.uint64(place)] == group
    return n


@inlined
def count_overlaps(index: WindowIndex, first: int, last: int, low: int, high: int) -> int:
    """How many slots overlap the interval, whatever their group."""
    n = 0
    for place in range(first, last):
        n += (index.high[np.uint64(place)] >= low) & (index.low[np.uint64(place)] <= high)
    return n


@inlined
def scan_buffer(index: WindowIndex, first: int, last: int, group: int, low: int, high: int, found: Indices) -> int:
    """Places of the matches among the slots [first, last). Most blocks hold none, and are left at the first look."""
    n = 0
    for start in range(first, last, _BLOCK):
        stop = min(start + _BLOCK, last)
        if count_group(index, start, stop, group) == 0 or count_overlaps(index, start, stop, low, high) == 0:
            continue
        for place in range(start, stop):
            its_low, its_high = index.low[np.uint64(place)], index.high[np.uint64(place)]
            overlaps = (its_high >= low) & (its_low <= high) & (its_low <= its_high)  # never a blank one
            if (index.group[np.uint64(place)] == group) & overlaps:  # one branch, not four that nobody can predict
                found[n] = np.int32(place)
                n += 1
    return n
