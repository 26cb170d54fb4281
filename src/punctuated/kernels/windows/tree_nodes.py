"""The pool of tree nodes, and entries within them: what B+tree and T-tree have in common.

Slots are opened and closed with unsigned indices: signed ones are checked for being negative, which takes ten times
longer, since such loops do not run on whole vectors.
"""

import numpy as np

from punctuated.kernels.jit import inlined, part
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.windows.layout import Entries, WindowIndex


@inlined
def take_node(index: WindowIndex, side: int, height: int) -> int:
    """An empty node from the pool; the caller has seen to the room."""
    pool = index.pool[0]
    node = int(pool.free)
    ours = index.tree[node]
    pool.free = ours.right
    pool.n_free -= 1
    ours.count, ours.height, ours.side = 0, height, side
    ours.parent = ours.left = ours.right = NONE
    index.sides[side].n_nodes += 1
    return node


@inlined
def free_node(index: WindowIndex, side: int, node: int) -> None:
    """Give a node back to the pool."""
    pool, ours = index.pool[0], index.tree[node]
    ours.side, ours.right = NONE, pool.free
    pool.free = node
    pool.n_free += 1
    index.sides[side].n_nodes -= 1


@part
def free_all_nodes(index: WindowIndex, side: int) -> None:
    """Give back every node of a side."""
    for node in range(index.tree.size):
        if index.tree[node].side == side:
            free_node(index, side, node)


@inlined
def write_entry(index: WindowIndex, node: int, slot: int, place: int) -> None:
    """Copy the sort key of a stored tuple."""
    index.entries.group[node, slot] = index.group[place]
    index.entries.high[node, slot] = index.high[place]
    index.entries.place[node, slot] = place


@inlined
def open_slot(entries: Entries, node: int, slot: int, count: int) -> None:
    """Move the entries from `slot` on by one."""
    row = np.uint64(node)
    for i in range(count, slot, -1):
        entries.group[row, np.uint64(i)] = entries.group[row, np.uint64(i - 1)]
    for i in range(count, slot, -1):
        entries.high[row, np.uint64(i)] = entries.high[row, np.uint64(i - 1)]
    for i in range(count, slot, -1):
        entries.place[row, np.uint64(i)] = entries.place[row, np.uint64(i - 1)]


@inlined
def close_slot(entries: Entries, node: int, slot: int, count: int) -> None:
    """Move the entries behind `slot` back by one."""
    row = np.uint64(node)
    for i in range(slot + 1, count):
        entries.group[row, np.uint64(i - 1)] = entries.group[row, np.uint64(i)]
    for i in range(slot + 1, count):
        entries.high[row, np.uint64(i - 1)] = entries.high[row, np.uint64(i)]
    for i in range(slot + 1, count):
        entries.place[row, np.uint64(i - 1)] = entries.place[row, np.uint64(i)]


@part
def open_front(entries: Entries, node: int, width: int, count: int) -> None:
    """Move all entries on, so that `width` ones have room before them."""
    for i in range(count - 1, -1, -1):
        entries.group[node, i + width] = entries.group[node, i]
        entries.high[node, i + width] = entries.high[node, i]
        entries.place[node, i + width] = entries.place[node, i]


@part
def copy_entries(entries: Entries, source: int, first: int, last: int, target: int, slot: int) -> None:
    """Copy the entries [first, last) of a node to another one, from `slot` on."""
    for i in range(first, last):
        entries.group[target, slot + i - first] = entries.group[source, i]
        entries.high[target, slot + i - first] = entries.high[source, i]
        entries.place[target, slot + i - first] = entries.place[source, i]


@inlined
def insert_entry(index: WindowIndex, node: int, slot: int, place: int) -> None:
    """A stored tuple takes a slot, and those behind it move on."""
    ours = index.tree[node]
    open_slot(index.entries, node, slot, ours.count)
    write_entry(index, node, slot, place)
    ours.count += 1


@inlined
def erase_entry(index: WindowIndex, node: int, slot: int) -> None:
    """Close the gap that an entry leaves."""
    ours = index.tree[node]
    close_slot(index.entries, node, slot, ours.count)
    ours.count -= 1


# The order of entries that both trees share, (group, high, low, number), and the search inside a node (KN-15, KN-16).
#
# A node has copies of group and high. Low and number are looked up at an entry's place, and only where those are
# equal.


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
