"""A B+tree over a window (KN-15): entries in linked leaves at one depth, separators above them.

Invariants:
- A node has at most node_size entries, and at least half of that unless it is the root.
- A separator is the smallest entry of the subtree to its right, so it names a tuple that is stored.
- An inner node is two nodes of the pool: its own has the separators, the one at `left` the children.
"""

from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.windows.layout import WindowIndex
from punctuated.kernels.windows.tree_nodes import (
    collect_run,
    copy_entries,
    count_below,
    count_through,
    erase_entry,
    free_node,
    insert_entry,
    take_node,
    write_entry,
)

# Inner nodes and their children


@inlined
def child_of(index: WindowIndex, node: int, slot: int) -> int:
    """The child to the left of the separator in `slot`, or the last child behind the last separator."""
    return int(index.entries.position[index.tree[node].left, slot])


@inlined
def take_inner_node(index: WindowIndex, side: int, height: int) -> int:
    """Take an inner node without children: one node of the pool for separators, one for children."""
    node = take_node(index, side, height)
    index.tree[node].left = take_node(index, side, 0)
    return node


@inlined
def free_inner_node(index: WindowIndex, side: int, node: int) -> None:
    """Give both nodes of an inner node back."""
    free_node(index, side, index.tree[node].left)
    free_node(index, side, node)


@inlined
def insert_child(index: WindowIndex, node: int, slot: int, count: int, child: int) -> None:
    """Insert a child into a slot among `count` children."""
    children = index.tree[node].left
    for i in range(count - 1, slot - 1, -1):
        index.entries.position[children, i + 1] = index.entries.position[children, i]
    index.entries.position[children, slot] = child


@inlined
def erase_child(index: WindowIndex, node: int, slot: int, count: int) -> None:
    """Close the gap that one of `count` children leaves."""
    children = index.tree[node].left
    for i in range(slot + 1, count):
        index.entries.position[children, i - 1] = index.entries.position[children, i]


@inlined
def set_height(index: WindowIndex, side: int, height: int) -> None:
    """Note the number of levels: an insert may split a node on each of them, and put a root on top."""
    ours = index.sides[side]
    ours.height, ours.reserve = height, 2 * height + 1
    if height == 0:
        ours.root = NONE


# Inserting and splitting


@inlined
def find_leaf(index: WindowIndex, side: int, position: int) -> int:
    """The leaf where a tuple belongs; the path to it is noted in `path`."""
    node = index.sides[side].root
    for level in range(index.sides[side].height - 1):
        slot = count_through(index, node, position)
        index.path[0, level], index.path[1, level] = node, slot
        node = child_of(index, node, slot)
    return int(node)


@subroutine
def split_node(index: WindowIndex, side: int, node: int) -> int:
    """Move the upper half of an overfull node to a new one; their separator stays behind the lower half."""
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
        index.entries.position[index.tree[fresh].left, i - keep - 1] = index.entries.position[ours.left, i]
    return fresh


@inlined
def link_leaf(index: WindowIndex, leaf: int, fresh: int) -> None:
    """Link a new leaf as the right neighbour of another one."""
    after = index.tree[leaf].right
    index.tree[fresh].left, index.tree[fresh].right = leaf, after
    index.tree[leaf].right = fresh
    if after >= 0:
        index.tree[after].left = fresh


@subroutine
def add_sibling(index: WindowIndex, side: int, level: int, node: int, separator: int, fresh: int) -> int:
    """Enter a new node into the parent of its left sibling; returns the parent, made anew if that was the root."""
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


@subroutine
def split_upwards(index: WindowIndex, side: int, node: int, level: int) -> None:
    """Split overfull nodes on the way to the root; `level` is that of the parent in the path."""
    while index.tree[node].count > index.pool[0].node_size:
        fresh = split_node(index, side, node)
        separator = index.entries.position[node, index.tree[node].count]
        node = add_sibling(index, side, level, node, separator, fresh)
        level -= 1


@inlined
def insert_into_b_tree(index: WindowIndex, side: int, position: int) -> None:
    """Enter a stored tuple into a side's tree."""
    ours = index.sides[side]
    if ours.root < 0:
        ours.root = take_node(index, side, 1)
        set_height(index, side, 1)
    leaf = find_leaf(index, side, position)
    insert_entry(index, leaf, count_through(index, leaf, position), position)
    if index.tree[leaf].count > index.pool[0].node_size:
        split_upwards(index, side, leaf, ours.height - 2)


# Keeping nodes half full after a removal: by an entry of a sibling, or by merging with it


@inlined
def fewest_entries(index: WindowIndex, node: int) -> int:
    """How many entries a node other than the root must have: half of a leaf's, or half of the children less one."""
    size = index.pool[0].node_size
    return int((size + 1) // 2 if index.tree[node].height == 1 else size // 2)


@subroutine
def renew_separator(index: WindowIndex, side: int, leaf: int) -> None:
    """Replace the separator that named the smallest entry of a leaf, which has lost it, by the next entry."""
    smallest = leaf if index.tree[leaf].count else index.tree[leaf].right
    if smallest < 0:
        return
    for level in range(index.sides[side].height - 2, -1, -1):
        slot = index.path[1, level]
        if slot > 0:
            write_entry(index, index.path[0, level], slot - 1, index.entries.position[smallest, 0])
            return


@subroutine
def fill_upwards(index: WindowIndex, side: int, leaf: int) -> None:
    """Fill or merge nodes that are less than half full on the way to the root, which goes if nothing is left in it."""
    ours = index.sides[side]
    node = leaf
    for level in range(ours.height - 2, -1, -1):
        if index.tree[node].count >= fewest_entries(index, node):
            return
        node = int(index.path[0, level])
        fill_child(index, side, node, index.path[1, level])
    if index.tree[node].count:
        return
    if index.tree[node].height == 1:
        free_node(index, side, node)
        set_height(index, side, 0)
    else:
        ours.root = child_of(index, node, 0)
        free_inner_node(index, side, node)
        set_height(index, side, ours.height - 1)


@subroutine
def fill_child(index: WindowIndex, side: int, parent: int, slot: int) -> None:
    """Give a child that lacks an entry one of a sibling, or merge it with one."""
    if slot > 0 and can_give(index, parent, slot - 1):
        give_right(index, parent, slot - 1)
    elif slot < index.tree[parent].count and can_give(index, parent, slot + 1):
        give_left(index, parent, slot)
    else:
        merge_children(index, side, parent, max(slot - 1, 0))


@inlined
def can_give(index: WindowIndex, parent: int, slot: int) -> bool:
    """Whether a child has more entries than it must have."""
    child = child_of(index, parent, slot)
    return bool(index.tree[child].count > fewest_entries(index, child))


@subroutine
def give_right(index: WindowIndex, parent: int, slot: int) -> None:
    """Move the last entry of a child to the next one; between inner nodes, by way of the separator."""
    left, right = child_of(index, parent, slot), child_of(index, parent, slot + 1)
    count = index.tree[left].count
    last = index.entries.position[left, count - 1]
    if index.tree[left].height == 1:
        insert_entry(index, right, 0, last)
    else:
        insert_child(index, right, 0, index.tree[right].count + 1, child_of(index, left, count))
        insert_entry(index, right, 0, index.entries.position[parent, slot])
    write_entry(index, parent, slot, last)
    index.tree[left].count = count - 1


@subroutine
def give_left(index: WindowIndex, parent: int, slot: int) -> None:
    """Move the first entry of the next child to a child; between inner nodes, by way of the separator."""
    left, right = child_of(index, parent, slot), child_of(index, parent, slot + 1)
    count, first = index.tree[left].count, index.entries.position[right, 0]
    if index.tree[left].height == 1:
        insert_entry(index, left, count, first)
        write_entry(index, parent, slot, index.entries.position[right, 1])
    else:
        insert_child(index, left, count + 1, count + 1, child_of(index, right, 0))
        insert_entry(index, left, count, index.entries.position[parent, slot])
        erase_child(index, right, 0, index.tree[right].count + 1)
        write_entry(index, parent, slot, first)
    erase_entry(index, right, 0)


@subroutine
def merge_children(index: WindowIndex, side: int, parent: int, slot: int) -> None:
    """Put the next child's entries into a child; between inner nodes, the separator comes down."""
    left, right = child_of(index, parent, slot), child_of(index, parent, slot + 1)
    ours, gone = index.tree[left], index.tree[right]
    if ours.height == 1:
        copy_entries(index.entries, right, 0, gone.count, left, ours.count)
        ours.count += gone.count
        ours.right = gone.right
        if gone.right >= 0:
            index.tree[gone.right].left = left
        free_node(index, side, right)
    else:
        insert_entry(index, left, ours.count, index.entries.position[parent, slot])
        copy_entries(index.entries, right, 0, gone.count, left, ours.count)
        for i in range(gone.count + 1):
            index.entries.position[ours.left, ours.count + i] = index.entries.position[gone.left, i]
        ours.count += gone.count
        free_inner_node(index, side, right)
    erase_child(index, parent, slot + 1, index.tree[parent].count + 1)
    erase_entry(index, parent, slot)


@inlined
def remove_from_b_tree(index: WindowIndex, side: int, position: int) -> None:
    """Take a tuple out of a side's tree; its key must still be at its position."""
    leaf = find_leaf(index, side, position)
    slot = count_through(index, leaf, position) - 1
    erase_entry(index, leaf, slot)
    if slot == 0:
        renew_separator(index, side, leaf)
    if index.tree[leaf].count < (index.pool[0].node_size + 1) // 2:
        fill_upwards(index, side, leaf)


# Probing


@inlined
def collect_from_b_tree(index: WindowIndex, side: int, group: int, low: int, high: int, found: Indices) -> int:
    """Write the positions of the matches, in the order of the tree; returns how many there are."""
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


# Loading


@subroutine
def load_b_tree(index: WindowIndex, side: int, positions: Indices) -> None:
    """Fill an empty tree with tuples in its order, in leaves of one size, about three quarters full."""
    size, n = index.pool[0].node_size, positions.size
    n_leaves = max(min(-(-4 * n // (3 * size)), n // ((size + 1) // 2)), 1)
    leaf, level = NONE, 0
    for i in range(n_leaves if n else 0):
        first, last = i * n // n_leaves, (i + 1) * n // n_leaves
        fresh = take_node(index, side, 1)
        for j in range(first, last):
            write_entry(index, fresh, j - first, positions[j])
        index.tree[fresh].count = last - first
        if leaf < 0:
            index.sides[side].root = fresh
            set_height(index, side, 1)
        else:
            link_leaf(index, leaf, fresh)
            level = follow_last(index, side)
            parent = add_sibling(index, side, level, leaf, positions[first], fresh)
            split_upwards(index, side, parent, level - 1)
        leaf = fresh


@subroutine
def follow_last(index: WindowIndex, side: int) -> int:
    """Note the path to the last leaf in `path`; returns the level of its parent."""
    node, levels = index.sides[side].root, index.sides[side].height - 1
    for level in range(levels):
        slot = index.tree[node].count
        index.path[0, level], index.path[1, level] = node, slot
        node = child_of(index, node, slot)
    return int(levels - 1)
