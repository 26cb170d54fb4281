"""What an input punctuation does: it ends a value or the stream, moves the stream's time on, or goes to the driver.

The end of a stream ends all values, and its pending endings take effect at once.
"""

from punctuated.kernels.by_state import advance, n_streams, propagate, purge_for_stream_end
from punctuated.kernels.endings import end_pending, end_value
from punctuated.kernels.forget import awaits_output
from punctuated.kernels.jit import inlined, subroutine
from punctuated.kernels.layout import (
    ANNOUNCE_VALUE,
    END_RANGE,
    END_STREAM,
    FOREVER,
    MET_RANGE,
    NEVER,
    NONE,
    OPEN,
    SET_FLOOR,
    AnyState,
)
from punctuated.kernels.value_index import find_or_add


@subroutine
def end_stream_for_value(state: AnyState, side: int, index: int, ts: int) -> None:
    """End a value because its stream has ended: purge what waited for it, and propagate what others have ended."""
    purge_for_stream_end(state, side, index, ts)
    for other in range(n_streams(state)):
        if other != side and awaits_output(state, other, index):
            propagate(state, side, index)


@subroutine
def end_stream(state: AnyState, side: int, ts: int) -> None:
    """End a stream, as `<*, …>` does: none of its tuples comes any more, so those of the others need not be kept."""
    ours, heap = state.sides[side], state.pending[side]
    if ours.end_ts != FOREVER:
        return
    ours.floor, ours.end_ts = FOREVER, ts
    state.common[0].due = NEVER
    for i in range(ours.n_pending):
        if not end_pending(state, side, heap[i].value, ts):
            heap[i].value = NONE
    for index in range(state.common[0].n_values):
        end_stream_for_value(state, side, index, ts)
        state.values[index].flags &= ~(OPEN << side)
    advance(state, side)
    for i in range(ours.n_pending):
        if heap[i].value >= 0:
            propagate(state, side, heap[i].value)
    ours.n_pending = ours.n_clusters = 0


@subroutine
def end_more(state: AnyState, side: int, ts: int, code: int, kind: int) -> None:
    """Process a punctuation that does not name one value."""
    ours = state.sides[side]
    if kind == SET_FLOOR:
        ours.floor = max(ours.floor, code)
        state.common[0].due = NEVER
        advance(state, side)
    elif kind == END_STREAM:
        end_stream(state, side, ts)
    elif kind == END_RANGE:
        state.common[0].stopped_by = MET_RANGE


@inlined
def process_punctuation(state: AnyState, side: int, ts: int, code: int, kind: int) -> None:
    """Process a punctuation, which names one value, ends the stream or moves its time on (PW-25)."""
    state.sides[side].punctuations += 1
    if kind <= ANNOUNCE_VALUE:
        end_value(state, side, find_or_add(state, code), ts, kind == ANNOUNCE_VALUE)
    else:
        end_more(state, side, ts, code, kind)
