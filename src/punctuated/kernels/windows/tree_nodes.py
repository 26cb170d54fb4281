"""What B+tree and T-tree have in common: the pool of nodes, the entries in a node, and their order.

Slots are opened and closed with unsigned indices: signed ones are checked for being negative, which takes ten times
longer, since such loops do not run on whole vectors.
"""

import numpy as np

from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.windows.layout import Entries, WindowIndex


@inlined
def take_node(index: WindowIndex, side: int, height: int) -> int:
    """Take an empty node from the pool; the caller has seen to the room."""
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


@subroutine
def free_all_nodes(index: WindowIndex, side: int) -> None:
    """Give back every node of a side."""
    for node in range(index.tree.size):
        if index.tree[node].side == side:
            free_node(index, side, node)


@inlined
def write_entry(index: WindowIndex, node: int, slot: int, position: int) -> None:
    """Copy the sort key of a stored tuple into a slot of a node."""
    index.entries.group[node, slot] = index.group[position]
    index.entries.high[node, slot] = index.high[position]
    index.entries.position[node, slot] = position


@inlined
def open_slot(entries: Entries, node: int, slot: int, count: int) -> None:
    """Move the entries from `slot` on by one."""
    row = np.uint64(node)
    for i in range(count, slot, -1):
        entries.group[row, np.uint64(i)] = entries.group[row, np.uint64(i - 1)]
    for i in range(count, slot, -1):
        entries.high[row, np.uint64(i)] = entries.high[row, np.uint64(i - 1)]
    for i in range(count, slot, -1):
        entries.position[row, np.uint64(i)] = entries.position[row, np.uint64(i - 1)]


@inlined
def close_slot(entries: Entries, node: int, slot: int, count: int) -> None:
    """Move the entries behind `slot` back by one."""
    row = np.uint64(node)
    for i in range(slot + 1, count):
        entries.group[row, np.uint64(i - 1)] = entries.group[row, np.uint64(i)]
    for i in range(slot + 1, count):
        entries.high[row, np.uint64(i - 1)] = entries.high[row, np.uint64(i)]
    for i in range(slot + 1, count):
        entries.position[row, np.uint64(i - 1)] = entries.position[row, np.uint64(i)]


@subroutine
def open_front(entries: Entries, node: int, width: int, count: int) -> None:
    """Move all entries on, so that `width` ones have room before them."""
    for i in range(count - 1, -1, -1):
        entries.group[node, i + width] = entries.group[node, i]
        entries.high[node, i + width] = entries.high[node, i]
        entries.position[node, i + width] = entries.position[node, i]


@subroutine
def copy_entries(entries: Entries, source: int, first: int, last: int, target: int, slot: int) -> None:
    """Copy the entries [first, last) of a node to another one, from `slot` on."""
    for i in range(first, last):
        entries.group[target, slot + i - first] = entries.group[source, i]
        entries.high[target, slot + i - first] = entries.high[source, i]
        entries.position[target, slot + i - first] = entries.position[source, i]


@inlined
def insert_entry(index: WindowIndex, node: int, slot: int, position: int) -> None:
    """Insert a stored tuple into a slot of a node; entries behind it move on."""
    ours = index.tree[node]
    open_slot(index.entries, node, slot, ours.count)
    write_entry(index, node, slot, position)
    ours.count += 1


@inlined
def erase_entry(index: WindowIndex, node: int, slot: int) -> None:
    """Erase the entry in a slot of a node; entries behind it move back."""
    ours = index.tree[node]
    close_slot(index.entries, node, slot, ours.count)
    ours.count -= 1


# The order of entries, (group, high, low, number), and the search inside a node (KN-15, KN-16)
#
# A node has copies of group and high. Low and number are looked up at an entry's position, and only where those are
# equal.


@inlined
def comes_before(index: WindowIndex, position: int, node: int, slot: int) -> bool:
    """Whether a tuple comes before the entry in a slot of a node."""
    row, column = np.uint64(node), np.uint64(slot)
    group, high = index.entries.group[row, column], index.entries.high[row, column]
    if index.group[position] != group:
        return bool(index.group[position] < group)
    if index.high[position] != high:
        return bool(index.high[position] < high)
    entry = index.entries.position[row, column]
    if index.low[position] != index.low[entry]:
        return bool(index.low[position] < index.low[entry])
    return bool(index.number[position] < index.number[entry])


@inlined
def count_through(index: WindowIndex, node: int, position: int) -> int:
    """How many entries of a node do not come after a tuple: the slot where it belongs, or just behind its own."""
    first, last = 0, index.tree[node].count
    while first < last:
        middle = (first + last) >> 1
        if comes_before(index, position, node, middle):
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

    Without a branch: the direction of the search cannot be predicted, and wrong guesses would take half of its time.
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
        position = index.entries.position[row, np.uint64(slot)]
        if index.entries.high[row, np.uint64(slot)] > high and index.low[position] > high:  # the former is at hand
            return slot
        found[n] = position
        n += 1
        slot += 1
    return slot
