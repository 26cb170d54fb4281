"""How a T-tree keeps its shape: AVL balance, inner nodes nearly full, and no half-leaf that has room for its leaf.

Invariants (an inner node has both children, a half-leaf one, a leaf none):
- The subtrees of a node differ by at most one in height.
- An inner node has at least node_size - 2 entries, and at least one; it borrows from the last node of its left subtree.
- A half-leaf and its leaf have together more entries than a node holds; else they are merged.
- No node is empty.

A rotation may put a leaf or a half-leaf on top. The special rotation of Lehman and Carey, which fills such a node from
its new child, is here a case of borrowing.
"""

from punctuated.kernels._jit import inlined, part
from punctuated.kernels.layout import NONE
from punctuated.kernels.tree_nodes import copy_entries, free_node, open_front
from punctuated.kernels.window_layout import WindowIndex


@inlined
def has_both(index: WindowIndex, node: int) -> bool:
    """Whether this is an inner node."""
    return bool(index.tree[node].left >= 0 and index.tree[node].right >= 0)


@inlined
def fewest_inner_entries(index: WindowIndex) -> int:
    """The small gap to a full node saves rotations where inserts and removals alternate."""
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
    """Set the height of a node from its children's; returns by how much the left one is higher."""
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


@part
def lift(index: WindowIndex, side: int, child: int) -> None:
    """A child changes places with its parent: a single rotation."""
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


@part
def rotate(index: WindowIndex, side: int, node: int, balance: int) -> int:
    """Lift the higher child, or its inner child twice if that is the higher one; returns the new top."""
    top = int(index.tree[node].left if balance > 0 else index.tree[node].right)
    lean = measure(index, top)
    if lean * balance < 0:
        top = int(index.tree[top].right if balance > 0 else index.tree[top].left)
        lift(index, side, top)
    lift(index, side, top)
    return top


@part
def merge_leaf(index: WindowIndex, side: int, node: int) -> None:
    """A half-leaf takes the entries of its leaf, and becomes one."""
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


@part
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


@part
def mend(index: WindowIndex, side: int, node: int) -> None:
    """Restore the invariants from a node up to the root. Whoever gives entries is mended before those above it."""
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
