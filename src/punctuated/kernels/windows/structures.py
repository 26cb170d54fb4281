"""The operations of all structures over a join's windows, chosen by the kind of each (KN-06, KN-20).

The caller keeps the ring of tuples and their keys at `index.group`, `low`, `high` and `number`. It sees to the room
(`lacks_room`) before an insert, and leaves a key as it is until its position is removed.
"""

from punctuated.kernels.jit import in_place, inlined, subroutine
from punctuated.kernels.layout import NONE, Indices
from punctuated.kernels.windows.b_tree import (
    collect_from_b_tree,
    insert_into_b_tree,
    load_b_tree,
    remove_from_b_tree,
    set_height,
)
from punctuated.kernels.windows.hash_buckets import (
    append_to_bucket,
    collect_from_bucket,
    empty_buckets,
    take_from_bucket,
)
from punctuated.kernels.windows.layout import BTREE, HASHED, NESTED, TTREE, WindowIndex
from punctuated.kernels.windows.nested_loops import add_to_buffer, blank, blank_buffer, scan_buffer
from punctuated.kernels.windows.t_tree import collect_from_t_tree, insert_into_t_tree, load_t_tree, remove_from_t_tree
from punctuated.kernels.windows.tree_nodes import free_all_nodes

__all__ = [
    "BTREE",
    "HASHED",
    "NESTED",
    "TTREE",
    "WindowIndex",
    "clear",
    "collect",
    "insert",
    "lacks_room",
    "load",
    "remove",
]


@inlined
def insert(index: WindowIndex, side: int, position: int) -> None:
    """Enter the tuple whose key is at `position`."""
    ours = index.sides[side]
    ours.count += 1
    if ours.kind == HASHED:
        append_to_bucket(index, side, position)
    elif ours.kind == NESTED:
        add_to_buffer(index, side, position)
    elif ours.kind == BTREE:
        insert_into_b_tree(index, side, position)
    else:
        insert_into_t_tree(index, side, position)


@inlined
def remove(index: WindowIndex, side: int, position: int) -> None:
    """Take out the tuple at `position`, which must be stored: usually, but not necessarily, the oldest of the side."""
    ours = index.sides[side]
    ours.count -= 1
    if ours.kind == HASHED:
        take_from_bucket(index, side, position)
    elif ours.kind == NESTED:
        blank(index, position)
    elif ours.kind == BTREE:
        remove_from_b_tree(index, side, position)
    else:
        remove_from_t_tree(index, side, position)


@inlined
def collect(
    index: WindowIndex, side: int, first: int, last: int, group: int, low: int, high: int, found: Indices
) -> int:
    """Write the positions of all tuples that match into `found`; returns how many there are.

    Nested loops look at the slots [first, last) of the ring, and only there; the others know where theirs are.
    """
    kind = index.sides[side].kind
    if kind == HASHED:
        return collect_from_bucket(index, side, group, low, high, found)
    if kind == NESTED:
        return scan_buffer(index, first, last, group, low, high, found)
    if kind == BTREE:
        return collect_from_b_tree(index, side, group, low, high, found)
    return collect_from_t_tree(index, side, group, low, high, found)


@subroutine
def clear(index: WindowIndex, side: int) -> None:
    """Take out all tuples of a side."""
    ours = index.sides[side]
    ours.count = 0
    if ours.kind == HASHED:
        empty_buckets(index, side)
    elif ours.kind == NESTED:
        blank_buffer(index, side)
    else:
        free_all_nodes(index, side)
        ours.root = NONE
        if ours.kind == BTREE:
            set_height(index, side, 0)


@in_place
def lacks_room(index: WindowIndex) -> bool:
    """Whether an insert may need more nodes than are free, or buckets hold more than they should on average."""
    left, right, n_free = index.sides[0], index.sides[1], index.pool[0].n_free
    return bool(n_free < left.reserve or n_free < right.reserve or left.count > left.limit or right.count > right.limit)


@in_place
def load(index: WindowIndex, side: int, positions: Indices) -> None:
    """Fill an empty structure: trees in their order, (group, high, low, number), the others oldest first."""
    ours = index.sides[side]
    ours.count = positions.size
    if ours.kind == BTREE:
        load_b_tree(index, side, positions)
    elif ours.kind == TTREE:
        load_t_tree(index, side, positions)
    else:
        for position in positions:
            if ours.kind == HASHED:
                append_to_bucket(index, side, position)
            else:
                add_to_buffer(index, side, position)
