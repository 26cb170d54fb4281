"""Output punctuations: a value that is over in the output is purged, marked and written to the output once."""

from punctuated.kernels.by_state import n_streams, purge_finished
from punctuated.kernels.forget import ended_ts, has_ended
from punctuated.kernels.jit import inlined
from punctuated.kernels.layout import EFFECT, ENDED, OUT, RECALLED, AnyState


@inlined
def finish_value(state: AnyState, index: int) -> None:
    """Mark a value as over in the output. Its tuples go first, so that its unmatched rows come before."""
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
    """Write to the output that a value is over."""
    finish_value(state, index)
    common = state.common[0]
    entry = state.punctuations[common.n_punctuations]
    entry.code, entry.ts, entry.reason = state.values[index].code, ts, reason
    common.n_punctuations += 1
    common.punctuations_out += 1
