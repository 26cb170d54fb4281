"""Numbers for codes, counted from 0 in the order in which the codes first come; equal codes have equal numbers."""

import numpy as np

from punctuated.kernels.jit import kernel, subroutine
from punctuated.kernels.layout import Indices, Ints

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BITS = 10  # of the first table


@subroutine
def _find_slot(slots: Indices, seen: Ints, bits: int, code: int) -> np.int64:
    """The slot of a code, or the empty one where it belongs."""
    slot = np.int64((np.uint64(code) * _GOLDEN) >> np.uint64(64 - bits))
    while slots[slot] >= 0 and seen[slots[slot]] != code:
        slot = (slot + 1) & (slots.size - 1)
    return slot


@kernel
def number_codes(codes: Ints) -> Ints:
    """The number of each code."""
    numbers, seen, n_seen = np.empty(codes.size, np.int64), np.empty(codes.size, np.int64), 0
    bits = _BITS
    slots = np.full(1 << bits, -1, np.int32)
    for i in range(codes.size):
        slot = _find_slot(slots, seen, bits, codes[i])
        if slots[slot] < 0:
            seen[n_seen], slots[slot] = codes[i], n_seen
            n_seen += 1
        numbers[i] = slots[slot]
        if 2 * n_seen > slots.size:
            bits += 2
            slots = np.full(1 << bits, -1, np.int32)
            for number in range(n_seen):
                slots[_find_slot(slots, seen, bits, seen[number])] = number
    return numbers


# Where new groups begin


@kernel
def first_occurrences(numbers: Ints, n_known: int) -> Ints:
    """The index at which each number from `n_known` on first comes; a number comes after all smaller ones."""
    indices = np.empty(numbers.size, np.int64)
    n = 0
    for i in range(numbers.size):
        if numbers[i] == n_known + n:
            indices[n] = i
            n += 1
    return indices[:n].copy()
