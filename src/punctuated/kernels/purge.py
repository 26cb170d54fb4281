"""Purge: forgetting by value (PW-07, PW-25), and the unmatched rows that a forgotten tuple leaves behind."""

from punctuated.kernels._jit import inlined, part
from punctuated.kernels.layout import DEAD, EFFECT, FOREVER, MATCHED, NEVER, NONE, State
from punctuated.kernels.time_list import expiry


@inlined
def emit_unmatched(state: State, side: int, row: int, ts: int) -> None:
    """An unmatched tuple of a preserved side comes out."""
    common = state.common[0]
    entry = state.unmatched[common.n_unmatched]
    entry.ts, entry.row, entry.side = ts, row, side
    common.n_unmatched += 1
    common.unmatched += 1


@inlined
def forget_tuple(state: State, side: int, position: int, ts: int) -> None:
    """A tuple leaves the state for good; `ts` is the time of the proof that nothing can match it any more."""
    ours, node = state.sides[side], state.nodes[position]
    ours.live -= 1
    if ours.preserved and node.mark & MATCHED == 0:
        emit_unmatched(state, side, node.row, max(ts, node.ts))


@inlined
def ended_ts(state: State, side: int, index: int) -> int:
    """The time of the punctuation by which the side ended a value; the end of the stream ends all that is left."""
    if state.values[index].flags & (EFFECT << side):
        ts = state.endings[index].ended_ts[side]
        return int(ts if ts != NEVER else state.sides[side].settled)
    return int(state.sides[side].end_ts)


@inlined
def window_proof(state: State, side: int, position: int) -> int:
    """When a tuple out of its window was proved to match nothing: an ending that has not purged yet may be first."""
    node = state.nodes[position]
    proof = expiry(state, side, position)
    flags = state.values[node.value].flags
    if state.common[0].forgets_by_punctuation and flags & (EFFECT << (1 - side)):
        proof = min(proof, max(node.ts, state.endings[node.value].ended_ts[1 - side]))
    return int(proof)


@part
def drop_expired(state: State, side: int, index: int) -> None:
    """Before a purge is put off: what has left its window already goes by its window."""
    watermark = state.sides[1 - side].watermark
    position = state.values[index].head[side]
    for _ in range(state.values[index].count[side]):
        node, last = state.nodes[position], expiry(state, side, position)
        if node.mark & DEAD == 0 and last < watermark:
            node.mark |= DEAD
            state.common[0].invalidated += 1
            forget_tuple(state, side, position, last)
        position = node.next


@part
def purge_value(state: State, side: int, index: int, ts: int) -> None:
    """Forget a side's tuples of a value, because the other stream ended it at `ts`; the ring keeps shells (PW-31)."""
    other, common, value = state.sides[1 - side], state.common[0], state.values[index]
    position = value.head[side]
    while value.count[side] > 0:
        node = state.nodes[position]
        if node.mark & DEAD == 0:
            proof, last = ts, expiry(state, side, position)
            if last < other.watermark:  # the window was first; only out of order can it still be here
                proof = window_proof(state, side, position) if common.purge_threshold > 1 else last
                common.invalidated += 1
            else:
                common.purged += 1
                if other.end_ts != FOREVER:
                    proof = min(last, max(ts, node.ts))
            forget_tuple(state, side, position, proof)
        node.value = NONE
        value.count[side] -= 1
        position = node.next


@part
def has_stored(state: State, side: int, index: int) -> bool:
    """Whether any tuple of a value is in the state of a side; what has left its window may still be linked."""
    watermark = state.sides[1 - side].watermark
    position = state.values[index].head[side]
    for _ in range(state.values[index].count[side]):
        node = state.nodes[position]
        if node.mark & DEAD == 0 and expiry(state, side, position) >= watermark:
            return True
        position = node.next
    return False
