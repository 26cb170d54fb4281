"""Inner nodes of a B+tree and their children."""

from punctuated.kernels._jit import inlined
from punctuated.kernels.layout import NONE
from punctuated.kernels.tree_nodes import free_node, take_node
from punctuated.kernels.window_layout import WindowIndex


@inlined
def child_of(index: WindowIndex, node: int, slot: int) -> int:
    """The child to the left of a separator, or behind the last one."""
    return int(index.entries.place[index.tree[node].left, slot])


@inlined
def take_inner_node(index: WindowIndex, side: int, height: int) -> int:
    """An inner node without children: one node of the pool for separators, one for children."""
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
    """A child takes a slot among `count` ones."""
    children = index.tree[node].left
    for i in range(count - 1, slot - 1, -1):
        index.entries.place[children, i + 1] = index.entries.place[children, i]
    index.entries.place[children, slot] = child


@inlined
def erase_child(index: WindowIndex, node: int, slot: int, count: int) -> None:
    """Close the gap that one of `count` children leaves."""
    children = index.tree[node].left
    for i in range(slot + 1, count):
        index.entries.place[children, i - 1] = index.entries.place[children, i]


@inlined
def set_height(index: WindowIndex, side: int, height: int) -> None:
    """Note the number of levels: an insert may split a node on each of them, and put a root on top."""
    ours = index.sides[side]
    ours.height, ours.reserve = height, 2 * height + 1
    if height == 0:
        ours.root = NONE
