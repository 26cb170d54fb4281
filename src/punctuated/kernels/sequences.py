"""Ascending sequences: look-ups in them, and what has changed between two of them, in one walk each."""

import numpy as np
import numpy.typing as npt

from punctuated.kernels.jit import inlined, kernel
from punctuated.kernels.layout import Ints

Mask = npt.NDArray[np.bool_]


@kernel
def occurrences(numbers: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """The index of each wanted number among ascending ones, or where it would be, and how often it occurs.

    Wanted numbers mostly ascend, too: each look-up begins where the last one ended.
    """
    starts, counts = np.empty(wanted.size, np.int64), np.zeros(wanted.size, np.int64)
    at = 0
    for i in range(wanted.size):
        each = wanted[i]
        low = at if at == 0 or numbers[at - 1] < each else 0
        step = 1
        while low + step <= numbers.size and numbers[low + step - 1] < each:
            low += step
            step *= 2
        high = min(low + step, numbers.size)
        while low < high:
            middle = (low + high) >> 1
            if numbers[middle] < each:
                low = middle + 1
            else:
                high = middle
        starts[i] = at = low
        while low < numbers.size and numbers[low] == each:
            low += 1
        counts[i] = low - at
    return starts, counts


# What has changed


@kernel
def missing(before: Ints, now: Ints) -> Ints:
    """The numbers of an ascending sequence that are not in another one."""
    gone = np.empty(before.size, np.int64)
    n = at = 0
    for each in before:
        while at < now.size and now[at] < each:
            at += 1
        if at == now.size or now[at] != each:
            gone[n] = each
            n += 1
    return gone[:n].copy()


@kernel
def compare_keyed(before: Ints, now: Ints) -> tuple[Mask, Mask]:
    """Which rows of `now` are new or different, and which of `before` are gone; rows ascend by their first number."""
    fresh, gone = np.ones(now.shape[0], np.bool_), np.zeros(before.shape[0], np.bool_)
    at = 0
    for i in range(before.shape[0]):
        while at < now.shape[0] and now[at, 0] < before[i, 0]:
            at += 1
        if at == now.shape[0] or now[at, 0] != before[i, 0]:
            gone[i] = True
        else:
            same = True
            for j in range(1, now.shape[1]):
                same = same and now[at, j] == before[i, j]
            fresh[at] = not same
    return fresh, gone


@kernel
def apply_keyed(before: Ints, changed: Ints, gone: Ints) -> Ints:
    """The rows after a change: those of `before` that are neither gone nor replaced, and the changed ones, in order."""
    now = np.empty((before.shape[0] + changed.shape[0], before.shape[1]), np.int64)
    n = at = left = 0
    for i in range(before.shape[0]):
        key = before[i, 0]
        while at < changed.shape[0] and changed[at, 0] < key:
            copy_row(changed, at, now, n)
            n += 1
            at += 1
        while left < gone.size and gone[left] < key:
            left += 1
        is_replaced = at < changed.shape[0] and changed[at, 0] == key
        if not is_replaced and (left == gone.size or gone[left] != key):
            copy_row(before, i, now, n)
            n += 1
    for i in range(at, changed.shape[0]):
        copy_row(changed, i, now, n)
        n += 1
    return now[:n].copy()


# Rows of two-dimensional arrays


@inlined
def copy_row(source: Ints, at: int, target: Ints, row: int) -> None:
    """Copy a row; numba's own assignment brings along messages about shapes, which take two seconds to compile."""
    for column in range(target.shape[1]):
        target[row, column] = source[at, column]
