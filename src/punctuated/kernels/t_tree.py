"""A T-tree over a window (KN-16): a balanced binary tree whose nodes hold many entries, all between its subtrees'.

After Lehman and Carey, "A Study of Index Structures for Main Memory Database Management Systems", VLDB 1986. A tuple
lies in the node that bounds it. Invariants: see `t_tree_balance`.
"""

from punctuated.kernels._jit import inlined, part
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.t_tree_balance import borrow, fewest_inner_entries, has_both, last_node, mend, needs_mending
from punctuated.kernels.tree_nodes import erase_entry, insert_entry, take_node, write_entry
from punctuated.kernels.tree_order import collect_run, comes_before, count_below, count_through, ends_below
from punctuated.kernels.window_layout import WindowIndex


@inlined
def find_bounding(index: WindowIndex, side: int, place: int) -> int:
    """The node that bounds a tuple, or else the last one on the way to it."""
    node = int(index.sides[side].root)
    while True:
        ours = index.tree[node]
        last = ours.count - 1
        if comes_before(index, place, node, 0):
            below = ours.left
        elif index.entries.place[node, last] == place or comes_before(index, place, node, last):
            return node
        else:
            below = ours.right
        if below < 0:
            return node
        node = int(below)


@part
def add_leaf(index: WindowIndex, side: int, parent: int, is_left: bool, place: int) -> None:
    """A tuple becomes a leaf of its own."""
    leaf = take_node(index, side, 1)
    write_entry(index, leaf, 0, place)
    index.tree[leaf].count, index.tree[leaf].parent = 1, parent
    if is_left:
        index.tree[parent].left = leaf
    else:
        index.tree[parent].right = leaf
    mend(index, side, parent)


@part
def insert_into_full(index: WindowIndex, side: int, node: int, slot: int, place: int) -> None:
    """Enter a tuple where there is no room: beside the node if it does not bound it, else for its smallest entry.

    That becomes the greatest lower bound: the last entry of the left subtree.
    """
    count, left = index.tree[node].count, index.tree[node].left
    parent, is_left, homeless = node, slot == 0, place
    if 0 < slot < count:
        homeless = index.entries.place[node, 0]
        erase_entry(index, node, 0)
        insert_entry(index, node, slot - 1, place)
        is_left = left < 0
        parent = node if is_left else last_node(index, left)
        room = index.tree[parent].count
        if room < index.pool[0].node_size:
            insert_entry(index, parent, room, homeless)
            return
    add_leaf(index, side, parent, is_left, homeless)


@inlined
def insert_into_t_tree(index: WindowIndex, side: int, place: int) -> None:
    """Enter a stored tuple."""
    ours = index.sides[side]
    if ours.root < 0:
        ours.root = take_node(index, side, 1)
        insert_entry(index, ours.root, 0, place)
        return
    node = find_bounding(index, side, place)
    slot = count_through(index, node, place)
    if index.tree[node].count < index.pool[0].node_size:
        insert_entry(index, node, slot, place)
    else:
        insert_into_full(index, side, node, slot, place)


@inlined
def remove_from_t_tree(index: WindowIndex, side: int, place: int) -> None:
    """Take out a tuple whose key is still at its place."""
    node = find_bounding(index, side, place)
    erase_entry(index, node, count_through(index, node, place) - 1)
    if has_both(index, node):
        if index.tree[node].count >= fewest_inner_entries(index):
            return
        node = borrow(index, node)
    if needs_mending(index, node):
        mend(index, side, node)


@inlined
def next_node(index: WindowIndex, node: int) -> int:
    """The node whose entries follow."""
    if index.tree[node].right >= 0:
        node = int(index.tree[node].right)
        while index.tree[node].left >= 0:
            node = int(index.tree[node].left)
        return node
    above = int(index.tree[node].parent)
    while above >= 0 and index.tree[above].right == node:
        node, above = above, int(index.tree[above].parent)
    return above


@inlined
def collect_from_t_tree(index: WindowIndex, side: int, group: int, low: int, high: int, found: Indices) -> int:
    """Places of the matches, in the order of the tree."""
    below, node, slot, n = int(index.sides[side].root), NONE, 0, 0
    while below >= 0:
        ours = index.tree[below]
        if not ends_below(index, below, 0, group, low):
            node, slot = below, 0
            below = int(ours.left)
        elif ends_below(index, below, ours.count - 1, group, low):
            below = int(ours.right)
        else:
            node, slot = below, count_below(index, below, group, low)
            break
    while node >= 0:
        end = collect_run(index, node, slot, group, high, found, n)
        n += end - slot
        if end < index.tree[node].count:
            break
        node, slot = next_node(index, node), 0
    return n


@part
def load_t_tree(index: WindowIndex, side: int, places: Indices) -> None:
    """Fill an empty tree with tuples in its order, in full nodes, each put to the right of all before."""
    size, n = index.pool[0].node_size, places.size
    for first in range(0, n, size):
        last = min(first + size, n)
        fresh = take_node(index, side, 1)
        for i in range(first, last):
            write_entry(index, fresh, i - first, places[i])
        index.tree[fresh].count = last - first
        if first == 0:
            index.sides[side].root = fresh
        else:
            parent = last_node(index, index.sides[side].root)
            index.tree[parent].right, index.tree[fresh].parent = fresh, parent
            mend(index, side, parent)
