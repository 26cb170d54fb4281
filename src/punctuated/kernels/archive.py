"""The archive: values that are over in the output leave the I-Nodes for runs of codes, disjoint and ascending."""

from typing import Any

from punctuated.kernels._jit import in_place, inlined, part
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
    Bytes,
    Ints,
    Records,
)

_WIDEST = 32  # gaps that are looked through, per bucket; wider ones are not worth it


@part
def are_neighbours(high: int, low: int, bucket: int, n_buckets: int) -> bool:
    """Whether no number of the bucket lies between two runs; those of other buckets never come here."""
    gap = low - high - 1  # below zero if it is too wide for 64 bits
    if not 0 <= gap < _WIDEST * n_buckets:
        return False
    for code in range(high + 1, low):
        if bucket_of(code, n_buckets) == bucket:
            return False
    return True


@part
def glue_runs(runs: Records, is_new: Bytes, n: int, bucket: int, n_buckets: int) -> int:
    """Make one run of neighbours that the same streams have ended, if one of them is new; returns how many are left."""
    last = 0
    for i in range(1, n):
        run, before = runs[i], runs[last]
        may_merge = (is_new[i] or is_new[i - 1]) and run.flags == before.flags
        if may_merge and are_neighbours(before.high, run.low, bucket, n_buckets):
            before.high, before.touched = run.high, max(before.touched, run.touched)
        else:
            last += 1
            runs[last] = run
    return min(n, last + 1)


@inlined
def write_run(runs: Records, n: int, low: int, high: int, flags: int, touched: int) -> int:
    """One more run; returns how many there are."""
    run: Any = runs[n]
    run.low, run.high, run.flags, run.touched = low, high, flags, touched
    return n + 1


@inlined
def remember_value(value: Any, touched: int, runs: Records, n: int) -> int:
    """A run of one value; what ranges say of it is remembered with the ranges."""
    flags, code = value.flags, value.code
    named = flags & ENDED_ANY & ~(flags // RECALLED)
    value.flags = flags | ARCHIVED | OUT_RECALLED | (flags & ENDED_ANY) * RECALLED
    return write_run(runs, n, code, code, named * (ENDED | EFFECT) | OUT, touched)


@in_place
def archive_values(
    values: Records, endings: Records, done: Ints, old: Records, runs: Records, is_new: Bytes, place: tuple[int, int]
) -> tuple[int, int]:
    """Write the old runs and the values that are `done`, given in the order of their codes, to `runs`.

    A value of which an ending is still pending has a timer and a time of its own: it leaves the runs, and stays among
    those that are done. Neighbours become one run where codes are numbers, of the bucket `place`; else that has 0
    buckets. Returns how many runs there are, and how many values stay in front of `done`.
    """
    n = n_waiting = at = 0
    low = old[0].low if old.size else 0  # where the rest of the old run at hand begins
    earlier = NONE
    for i in range(done.size):
        index = done[i]
        flags, code = values[index].flags, values[index].code
        if index == earlier or flags & (OUT | OUT_RECALLED) != OUT:  # the latter was forgotten meanwhile
            continue
        earlier = index
        while at < old.size and old[at].high < code:
            n = write_run(runs, n, low, old[at].high, old[at].flags, old[at].touched)
            at += 1
            low = old[at].low if at < old.size else 0
        if at < old.size and low <= code:
            if low < code:
                n = write_run(runs, n, low, code - 1, old[at].flags, old[at].touched)
            low = code + 1
            if low > old[at].high:
                at += 1
                low = old[at].low if at < old.size else 0
        if (flags & ENDED_ANY) * EFFECT == flags & EFFECT_ANY:
            is_new[n] = 1
            n = remember_value(values[index], endings[index].touched, runs, n)
        else:
            done[n_waiting] = index
            n_waiting += 1
    while at < old.size:
        n = write_run(runs, n, low, old[at].high, old[at].flags, old[at].touched)
        at += 1
        low = old[at].low if at < old.size else 0
    return glue_runs(runs, is_new, n, *place) if place[1] else n, n_waiting
