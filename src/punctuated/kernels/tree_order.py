"""The order of entries that both trees share, (group, high, low, number), and the search inside a node (KN-15, KN-16).

A node has copies of group and high. Low and number are looked up at an entry's place, and only where those are equal.
"""

import numpy as np

from punctuated.kernels._jit import inlined
from punctuated.kernels.layout import Indices
from punctuated.kernels.window_layout import WindowIndex


@inlined
def comes_before(index: WindowIndex, place: int, node: int, slot: int) -> bool:
    """Whether a tuple comes before an entry."""
    row, column = np.uint64(node), np.uint64(slot)
    group, high = index.entries.group[row, column], index.entries.high[row, column]
    if index.group[place] != group:
        return bool(index.group[place] < group)
    if index.high[place] != high:
        return bool(index.high[place] < high)
    entry = index.entries.place[row, column]
    if index.low[place] != index.low[entry]:
        return bool(index.low[place] < index.low[entry])
    return bool(index.number[place] < index.number[entry])


@inlined
def count_through(index: WindowIndex, node: int, place: int) -> int:
    """How many entries of a node do not come after a tuple: where it belongs, or just behind itself."""
    first, last = 0, index.tree[node].count
    while first < last:
        middle = (first + last) >> 1
        if comes_before(index, place, node, middle):
            last = middle
        else:
            first = middle + 1
    return first


@inlined
def ends_below(index: WindowIndex, node: int, slot: int, group: int, low: int) -> bool:
    """Whether an entry lies before everything that a probe from `low` on can meet."""
    row, column = np.uint64(node), np.uint64(slot)
    its_group = index.entries.group[row, column]
    return bool((its_group < group) | ((its_group == group) & (index.entries.high[row, column] < low)))


@inlined
def count_below(index: WindowIndex, node: int, group: int, low: int) -> int:
    """How many entries of a node lie before everything that a probe from `low` on can meet.

    Without a branch: which way the search goes cannot be predicted, and wrong guesses would make up half of its time.
    """
    first, n = 0, index.tree[node].count
    while n > 0:
        half = (n + 1) >> 1
        first += half if ends_below(index, node, first + half - 1, group, low) else 0
        n -= half
    return first


@inlined
def collect_run(index: WindowIndex, node: int, slot: int, group: int, high: int, found: Indices, n: int) -> int:
    """Write the matches of a node from `slot` on behind the first `n`; returns the slot where they end."""
    row, count = np.uint64(node), index.tree[node].count
    while slot < count and index.entries.group[row, np.uint64(slot)] == group:
        place = index.entries.place[row, np.uint64(slot)]
        if index.entries.high[row, np.uint64(slot)] > high and index.low[place] > high:  # the former is at hand
            return slot
        found[n] = place
        n += 1
        slot += 1
    return slot
