"""A T-tree over a window (KN-16): a balanced binary tree of nodes with many entries, all between its subtrees'.

After Lehman and Carey, "A Study of Index Structures for Main Memory Database Management Systems", VLDB 1986. A tuple
lies in the node that bounds it.

Invariants (an inner node has both children, a half-leaf one, a leaf none):
- The subtrees of a node differ by at most one in height.
- An inner node has at least node_size - 2 entries, and at least one; it borrows from the last node of its left subtree.
- A half-leaf and its leaf have together more entries than a node holds; else they are merged.
- No node is empty.

A rotation may put a leaf or a half-leaf on top. The special rotation of Lehman and Carey, which fills such a node from
its new child, is here a case of borrowing.
"""

from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.windows.layout import WindowIndex
from punctuated.kernels.windows.tree_nodes import (
    collect_run,
    comes_before,
    copy_entries,
    count_below,
    count_through,
    ends_below,
    erase_entry,
    free_node,
    insert_entry,
    open_front,
    take_node,
    write_entry,
)

# Shape: AVL balance, inner nodes nearly full, and no half-leaf that has room for its leaf


@inlined
def has_both(index: WindowIndex, node: int) -> bool:
    """Whether this is an inner node."""
    return bool(index.tree[node].left >= 0 and index.tree[node].right >= 0)


@inlined
def fewest_inner_entries(index: WindowIndex) -> int:
    """How many entries an inner node must have: fewer than fit, which saves rotations where entries come and go."""
    return max(int(index.pool[0].node_size) - 2, 1)


@inlined
def last_node(index: WindowIndex, node: int) -> int:
    """The rightmost node of a subtree."""
    while index.tree[node].right >= 0:
        node = int(index.tree[node].right)
    return node


@inlined
def only_leaf(index: WindowIndex, node: int) -> int:
    """The leaf below a half-leaf, or NONE."""
    left, right = int(index.tree[node].left), int(index.tree[node].right)
    child = left if right < 0 else right if left < 0 else NONE
    return child if child >= 0 and index.tree[child].height == 1 else NONE


@inlined
def can_merge(index: WindowIndex, node: int) -> bool:
    """Whether a half-leaf has room for its leaf."""
    leaf = only_leaf(index, node)
    return bool(leaf >= 0 and index.tree[node].count + index.tree[leaf].count <= index.pool[0].node_size)


@inlined
def needs_mending(index: WindowIndex, node: int) -> bool:
    """Whether a leaf or half-leaf that has lost entries must go or merge."""
    if index.tree[node].count == 0 or can_merge(index, node):
        return True
    parent = index.tree[node].parent
    return bool(parent >= 0 and can_merge(index, parent))


@inlined
def measure(index: WindowIndex, node: int) -> int:
    """Set the height of a node from its children's; returns by how much the left child is higher."""
    ours = index.tree[node]
    left = index.tree[ours.left].height if ours.left >= 0 else 0
    right = index.tree[ours.right].height if ours.right >= 0 else 0
    ours.height = max(left, right) + 1
    return int(left - right)


@inlined
def replace_child(index: WindowIndex, side: int, parent: int, child: int, other: int) -> None:
    """Let a parent, or the root, point to another node."""
    if parent < 0:
        index.sides[side].root = other
    elif index.tree[parent].left == child:
        index.tree[parent].left = other
    else:
        index.tree[parent].right = other
    if other >= 0:
        index.tree[other].parent = parent


@subroutine
def lift(index: WindowIndex, side: int, child: int) -> None:
    """Exchange a child and its parent: a single rotation."""
    node = int(index.tree[child].parent)
    replace_child(index, side, index.tree[node].parent, node, child)
    if index.tree[node].left == child:
        between = index.tree[child].right
        index.tree[child].right, index.tree[node].left = node, between
    else:
        between = index.tree[child].left
        index.tree[child].left, index.tree[node].right = node, between
    index.tree[node].parent = child
    if between >= 0:
        index.tree[between].parent = node
    measure(index, node)


@subroutine
def rotate(index: WindowIndex, side: int, node: int, balance: int) -> int:
    """Lift the higher child, or its inner child twice if that is the higher one; returns the new top."""
    top = int(index.tree[node].left if balance > 0 else index.tree[node].right)
    lean = measure(index, top)
    if lean * balance < 0:
        top = int(index.tree[top].right if balance > 0 else index.tree[top].left)
        lift(index, side, top)
    lift(index, side, top)
    return top


@subroutine
def merge_leaf(index: WindowIndex, side: int, node: int) -> None:
    """Move the entries of a leaf to its half-leaf, which becomes a leaf."""
    leaf = only_leaf(index, node)
    ours, gone = index.tree[node], index.tree[leaf]
    if ours.left == leaf:
        open_front(index.entries, node, gone.count, ours.count)
        copy_entries(index.entries, leaf, 0, gone.count, node, 0)
    else:
        copy_entries(index.entries, leaf, 0, gone.count, node, ours.count)
    ours.count += gone.count
    ours.left = ours.right = NONE
    ours.height = 1
    free_node(index, side, leaf)


@subroutine
def borrow(index: WindowIndex, node: int) -> int:
    """Fill an inner node up to what it must have with the entries just below its own; returns the node that gave."""
    ours = index.tree[node]
    giver = last_node(index, ours.left)
    count = index.tree[giver].count
    width = min(fewest_inner_entries(index) - ours.count, count)
    open_front(index.entries, node, width, ours.count)
    copy_entries(index.entries, giver, count - width, count, node, 0)
    ours.count += width
    index.tree[giver].count = count - width
    return giver


@subroutine
def mend(index: WindowIndex, side: int, node: int) -> None:
    """Restore the invariants from a node up to the root. A node that gives entries is mended before those above it."""
    while node >= 0:
        ours = index.tree[node]
        parent = int(ours.parent)
        if ours.count == 0 and ours.left < 0 and ours.right < 0:
            replace_child(index, side, parent, node, NONE)
            free_node(index, side, node)
            node = parent
            continue
        if can_merge(index, node):
            merge_leaf(index, side, node)
        if has_both(index, node) and ours.count < fewest_inner_entries(index):
            node = borrow(index, node)
            continue
        balance = measure(index, node)
        if -1 <= balance <= 1:
            node = parent
            continue
        node = rotate(index, side, node, balance)
        for child in (int(index.tree[node].left), int(index.tree[node].right)):
            if can_merge(index, child):
                merge_leaf(index, side, child)


# Inserting


@inlined
def find_bounding(index: WindowIndex, side: int, position: int) -> int:
    """The node that bounds a tuple, or else the last one on the path to it."""
    node = int(index.sides[side].root)
    while True:
        ours = index.tree[node]
        last = ours.count - 1
        if comes_before(index, position, node, 0):
            below = ours.left
        elif index.entries.position[node, last] == position or comes_before(index, position, node, last):
            return node
        else:
            below = ours.right
        if below < 0:
            return node
        node = int(below)


@subroutine
def add_leaf(index: WindowIndex, side: int, parent: int, is_left: bool, position: int) -> None:
    """Add a leaf with one tuple."""
    leaf = take_node(index, side, 1)
    write_entry(index, leaf, 0, position)
    index.tree[leaf].count, index.tree[leaf].parent = 1, parent
    if is_left:
        index.tree[parent].left = leaf
    else:
        index.tree[parent].right = leaf
    mend(index, side, parent)


@subroutine
def insert_into_full(index: WindowIndex, side: int, node: int, slot: int, position: int) -> None:
    """Enter a tuple into a full node, or into a new leaf beside the node if that does not bound it.

    The smallest entry of the full node makes room: it becomes the last entry of the left subtree.
    """
    count, left = index.tree[node].count, index.tree[node].left
    parent, is_left, moved = node, slot == 0, position
    if 0 < slot < count:
        moved = index.entries.position[node, 0]
        erase_entry(index, node, 0)
        insert_entry(index, node, slot - 1, position)
        is_left = left < 0
        parent = node if is_left else last_node(index, left)
        room = index.tree[parent].count
        if room < index.pool[0].node_size:
            insert_entry(index, parent, room, moved)
            return
    add_leaf(index, side, parent, is_left, moved)


@inlined
def insert_into_t_tree(index: WindowIndex, side: int, position: int) -> None:
    """Enter a stored tuple into a side's tree."""
    ours = index.sides[side]
    if ours.root < 0:
        ours.root = take_node(index, side, 1)
        insert_entry(index, ours.root, 0, position)
        return
    node = find_bounding(index, side, position)
    slot = count_through(index, node, position)
    if index.tree[node].count < index.pool[0].node_size:
        insert_entry(index, node, slot, position)
    else:
        insert_into_full(index, side, node, slot, position)


# Removing


@inlined
def remove_from_t_tree(index: WindowIndex, side: int, position: int) -> None:
    """Take a tuple out of a side's tree; its key must still be at its position."""
    node = find_bounding(index, side, position)
    erase_entry(index, node, count_through(index, node, position) - 1)
    if has_both(index, node):
        if index.tree[node].count >= fewest_inner_entries(index):
            return
        node = borrow(index, node)
    if needs_mending(index, node):
        mend(index, side, node)


# Probing


@inlined
def next_node(index: WindowIndex, node: int) -> int:
    """The node whose entries follow those of a node."""
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
    """Write the positions of the matches, in the order of the tree; returns how many there are."""
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


# Loading


@subroutine
def load_t_tree(index: WindowIndex, side: int, positions: Indices) -> None:
    """Fill an empty tree with tuples in its order, in full nodes, each to the right of all before."""
    size, n = index.pool[0].node_size, positions.size
    for first in range(0, n, size):
        last = min(first + size, n)
        fresh = take_node(index, side, 1)
        for i in range(first, last):
            write_entry(index, fresh, i - first, positions[i])
        index.tree[fresh].count = last - first
        if first == 0:
            index.sides[side].root = fresh
        else:
            parent = last_node(index, index.sides[side].root)
            index.tree[parent].right, index.tree[fresh].parent = fresh, parent
            mend(index, side, parent)
