"""Range endings: many values end at once (PW-20). The driver finds the values and says in which order things happen."""

from punctuated.kernels.by_state import n_streams, propagate, purge_finished, purge_for_ending, settle
from punctuated.kernels.endings import note_ending
from punctuated.kernels.forget import has_ended, has_stored
from punctuated.kernels.jit import in_place, part
from punctuated.kernels.layout import (
    ARCHIVED,
    EFFECT,
    ENDED,
    NEVER,
    OUT,
    OUT_RECALLED,
    RECALLED,
    AnyState,
    Bytes,
    Ints,
    Records,
)


@in_place
def mark_stored(state: AnyState, indices: Ints, stored: Bytes) -> None:
    """Which of these values have a tuple in the state of any side."""
    for i in range(indices.size):
        settle(state, indices[i])
        for side in range(n_streams(state)):
            stored[i] |= has_stored(state, side, indices[i])


@in_place
def end_values(state: AnyState, side: int, indices: Ints, ts: int) -> None:
    """All these values are ended by `side` with effect; nothing is propagated yet."""
    for index in indices:
        if not has_ended(state, side, index):
            note_ending(state, side, index, ts, False)
            state.values[index].flags |= EFFECT << side
            purge_for_ending(state, side, index)


@in_place
def cover_values(state: AnyState, indices: Ints) -> None:
    """An output range speaks for these values: they are over in the output, and nothing is remembered of them alone."""
    for index in indices:
        if state.values[index].flags & OUT == 0:
            purge_finished(state, index)
            for side in range(n_streams(state)):
                state.values[index].flags |= (ENDED | EFFECT | RECALLED) << side
            state.values[index].flags |= OUT | OUT_RECALLED


@in_place
def forget_last(state: AnyState, indices: Ints) -> None:
    """An output range is forgotten, and with it the last tuples of values that nothing else had ended in the output."""
    for index in indices:
        if state.values[index].flags & (OUT_RECALLED | ARCHIVED) == OUT_RECALLED:
            for side in range(n_streams(state)):
                state.endings[index].last_ts[side] = NEVER


@in_place
def propagate_values(state: AnyState, side: int, indices: Ints) -> None:
    """Propagate what the rules allow for these ended values."""
    for index in indices:
        propagate(state, side, index)


@part
def first_at_least(codes: Ints, low: int) -> int:
    """Where the ascending codes reach `low`."""
    first, last = 0, codes.size
    while first < last:
        middle = (first + last) >> 1
        if codes[middle] < low:
            first = middle + 1
        else:
            last = middle
    return first


@part
def next_free(following: Ints, at: int) -> int:
    """The first place from `at` on that nothing has taken; the way there is made shorter."""
    while following[at] != at:
        following[at] = following[following[at]]
        at = following[at]
    return at


@in_place
def find_first_endings(pending: Records, codes: Ints, following: Ints, earliest: Ints) -> None:
    """When each of the ascending codes is first ended by one of these ranges, which ascend by time (PENDING_RANGE).

    `following` is scratch, one longer than the codes. `earliest` stays as it is where no range covers a code.
    """
    for i in range(following.size):
        following[i] = i
    for ending in pending:
        at = next_free(following, first_at_least(codes, ending.low))
        while at < codes.size and codes[at] <= ending.high:
            earliest[at] = ending.ts
            following[at] = at + 1
            at = next_free(following, at + 1)
