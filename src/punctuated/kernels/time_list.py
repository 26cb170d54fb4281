"""The time list, a ring of T-Nodes in arrival order (PW-15), and the value lists through it (PW-16)."""

import numpy as np

from punctuated.kernels.jit import inlined, kernel
from punctuated.kernels.layout import DEAD, NEVER, NONE, AnyState, Ints, Records


@inlined
def append_node(state: AnyState, side: int, index: int, ts: int, row: int) -> int:
    """Store a tuple at the tail of the ring and of its value list (PW-28); the caller has seen to the room."""
    ours = state.sides[side]
    position = ours.head + ours.length
    if position >= ours.ring_stop:
        position -= ours.ring_stop - ours.ring_start
    ours.length += 1
    ours.live += 1
    ours.appended += 1
    node = state.nodes[position]
    node.ts, node.next, node.value, node.row, node.mark = ts, NONE, index, row, 0
    value = state.values[index]
    if value.count[side] == 0:
        value.head[side] = position
    else:
        state.nodes[value.tail[side]].next = position
    value.tail[side] = position
    value.count[side] += 1
    if state.seq.size:
        state.seq[position] = ours.accepted if ours.rows else state.common[0].seq
    return int(position)


@inlined
def has_own_windows(state: AnyState) -> bool:
    """Whether every tuple has a window of its own, which the compiler knows by the type of the state."""
    return bool(state.own_windows.ndim == 2)


@inlined
def expiry(state: AnyState, side: int, position: int) -> int:
    """The last moment at which a tuple of another side can meet this one, where windows forget tuples."""
    since = state.ends[position] if has_own_windows(state) else state.nodes[position].ts
    return int(since + state.sides[side].forget_after)


@inlined
def last_expiry(state: AnyState, side: int, index: int) -> int:
    """The last moment at which a side's last tuple of a value can be met; it means nothing if there was no tuple."""
    ours, last = state.sides[side], state.endings[index].last_ts[side]
    if has_own_windows(state) and last != NEVER:
        last = state.last_ends[index, side]
    return int(last + ours.forget_after)


@inlined
def unlink_first(state: AnyState, side: int, index: int) -> None:
    """Take the oldest node out of its value list; it becomes a shell of the ring."""
    value = state.values[index]
    node = state.nodes[value.head[side]]
    value.head[side] = node.next
    value.count[side] -= 1
    node.value = NONE


@inlined
def next_position(state: AnyState, side: int, position: int) -> int:
    """The slot of a side's ring that follows this one."""
    ours = state.sides[side]
    return ours.ring_start if position + 1 == ours.ring_stop else position + 1


@inlined
def advance_head(state: AnyState, side: int) -> None:
    """Free the oldest slot of the ring, which must be a shell."""
    ours = state.sides[side]
    ours.head = next_position(state, side, ours.head)
    ours.length -= 1


# Living nodes


@kernel
def living_nodes(nodes: Records, ring: tuple[int, int], head: int, skipped: int, length: int) -> Ints:
    """The positions of a ring's nodes that hold a tuple, oldest first, without the first `skipped` ones.

    `ring` is where its slots start and stop.
    """
    start, stop = ring
    found = np.empty(length - skipped, np.int64)
    n = 0
    for offset in range(skipped, length):
        position = head + offset
        if position >= stop:
            position -= stop - start
        if nodes[position].value >= 0 and nodes[position].mark & DEAD == 0:
            found[n] = position
            n += 1
    return found[:n]
