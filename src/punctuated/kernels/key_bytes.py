"""Keys as bytes: hashed for their buckets, and numbered exactly, so that two keys with one hash get two numbers."""

import numpy as np

from punctuated.kernels.jit import kernel, subroutine
from punctuated.kernels.layout import Bytes, Indices, Ints

HASH_VERSION = 1
_SEED, _MULTIPLIER = np.uint64(0x2545F4914F6CDD1D), np.uint64(0x9FB21C651E98DF25)


@subroutine
def hash_bytes(data: Bytes, start: int, stop: int) -> np.uint64:
    """A 64-bit hash of `data[start:stop]`, eight bytes at a time."""
    state = _SEED ^ np.uint64(stop - start)
    at = start
    while at < stop:
        word = np.uint64(0)
        width = min(8, stop - at)
        for byte in range(width):
            word |= np.uint64(data[at + byte]) << np.uint64(8 * byte)
        state = (state ^ word) * _MULTIPLIER
        state ^= state >> np.uint64(29)
        at += width
    state *= _SEED
    return state ^ (state >> np.uint64(32))


@kernel
def hash_keys(offsets: Ints, data: Bytes, n: int) -> Ints:
    """The hash of each key, modulo `n`."""
    numbers = np.empty(offsets.size - 1, np.int64)
    for i in range(numbers.size):
        numbers[i] = np.int64(hash_bytes(data, offsets[i], offsets[i + 1]) % np.uint64(n))
    return numbers


@kernel
def hash_whole_keys(offsets: Ints, data: Bytes) -> Ints:
    """The hash of each key, all 64 bits of it."""
    hashes = np.empty(offsets.size - 1, np.int64)
    for i in range(hashes.size):
        hashes[i] = np.int64(hash_bytes(data, offsets[i], offsets[i + 1]))
    return hashes


@kernel
def hash_numbered(numbers: Ints, starts: Ints, arena: Bytes, hash_mask: np.uint64) -> Ints:
    """The hash of each key, given by its number (see `number_keys`)."""
    hashes = np.empty(numbers.size, np.int64)
    for i in range(numbers.size):
        number = numbers[i]
        hashes[i] = np.int64(hash_bytes(arena, starts[number], starts[number + 1]) & hash_mask)
    return hashes


@subroutine
def bucket_of(code: int, n: int) -> int:
    """The hash of an integer, modulo `n`."""
    mixed = np.uint64(code) * _MULTIPLIER
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _SEED  # low bits alone must differ where only high ones did
    return int((mixed >> np.uint64(32)) % np.uint64(n))


@kernel
def mix_codes(codes: Ints, n: int) -> Ints:
    """The bucket of each integer."""
    numbers = np.empty(codes.size, np.int64)
    for i in range(codes.size):
        numbers[i] = bucket_of(codes[i], n)
    return numbers


@subroutine
def same_bytes(a: Bytes, a_start: int, b: Bytes, b_start: int, length: int) -> bool:
    """Whether `length` bytes of two arrays are equal."""
    for i in range(length):
        if a[a_start + i] != b[b_start + i]:
            return False
    return True


@kernel
def number_keys(
    offsets: Ints,
    data: Bytes,
    valid: Bytes,
    hash_mask: np.uint64,
    slots: Indices,
    starts: Ints,
    arena: Bytes,
    known: int,
) -> tuple[Ints, int]:
    """Give each key the number of its first occurrence, in `known` earlier keys or in this batch.

    Key i is data[offsets[i]:offsets[i + 1]]; number n is arena[starts[n]:starts[n + 1]]. `slots`, `starts` and `arena`
    have room for every key of the batch to be new. Returns the numbers (-1 for nulls) and how many keys are known now.
    """
    numbers = np.full(offsets.size - 1, -1, np.int64)
    mask = slots.size - 1
    for i in range(numbers.size):
        if not valid[i]:
            continue
        begin, end = offsets[i], offsets[i + 1]
        slot = np.int64(hash_bytes(data, begin, end) & hash_mask & np.uint64(mask))
        while True:
            number = slots[slot]
            if number < 0:
                slots[slot] = number = known
                for at in range(end - begin):
                    arena[starts[known] + at] = data[begin + at]
                starts[known + 1] = starts[known] + end - begin
                known += 1
                break
            length = starts[number + 1] - starts[number]
            if length == end - begin and same_bytes(arena, starts[number], data, begin, length):
                break
            slot = (slot + 1) & mask
        numbers[i] = number
    return numbers, known
