"""Purge in a join of two: tuples leave because the other stream has ended their value (PW-07, PW-25).

A lazy purge waits until several values can be purged together (PJ-07).
"""

from punctuated.kernels.by_state import (
    leaving_watermark,
    n_streams,
    purge_finished,
    purge_for_ending,
    purge_for_stream_end,
)
from punctuated.kernels.forget import ended_ts, forget_tuple
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import DEAD, EFFECT, FOREVER, NONE, State
from punctuated.kernels.order import pack, unpack
from punctuated.kernels.time_list import expiry


@n_streams.of(State)
@inlined
def n_streams_of_two(state: State) -> int:
    """The number of streams, as a constant."""
    return 2


@leaving_watermark.of(State)
@inlined
def leaving_watermark_of_two(state: State, side: int) -> int:
    """The other stream's watermark: only its progress proves that none of its tuples can match ours any more."""
    return int(state.sides[1 - side].watermark)


@inlined
def window_proof(state: State, side: int, position: int) -> int:
    """When a tuple out of its window was first proved to match nothing, be it by an ending that has yet to purge."""
    node = state.nodes[position]
    proof = expiry(state, side, position)
    flags = state.values[node.value].flags
    if state.common[0].forgets_by_punctuation and flags & (EFFECT << (1 - side)):
        proof = min(proof, max(node.ts, state.endings[node.value].ended_ts[1 - side]))
    return int(proof)


@subroutine
def drop_expired(state: State, side: int, index: int) -> None:
    """Invalidate a side's tuples of a value that have left their windows, before its purge is put off."""
    watermark = state.sides[1 - side].watermark
    position = state.values[index].head[side]
    for _ in range(state.values[index].count[side]):
        node, last = state.nodes[position], expiry(state, side, position)
        if node.mark & DEAD == 0 and last < watermark:
            node.mark |= DEAD
            state.common[0].invalidated += 1
            forget_tuple(state, side, position, last)
        position = node.next


@subroutine
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


@subroutine
def purge_queue(state: State) -> None:
    """Carry out the purges that were put off."""
    common = state.common[0]
    for entry in state.queue[: common.n_queued]:
        index, by = unpack(entry)
        if state.values[index].flags & (EFFECT << by):  # else it was forgotten meanwhile
            purge_value(state, 1 - by, index, state.endings[index].ended_ts[by])
    common.n_queued = 0


@purge_for_ending.of(State)
@inlined
def purge_for_ending_of_two(state: State, side: int, index: int) -> None:
    """Purge the other side's tuples of a value that `side` has ended, now or together with later ones (PJ-07)."""
    common = state.common[0]
    if not common.forgets_by_punctuation:
        return
    if common.purge_threshold == 1:
        if state.values[index].count[1 - side]:
            purge_value(state, 1 - side, index, state.endings[index].ended_ts[side])
        return
    drop_expired(state, 1 - side, index)
    state.queue[common.n_queued] = pack(index, side)
    common.n_queued += 1
    if common.n_queued == common.purge_threshold:
        purge_queue(state)


@purge_for_stream_end.of(State)
@inlined
def purge_for_stream_end_of_two(state: State, side: int, index: int, ts: int) -> None:
    """Purge the other side's tuples of a value, whatever the algorithm."""
    proof = ended_ts(state, side, index) if state.common[0].forgets_by_punctuation else ts
    purge_value(state, 1 - side, index, proof)


@purge_finished.of(State)
@inlined
def purge_finished_of_two(state: State, index: int) -> None:
    """Purge both sides, each by the ending of the other."""
    for side in range(2):
        if state.values[index].count[side]:
            purge_value(state, side, index, ended_ts(state, 1 - side, index))
