"""The archive: values that are over in the output leave the I-Nodes for runs of codes, disjoint and ascending."""

from typing import Any

from punctuated.kernels.jit import in_place, inlined, part
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


@inlined
def add_run(
    runs: Records, n: int, may_glue: bool, low: int, high: int, flags: int, touched: int, place: tuple[int, int]
) -> int:
    """One more run, or a longer last one if it is a neighbour; returns how many runs there are."""
    before: Any = runs[n - 1]
    if may_glue and n > 0 and before.flags == flags and are_neighbours(before.high, low, *place):
        before.high, before.touched = high, max(before.touched, touched)
        return n
    run: Any = runs[n]
    run.low, run.high, run.flags, run.touched = low, high, flags, touched
    return n + 1


@inlined
def remember(value: Any) -> int:
    """The value is remembered in a run; returns what that says of it. What ranges say is remembered with the ranges."""
    flags = value.flags
    named = flags & ENDED_ANY & ~(flags // RECALLED)
    value.flags = flags | ARCHIVED | OUT_RECALLED | (flags & ENDED_ANY) * RECALLED
    return int(named * (ENDED | EFFECT) | OUT)


@in_place
def archive_values(
    values: Records, endings: Records, done: Ints, old: Records, runs: Records, place: tuple[int, int]
) -> tuple[int, int]:
    """Write the old runs and the values that are `done`, given in the order of their codes, to `runs`.

    A value of which an ending is still pending has a timer and a time of its own: it leaves the runs, and stays among
    those that are done. Neighbours that the same streams have ended become one run, if one of them is new: where codes
    are numbers, of the bucket `place`; else that has 0 buckets. Returns how many runs there are, and how many values
    stay in front of `done`.
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
            n = add_run(runs, n, after_new, low, old[at].high, old[at].flags, old[at].touched, place)
            after_new = False
            at += 1
            low = old[at].low if at < old.size else 0
        if at < old.size and low <= code:
            if low < code:
                n = add_run(runs, n, after_new, low, code - 1, old[at].flags, old[at].touched, place)
                after_new = False
            low = code + 1
            if low > old[at].high:
                at += 1
                low = old[at].low if at < old.size else 0
        if (flags & ENDED_ANY) * EFFECT == flags & EFFECT_ANY:
            n = add_run(runs, n, True, code, code, remember(values[index]), endings[index].touched, place)
            after_new = True
        else:
            done[n_waiting] = index
            n_waiting += 1
    while at < old.size:
        n = add_run(runs, n, after_new, low, old[at].high, old[at].flags, old[at].touched, place)
        after_new = False
        at += 1
        low = old[at].low if at < old.size else 0
    return n, n_waiting
