"""Numbers for codes: equal ones for equal codes, counted from 0 in the order in which they come."""

import numpy as np

from punctuated.kernels.jit import kernel, part
from punctuated.kernels.layout import Indices, Ints

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BITS = 10  # of the first table


@part
def _place(slots: Indices, seen: Ints, bits: int, code: int) -> np.int64:
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
        slot = _place(slots, seen, bits, codes[i])
        if slots[slot] < 0:
            seen[n_seen], slots[slot] = codes[i], n_seen
            n_seen += 1
        numbers[i] = slots[slot]
        if 2 * n_seen > slots.size:
            bits += 2
            slots = np.full(1 << bits, -1, np.int32)
            for number in range(n_seen):
                slots[_place(slots, seen, bits, seen[number])] = number
    return numbers


# Where in a sequence of group numbers the new groups begin.


@kernel
def first_places(numbers: Ints, n_known: int) -> Ints:
    """The first place of each number from `n_known` on; these come in order, each after all smaller ones have come."""
    places = np.empty(numbers.size, np.int64)
    n = 0
    for i in range(numbers.size):
        if numbers[i] == n_known + n:
            places[n] = i
            n += 1
    return places[:n].copy()
