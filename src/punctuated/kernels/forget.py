"""How tuples leave the state, whatever the reason, and what is known of the end of a value."""

from punctuated.kernels.by_state import leaving_watermark
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import DEAD, EFFECT, FOREVER, MATCHED, NEVER, OUT, RECALLED, AnyState
from punctuated.kernels.time_list import expiry


@inlined
def emit_unmatched(state: AnyState, side: int, row: int, ts: int) -> None:
    """Write an unmatched tuple of a preserved side to the output."""
    common = state.common[0]
    entry = state.unmatched[common.n_unmatched]
    entry.ts, entry.row, entry.side = ts, row, side
    common.n_unmatched += 1
    common.unmatched += 1


@inlined
def forget_tuple(state: AnyState, side: int, position: int, ts: int) -> None:
    """Count a tuple out of the state for good; `ts` is when it was proved that nothing can match it any more."""
    ours, node = state.sides[side], state.nodes[position]
    ours.live -= 1
    if ours.preserved and node.mark & MATCHED == 0:
        emit_unmatched(state, side, node.row, max(ts, node.ts))


@subroutine
def has_stored(state: AnyState, side: int, index: int) -> bool:
    """Whether any tuple of a value is in the state of a side: linked tuples may be out of their windows."""
    watermark = leaving_watermark(state, side)
    position = state.values[index].head[side]
    for _ in range(state.values[index].count[side]):
        node = state.nodes[position]
        if node.mark & DEAD == 0 and expiry(state, side, position) >= watermark:
            return True
        position = node.next
    return False


@inlined
def ended_ts(state: AnyState, side: int, index: int) -> int:
    """The time of the punctuation by which the side ended a value; the end of the stream ends all that is left."""
    if state.values[index].flags & (EFFECT << side):
        ts = state.endings[index].ended_ts[side]
        return int(ts if ts != NEVER else state.sides[side].settled)
    return int(state.sides[side].end_ts)


@inlined
def has_ended(state: AnyState, side: int, index: int) -> bool:
    """Whether the side has ended a value, with effect."""
    return bool(state.values[index].flags & (EFFECT << side) or state.sides[side].end_ts != FOREVER)


@inlined
def awaits_output(state: AnyState, side: int, index: int) -> bool:
    """Whether the side has ended a value by name, with effect, and the output has no punctuation of it yet."""
    flags = state.values[index].flags
    return bool(flags & (EFFECT << side) and flags & (OUT | (RECALLED << side)) == 0)
