"""Output punctuations: how the output is told that a value is over."""

from punctuated.kernels.by_state import n_streams, purge_finished
from punctuated.kernels.forget import ended_ts, has_ended
from punctuated.kernels.jit import inlined
from punctuated.kernels.layout import EFFECT, ENDED, OUT, RECALLED, AnyState


@inlined
def finish_value(state: AnyState, index: int) -> None:
    """The value is over in the output. What is left of it goes first, so that its unmatched rows come before."""
    common = state.common[0]
    purge_finished(state, index)
    for side in range(n_streams(state)):
        if has_ended(state, side, index):
            state.endings[index].ended_ts[side] = ended_ts(state, side, index)
            state.values[index].flags |= (ENDED | EFFECT) << side
            state.values[index].flags &= ~(RECALLED << side)
    state.values[index].flags |= OUT
    state.endings[index].touched = common.seq
    state.done[common.n_done] = index
    common.n_done += 1


@inlined
def punctuate_output(state: AnyState, index: int, ts: int, reason: int) -> None:
    """Say in the output that a value is over."""
    finish_value(state, index)
    common = state.common[0]
    entry = state.punctuations[common.n_punctuations]
    entry.code, entry.ts, entry.reason = state.values[index].code, ts, reason
    common.n_punctuations += 1
    common.punctuations_out += 1
