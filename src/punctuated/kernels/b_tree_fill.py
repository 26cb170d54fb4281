"""How a B+tree keeps its nodes half full after a removal: by an entry of a sibling, or by merging with it."""

from punctuated.kernels._jit import inlined, part
from punctuated.kernels.b_tree_nodes import child_of, erase_child, free_inner_node, insert_child, set_height
from punctuated.kernels.tree_nodes import copy_entries, erase_entry, free_node, insert_entry, write_entry
from punctuated.kernels.window_layout import WindowIndex


@inlined
def fewest_entries(index: WindowIndex, node: int) -> int:
    """What a node other than the root must have: half of the entries, or half of the children."""
    size = index.pool[0].node_size
    return int((size + 1) // 2 if index.tree[node].height == 1 else size // 2)


@part
def renew_separator(index: WindowIndex, side: int, leaf: int) -> None:
    """A leaf has lost its smallest entry: the separator that stood for it goes over to the next one."""
    smallest = leaf if index.tree[leaf].count else index.tree[leaf].right
    if smallest < 0:
        return
    for level in range(index.sides[side].height - 2, -1, -1):
        slot = index.path[1, level]
        if slot > 0:
            write_entry(index, index.path[0, level], slot - 1, index.entries.place[smallest, 0])
            return


@part
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


@part
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


@part
def give_right(index: WindowIndex, parent: int, slot: int) -> None:
    """Move the last entry of a child to the next one; between inner nodes, by way of the separator."""
    left, right = child_of(index, parent, slot), child_of(index, parent, slot + 1)
    count = index.tree[left].count
    last = index.entries.place[left, count - 1]
    if index.tree[left].height == 1:
        insert_entry(index, right, 0, last)
    else:
        insert_child(index, right, 0, index.tree[right].count + 1, child_of(index, left, count))
        insert_entry(index, right, 0, index.entries.place[parent, slot])
    write_entry(index, parent, slot, last)
    index.tree[left].count = count - 1


@part
def give_left(index: WindowIndex, parent: int, slot: int) -> None:
    """Move the first entry of the next child to a child; between inner nodes, by way of the separator."""
    left, right = child_of(index, parent, slot), child_of(index, parent, slot + 1)
    count, first = index.tree[left].count, index.entries.place[right, 0]
    if index.tree[left].height == 1:
        insert_entry(index, left, count, first)
        write_entry(index, parent, slot, index.entries.place[right, 1])
    else:
        insert_child(index, left, count + 1, count + 1, child_of(index, right, 0))
        insert_entry(index, left, count, index.entries.place[parent, slot])
        erase_child(index, right, 0, index.tree[right].count + 1)
        write_entry(index, parent, slot, first)
    erase_entry(index, right, 0)


@part
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
        insert_entry(index, left, ours.count, index.entries.place[parent, slot])
        copy_entries(index.entries, right, 0, gone.count, left, ours.count)
        for i in range(gone.count + 1):
            index.entries.place[ours.left, ours.count + i] = index.entries.place[gone.left, i]
        ours.count += gone.count
        free_inner_node(index, side, right)
    erase_child(index, parent, slot + 1, index.tree[parent].count + 1)
    erase_entry(index, parent, slot)
