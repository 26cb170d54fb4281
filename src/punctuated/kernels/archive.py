"""The archive of finished values: runs of codes, disjoint and ascending, in place of I-Nodes.

A value that is over in the output moves there, unless an ending of it is still pending.
"""

from typing import Any

from punctuated.kernels.jit import in_place, inlined, subroutine
from punctuated.kernels.key_bytes import bucket_of
from punctuated.kernels.layout import (
    ARCHIVED,
    EFFECT,
    EFFECT_ANY,
    ENDED,
    ENDED_ANY,
    NONE,
    OUT,
    OUT_RECALLED,
    RECALLED,
    Ints,
    Records,
)

_WIDEST = 32  # gaps that are looked through, per bucket; wider ones are not worth it


@subroutine
def are_neighbours(high: int, low: int, bucket: int, n_buckets: int) -> bool:
    """Whether no number of the bucket lies between two runs; numbers of other buckets never come here."""
    gap = low - high - 1  # below zero if it is too wide for 64 bits
    if not 0 <= gap < _WIDEST * n_buckets:
        return False
    for code in range(high + 1, low):
        if bucket_of(code, n_buckets) == bucket:
            return False
    return True


@inlined
def add_run(
    runs: Records, n: int, may_glue: bool, low: int, high: int, flags: int, touched: int, bucket_id: tuple[int, int]
) -> int:
    """Add a run, or lengthen the last one if the new one is its neighbour; returns how many runs there are."""
    before: Any = runs[n - 1]
    if may_glue and n > 0 and before.flags == flags and are_neighbours(before.high, low, *bucket_id):
        before.high, before.touched = high, max(before.touched, touched)
        return n
    run: Any = runs[n]
    run.low, run.high, run.flags, run.touched = low, high, flags, touched
    return n + 1


@inlined
def remember(value: Any) -> int:
    """Mark a value as remembered in a run; returns the run's flags. What ranges say stays with the ranges."""
    flags = value.flags
    named = flags & ENDED_ANY & ~(flags // RECALLED)
    value.flags = flags | ARCHIVED | OUT_RECALLED | (flags & ENDED_ANY) * RECALLED
    return int(named * (ENDED | EFFECT) | OUT)


@in_place
def archive_values(
    values: Records, endings: Records, done: Ints, old: Records, runs: Records, bucket_id: tuple[int, int]
) -> tuple[int, int]:
    """Write the old runs and the values that are `done`, given in the order of their codes, to `runs`.

    A value of which an ending is still pending has a timer and a time of its own: it leaves the runs, and stays among
    those that are done. Neighbours that the same streams have ended become one run, if one of them is new and codes are
    numbers: `bucket_id` is the bucket's number and how many there are, or 0 buckets if codes are no numbers. Returns
    how many runs there are, and how many values stay in front of `done`.
    """
    n = n_waiting = at = 0
    low = old[0].low if old.size else 0  # where the rest of the old run at hand begins
    earlier, after_new = NONE, False
    for i in range(done.size):
        index = done[i]
        flags, code = values[index].flags, values[index].code
        if index == earlier or flags & (OUT | OUT_RECALLED) != OUT:  # the latter was forgotten meanwhile
            continue
        earlier = index
        while at < old.size and old[at].high < code:
            n = add_run(runs, n, after_new, low, old[at].high, old[at].flags, old[at].touched, bucket_id)
            after_new = False
            at += 1
            low = old[at].low if at < old.size else 0
        if at < old.size and low <= code:
            if low < code:
                n = add_run(runs, n, after_new, low, code - 1, old[at].flags, old[at].touched, bucket_id)
                after_new = False
            low = code + 1
            if low > old[at].high:
                at += 1
                low = old[at].low if at < old.size else 0
        if (flags & ENDED_ANY) * EFFECT == flags & EFFECT_ANY:
            n = add_run(runs, n, True, code, code, remember(values[index]), endings[index].touched, bucket_id)
            after_new = True
        else:
            done[n_waiting] = index
            n_waiting += 1
    while at < old.size:
        n = add_run(runs, n, after_new, low, old[at].high, old[at].flags, old[at].touched, bucket_id)
        after_new = False
        at += 1
        low = old[at].low if at < old.size else 0
    return n, n_waiting
