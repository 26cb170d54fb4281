"""Range endings, which end many values at once (PW-20): what they do to values.

The driver finds the values, and decides in which order things happen.
"""

from punctuated.kernels.by_state import n_streams, propagate, purge_finished, purge_for_ending, settle
from punctuated.kernels.endings import note_ending
from punctuated.kernels.forget import has_ended, has_stored
from punctuated.kernels.jit import in_place, subroutine
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
    """End these values by `side` with effect, without propagating yet."""
    for index in indices:
        if not has_ended(state, side, index):
            note_ending(state, side, index, ts, False)
            state.values[index].flags |= EFFECT << side
            purge_for_ending(state, side, index)


@in_place
def cover_values(state: AnyState, indices: Ints) -> None:
    """Mark values as over in the output because an output range covers them, which remembers that for all of them."""
    for index in indices:
        if state.values[index].flags & OUT == 0:
            purge_finished(state, index)
            for side in range(n_streams(state)):
                state.values[index].flags |= (ENDED | EFFECT | RECALLED) << side
            state.values[index].flags |= OUT | OUT_RECALLED


@in_place
def forget_last(state: AnyState, indices: Ints) -> None:
    """Forget the times of last tuples along with an output range, of values that it alone had ended in the output."""
    for index in indices:
        if state.values[index].flags & (OUT_RECALLED | ARCHIVED) == OUT_RECALLED:
            for side in range(n_streams(state)):
                state.endings[index].last_ts[side] = NEVER


@in_place
def propagate_values(state: AnyState, side: int, indices: Ints) -> None:
    """Propagate these ended values, as far as the rules allow."""
    for index in indices:
        propagate(state, side, index)


@subroutine
def first_at_least(codes: Ints, low: int) -> int:
    """The index of the first of the ascending codes that is `low` or more."""
    first, last = 0, codes.size
    while first < last:
        middle = (first + last) >> 1
        if codes[middle] < low:
            first = middle + 1
        else:
            last = middle
    return first


@subroutine
def next_free(following: Ints, at: int) -> int:
    """The first index from `at` on that is not taken yet; the links to it are made shorter."""
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
