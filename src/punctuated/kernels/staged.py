"""Work of a join in stages on parts of its state: join them, purge what is covered, drop what is relocated.

A tuple has an arrival stamp and a departure stamp, FOREVER while it is in memory. All stamps are of one clock, which
ticks for every object and for everything that is done between two objects.
"""

import numpy as np

from punctuated.kernels.forget import has_ended
from punctuated.kernels.jit import in_place, inlined
from punctuated.kernels.layout import EFFECT, FOREVER, NONE, OUT, Bytes, Indices, Ints, Records, State
from punctuated.kernels.output import punctuate_output
from punctuated.kernels.value_index import find_run, find_value

MEMBER = np.dtype([("code", "i8"), ("arrived", "i8"), ("departed", "i8"), ("row", "i8")])
PROBE = np.dtype([("last_departure", "i8"), ("time", "i8")])  # of a disk part, and when memory was joined with it
SLOT_SHIFT = 8  # a node's mark has the slot of its punctuation above the flags


@inlined
def was_probed(probes: Records, stored: Records, i: int, other: Records, j: int) -> bool:
    """Whether a tuple met another one in memory when the disk part that it is in was joined with memory."""
    for probe in probes:
        if stored[i].departed <= probe.last_departure and other[j].arrived <= probe.time < other[j].departed:
            return True
    return False


@in_place
def join_members(
    ours: Records,
    other: Records,
    complete_to: int,
    our_probes: Records,
    other_probes: Records,
    our_rows: Indices,
    other_rows: Indices,
    cursor: Ints,
) -> int:
    """Pairs of equal codes that have not met yet (MEMBER, ascending by code); returns how many were written.

    Members met in memory if both were there at a time, in a clean-up if both had come by then, in a disk join if one
    was on disk and the other one in memory. `cursor` says where to go on; it is at the end when it has come to
    `ours.size`.
    """
    i, first, j = cursor[0], cursor[1], cursor[2]
    n = 0
    while i < ours.size:
        code = ours[i].code
        if j < 0:
            while first < other.size and other[first].code < code:
                first += 1
            j = first
        while j < other.size and other[j].code == code:
            if n == our_rows.size:
                cursor[0], cursor[1], cursor[2] = i, first, j
                return n
            later = max(ours[i].arrived, other[j].arrived)
            met = later <= complete_to or later < min(ours[i].departed, other[j].departed)
            met = met or was_probed(our_probes, ours, i, other, j) or was_probed(other_probes, other, j, ours, i)
            if not met:
                our_rows[n], other_rows[n] = ours[i].row, other[j].row
                n += 1
            j += 1
        i += 1
        j = -1
    cursor[0], cursor[1], cursor[2] = i, first, j
    return n


@in_place
def mark_ended(state: State, side: int, codes: Ints, ended: Bytes) -> None:
    """Which of these values a side has ended, with effect: by name, by a range, or by its own end."""
    stream_over = state.sides[side].end_ts != FOREVER
    for i in range(codes.size):
        index = find_value(state, codes[i])
        if stream_over:
            ended[i] = 1
        elif index >= 0:
            ended[i] = state.values[index].flags & (EFFECT << side) != 0
        else:
            covering, finished = find_run(state.ranges, codes[i]), find_run(state.runs, codes[i])
            flags = state.ranges[covering].flags if covering >= 0 else 0
            flags |= state.runs[finished].flags if finished >= 0 else 0
            ended[i] = flags & (EFFECT << side) != 0


@inlined
def drop_tuples(state: State, side: int, index: int) -> None:
    """Drop a side's tuples of a value from memory; the ring keeps shells."""
    value = state.values[index]
    position = value.head[side]
    for _ in range(value.count[side]):
        node = state.nodes[position]
        node.value = NONE
        position = node.next
    state.sides[side].live -= value.count[side]
    value.count[side] = 0


@in_place
def purge_covered(state: State, side: int, indices: Ints, blocked: Bytes, counts: Ints) -> int:
    """Forget a side's tuples of these values that the other has ended (PJ-06), and count down their punctuations.

    Tuples of blocked values must still meet tuples on disk: they stay. Returns how many these are.
    """
    waiting = 0
    for i in range(indices.size):
        index = indices[i]
        n = state.values[index].count[side]
        if n == 0 or not has_ended(state, 1 - side, index):
            continue
        if blocked[i]:
            waiting += n
            continue
        position = state.values[index].head[side]
        for _ in range(n):
            counts[state.nodes[position].mark >> SLOT_SHIFT] -= 1
            position = state.nodes[position].next
        state.common[0].purged += n
        drop_tuples(state, side, index)
    return waiting


@in_place
def release_values(state: State, side: int, indices: Ints) -> None:
    """Drop a side's tuples of these values from memory, because they are on disk now."""
    for index in indices:
        drop_tuples(state, side, index)


@in_place
def punctuate_values(state: State, side: int, codes: Ints, ts: Ints, reasons: Ints) -> None:
    """Write to the output that these values are over, where the side's endings of them are still remembered."""
    for i in range(codes.size):
        index = find_value(state, codes[i])
        if index >= 0 and state.values[index].flags & (EFFECT << side) and state.values[index].flags & OUT == 0:
            punctuate_output(state, index, ts[i], reasons[i])
