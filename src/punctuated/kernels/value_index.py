"""The I-Node index, from a key's code to its I-Node (PW-20), and what a new I-Node inherits.

Values are only removed by a rebuild.
"""

import numpy as np

from punctuated.kernels.by_state import n_streams
from punctuated.kernels.jit import in_place, inlined, subroutine
from punctuated.kernels.layout import (
    ARCHIVED,
    EFFECT,
    ENDED,
    NEVER,
    NONE,
    OUT,
    OUT_RECALLED,
    RECALLED,
    AnyState,
    Indices,
    Ints,
    Records,
)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inlined
def first_slot(common: Records, code: int) -> np.int64:
    """The slot where a search begins: the top bits of a multiplicative hash of the code, so runs of integers spread."""
    mixed = (np.uint64(code) * _GOLDEN) & common[0].hash_mask
    return np.int64(mixed >> np.uint64(common[0].shift))


@inlined
def find_value(state: AnyState, code: int) -> int:
    """The I-Node of a code, or NONE."""
    mask = state.slots.size - 1
    slot = first_slot(state.common, code)
    while True:
        value = state.slots[slot]
        if value < 0 or state.values[value].code == code:
            return int(value)
        slot = (slot + 1) & mask


@inlined
def enter_value(common: Records, slots: Indices, code: int, value: int) -> None:
    """Enter an I-Node into the index; the code must not be there yet."""
    mask = slots.size - 1
    slot = first_slot(common, code)
    while slots[slot] >= 0:
        slot = (slot + 1) & mask
    slots[slot] = value


@subroutine
def find_run(runs: Records, code: int) -> int:
    """The index of the run that holds a code, or NONE; runs are disjoint and ascend."""
    first, last = 0, runs.size
    while first < last:
        middle = (first + last) >> 1
        if runs[middle].low <= code:
            first = middle + 1
        else:
            last = middle
    return first - 1 if first > 0 and code <= runs[first - 1].high else NONE


@subroutine
def take_over(state: AnyState, index: int, covering: int, finished: int) -> None:
    """Add to a value's flags what the range ending and the finished run that hold it say (NONE: there is no such)."""
    value, ending = state.values[index], state.endings[index]
    flags = 0
    if covering >= 0:
        flags |= state.ranges[covering].flags
    if finished >= 0:
        flags |= state.runs[finished].flags
        value.flags |= ARCHIVED
    for side in range(n_streams(state)):
        if flags & (EFFECT << side) and value.flags & (ENDED << side) == 0:
            value.flags |= (ENDED | EFFECT | RECALLED) << side
            ending.ended_ts[side] = state.ranges[covering].ts[side] if covering >= 0 else NEVER
    if flags & OUT and value.flags & OUT == 0:
        value.flags |= OUT | OUT_RECALLED


@inlined
def inherit(state: AnyState, index: int) -> None:
    """Let a value take over what range endings and finished runs say: mostly nothing, and then no call is needed."""
    code = state.values[index].code
    covering, finished = find_run(state.ranges, code), find_run(state.runs, code)
    if covering >= 0 or finished >= 0:
        take_over(state, index, covering, finished)


@subroutine
def disinherit(state: AnyState, index: int) -> None:
    """Undo what a value has taken over: what is left is what punctuations have said of it by name."""
    value = state.values[index]
    for side in range(n_streams(state)):
        if value.flags & (RECALLED << side):
            value.flags &= ~((ENDED | EFFECT | RECALLED) << side)
    if value.flags & OUT_RECALLED:
        value.flags &= ~(OUT | OUT_RECALLED)
    value.flags &= ~ARCHIVED


@inlined
def add_value(state: AnyState, code: int) -> int:
    """Make an I-Node, which takes over what is remembered of its value. The caller has seen to the room."""
    common = state.common[0]
    index = common.n_values
    common.n_values = index + 1
    value = state.values[index]
    value.code = code
    value.flags = 0
    for side in range(n_streams(state)):
        value.head[side] = NONE
        value.tail[side] = NONE
        value.count[side] = 0
    enter_value(state.common, state.slots, code, index)
    if common.punctuated:
        ending = state.endings[index]
        for side in range(n_streams(state)):
            ending.last_ts[side] = NEVER
            ending.ended_ts[side] = NEVER
        ending.touched = common.seq
        if state.ranges.size or state.runs.size:
            inherit(state, index)
    return int(index)


@inlined
def find_or_add(state: AnyState, code: int) -> int:
    """The I-Node of a code, made if need be."""
    value = find_value(state, code)
    return value if value >= 0 else add_value(state, code)


@in_place
def inherit_all(state: AnyState) -> None:
    """Let all values take over what range endings and finished runs say now."""
    for index in range(state.common[0].n_values):
        disinherit(state, index)
        inherit(state, index)


@in_place
def inherit_some(state: AnyState, indices: Ints) -> None:
    """Let these values take over what range endings and finished runs say now."""
    for index in indices:
        disinherit(state, index)
        inherit(state, index)
