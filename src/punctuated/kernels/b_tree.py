"""A B+tree over a window (KN-15): entries in linked leaves at one depth, separators above them.

Invariants:
- A node has at most node_size entries, and at least half of that unless it is the root.
- A separator is the smallest entry of the subtree to its right, so it names a tuple that is stored.
- An inner node is two nodes of the pool: its own has the separators, the one at `left` the children.
"""

from punctuated.kernels._jit import inlined, part
from punctuated.kernels.b_tree_fill import fill_upwards, renew_separator
from punctuated.kernels.b_tree_nodes import child_of, insert_child, set_height, take_inner_node
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.tree_nodes import copy_entries, erase_entry, insert_entry, take_node, write_entry
from punctuated.kernels.tree_order import collect_run, count_below, count_through
from punctuated.kernels.window_layout import WindowIndex


@inlined
def find_leaf(index: WindowIndex, side: int, place: int) -> int:
    """The leaf where a tuple belongs; the way to it is noted in `path`."""
    node = index.sides[side].root
    for level in range(index.sides[side].height - 1):
        slot = count_through(index, node, place)
        index.path[0, level], index.path[1, level] = node, slot
        node = child_of(index, node, slot)
    return int(node)


@part
def split_node(index: WindowIndex, side: int, node: int) -> int:
    """Move the upper half of an overfull node to a new one. The separator of the two stays behind the lower half."""
    ours = index.tree[node]
    keep, count = ours.count // 2, ours.count
    ours.count = keep
    if ours.height == 1:
        fresh = take_node(index, side, 1)
        copy_entries(index.entries, node, keep, count, fresh, 0)
        index.tree[fresh].count = count - keep
        link_leaf(index, node, fresh)
        return fresh
    fresh = take_inner_node(index, side, ours.height)
    copy_entries(index.entries, node, keep + 1, count, fresh, 0)
    index.tree[fresh].count = count - keep - 1
    for i in range(keep + 1, count + 1):
        index.entries.place[index.tree[fresh].left, i - keep - 1] = index.entries.place[ours.left, i]
    return fresh


@inlined
def link_leaf(index: WindowIndex, leaf: int, fresh: int) -> None:
    """A new leaf becomes the right neighbour of another one."""
    after = index.tree[leaf].right
    index.tree[fresh].left, index.tree[fresh].right = leaf, after
    index.tree[leaf].right = fresh
    if after >= 0:
        index.tree[after].left = fresh


@part
def add_sibling(index: WindowIndex, side: int, level: int, node: int, separator: int, fresh: int) -> int:
    """Enter a new node into the parent of its left sibling, which is made if that was the root; returns the parent."""
    if level >= 0:
        parent, slot = int(index.path[0, level]), index.path[1, level]
    else:
        parent, slot = take_inner_node(index, side, index.tree[node].height + 1), 0
        insert_child(index, parent, 0, 0, node)
        index.sides[side].root = parent
        set_height(index, side, index.tree[parent].height)
    insert_child(index, parent, slot + 1, index.tree[parent].count + 1, fresh)
    insert_entry(index, parent, slot, separator)
    return parent


@part
def split_upwards(index: WindowIndex, side: int, node: int, level: int) -> None:
    """Split overfull nodes on the way to the root; `level` is that of the parent in the path."""
    while index.tree[node].count > index.pool[0].node_size:
        fresh = split_node(index, side, node)
        separator = index.entries.place[node, index.tree[node].count]
        node = add_sibling(index, side, level, node, separator, fresh)
        level -= 1


@inlined
def insert_into_b_tree(index: WindowIndex, side: int, place: int) -> None:
    """Enter a stored tuple."""
    ours = index.sides[side]
    if ours.root < 0:
        ours.root = take_node(index, side, 1)
        set_height(index, side, 1)
    leaf = find_leaf(index, side, place)
    insert_entry(index, leaf, count_through(index, leaf, place), place)
    if index.tree[leaf].count > index.pool[0].node_size:
        split_upwards(index, side, leaf, ours.height - 2)


@inlined
def remove_from_b_tree(index: WindowIndex, side: int, place: int) -> None:
    """Take out a tuple whose key is still at its place."""
    leaf = find_leaf(index, side, place)
    slot = count_through(index, leaf, place) - 1
    erase_entry(index, leaf, slot)
    if slot == 0:
        renew_separator(index, side, leaf)
    if index.tree[leaf].count < (index.pool[0].node_size + 1) // 2:
        fill_upwards(index, side, leaf)


@inlined
def collect_from_b_tree(index: WindowIndex, side: int, group: int, low: int, high: int, found: Indices) -> int:
    """Places of the matches, in the order of the tree."""
    node = index.sides[side].root
    if node < 0:
        return 0
    for _ in range(index.sides[side].height - 1):
        node = child_of(index, node, count_below(index, node, group, low))
    slot, n = count_below(index, node, group, low), 0
    while node >= 0:
        end = collect_run(index, node, slot, group, high, found, n)
        n += end - slot
        if end < index.tree[node].count:
            break
        node, slot = index.tree[node].right, 0
    return n


@part
def load_b_tree(index: WindowIndex, side: int, places: Indices) -> None:
    """Fill an empty tree with tuples in its order, in leaves of one size, about three quarters full."""
    size, n = index.pool[0].node_size, places.size
    n_leaves = max(min(-(-4 * n // (3 * size)), n // ((size + 1) // 2)), 1)
    leaf, level = NONE, 0
    for i in range(n_leaves if n else 0):
        first, last = i * n // n_leaves, (i + 1) * n // n_leaves
        fresh = take_node(index, side, 1)
        for j in range(first, last):
            write_entry(index, fresh, j - first, places[j])
        index.tree[fresh].count = last - first
        if leaf < 0:
            index.sides[side].root = fresh
            set_height(index, side, 1)
        else:
            link_leaf(index, leaf, fresh)
            level = follow_last(index, side)
            parent = add_sibling(index, side, level, leaf, places[first], fresh)
            split_upwards(index, side, parent, level - 1)
        leaf = fresh


@part
def follow_last(index: WindowIndex, side: int) -> int:
    """Note the way to the last leaf in `path`; returns the level of its parent."""
    node, levels = index.sides[side].root, index.sides[side].height - 1
    for level in range(levels):
        slot = index.tree[node].count
        index.path[0, level], index.path[1, level] = node, slot
        node = child_of(index, node, slot)
    return int(levels - 1)
