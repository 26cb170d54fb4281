"""Loops that measure a window's structure: nothing but searches, or nothing but updates (KN-18).

The window is the left one. Its ring has a slot more than the window has tuples, so that a tuple can enter before the
oldest leaves, and the oldest of all stands behind the free slot.
"""

from typing import NamedTuple

from punctuated.kernels._jit import in_place
from punctuated.kernels.layout import Indices, Ints
from punctuated.kernels.window_index import collect, insert, lacks_room, remove
from punctuated.kernels.window_layout import NESTED, WindowIndex


class Keys(NamedTuple):
    """What tuples join by: a group and an interval each."""

    group: Ints
    low: Ints
    high: Ints


@in_place
def search_window(index: WindowIndex, keys: Keys, free: int, found: Indices) -> int:
    """Search the window for every key; returns how many matches there are. `free` is the slot without a tuple.

    Each key waits for the search before it, as it does in a join, where a tuple's other work stands in between. Else
    the processor would work on several searches at a time.
    """
    n, ring = 0, index.group.size
    for turn in range(keys.group.size):
        i = turn + (n >> 62)  # nothing is added, but only the search before can tell
        group, low, high = keys.group[i], keys.low[i], keys.high[i]
        n += collect(index, 0, free + 1, ring, group, low, high, found)
        if index.sides[0].kind == NESTED and free > 0:
            n += collect(index, 0, 0, free, group, low, high, found)
    return n


@in_place
def slide_window(index: WindowIndex, keys: Keys, at: int, free: int) -> int:
    """Let the keys from `at` on enter, each driving out the oldest tuple; returns where there was no room any more."""
    ring = index.group.size
    while at < keys.group.size and not lacks_room(index):
        index.group[free], index.low[free], index.high[free] = keys.group[at], keys.low[at], keys.high[at]
        index.number[free] += ring
        insert(index, 0, free)
        free = (free + 1) % ring
        remove(index, 0, free)
        at += 1
    return at
