"""What has changed between two ascending sequences, in one walk through both."""

import numpy as np
import numpy.typing as npt

from punctuated.kernels.jit import kernel
from punctuated.kernels.layout import Ints
from punctuated.kernels.rows import copy_row

Mask = npt.NDArray[np.bool_]


@kernel
def missing(before: Ints, now: Ints) -> Ints:
    """Those of an ascending sequence that are not in another one."""
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
    """The inverse: rows of `before` without those that are gone or replaced, and the changed ones in their places."""
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
