"""Probe: a new tuple meets the stored tuples of its value on the other side (PW-24)."""

from punctuated.kernels.jit import inlined
from punctuated.kernels.layout import DEAD, MATCHED, NONE, State
from punctuated.kernels.time_list import has_own_windows


@inlined
def in_window(state: State, side: int, ts: int, end: int, position: int) -> bool:
    """Whether a tuple at `ts` and the other side's tuple at `position` may be joined.

    The later of the two must be in the window of the earlier one; at equal times both windows must admit it. `end` is
    the end of the tuple's own window, if it has one.
    """
    ours, other = state.sides[side], state.sides[1 - side]
    distance = ts - state.nodes[position].ts
    if has_own_windows(state):
        by_other = distance < 0 or (other.offset <= distance and ts <= state.ends[position])
        return bool(by_other and (distance > 0 or (ours.offset <= -distance and ts - distance <= end)))
    if distance > 0:
        return bool(other.offset <= distance <= other.span)
    if distance < 0:
        return bool(ours.offset <= -distance <= ours.span)
    return bool(ours.offset == 0 and other.offset == 0)


@inlined
def probe_pairs(state: State, side: int, index: int, ts: int, end: int, row: int) -> bool:
    """Write a pair for every stored match; true if there was one."""
    common = state.common[0]
    first = n = common.n_pairs
    marks = common.marks_matches
    position = state.values[index].head[1 - side]
    for _ in range(state.values[index].count[1 - side]):
        node = state.nodes[position]
        if node.mark & DEAD == 0 and in_window(state, side, ts, end, position):
            state.pairs[side, n] = row
            state.pairs[1 - side, n] = node.row
            n += 1
            if marks:
                node.mark |= MATCHED
        position = node.next
    common.n_pairs = n
    common.results += n - first
    return bool(n > first)


@inlined
def emit_first(state: State, side: int, row: int, other_row: int) -> None:
    """Write the first match of a tuple, which is all that a semi join asks for."""
    common = state.common[0]
    state.pairs[side, common.n_pairs] = row
    state.pairs[1 - side, common.n_pairs] = other_row
    common.n_pairs += 1
    common.results += 1


@inlined
def find_first(state: State, side: int, index: int, ts: int, end: int, row: int) -> bool:
    """Write the oldest match of a left tuple of a semi or anti join; false if there is none."""
    position = state.values[index].head[1 - side]
    for _ in range(state.values[index].count[1 - side]):
        node = state.nodes[position]
        if node.mark & DEAD == 0 and in_window(state, side, ts, end, position):
            emit_first(state, side, row, node.row)
            return True
        position = node.next
    return False


@inlined
def consume_matches(state: State, side: int, index: int, ts: int, end: int, row: int) -> bool:
    """Match a right tuple of a semi or anti join with left tuples, which need no other match and are forgotten."""
    other, value = state.sides[1 - side], state.values[index]
    before, position = NONE, value.head[1 - side]
    found = False
    for _ in range(value.count[1 - side]):
        node = state.nodes[position]
        following = node.next
        if node.mark & DEAD == 0 and in_window(state, side, ts, end, position):
            found = True
            emit_first(state, side, row, node.row)
            node.mark |= MATCHED | DEAD
            other.live -= 1
        if node.mark & DEAD and not other.rows:
            node.value = NONE
            value.count[1 - side] -= 1
            if before >= 0:
                state.nodes[before].next = following
            else:
                value.head[1 - side] = following
            if following < 0:
                value.tail[1 - side] = before
        else:
            before = position
        position = following
    return found
