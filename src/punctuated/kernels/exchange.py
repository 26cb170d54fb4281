"""What an exchange does with whole numbers: deal them to buckets, and write them in few bits.

In few bits they are blocks, each with its smallest number and the width that the span of its numbers needs:

    numbers    |──── 128 of them ────|──── 128 ────|── the rest ──|
    blocks     base, width w, and 2 w words of 64 bits: what each number is above the base, from the lowest bit on

So a block begins with a whole word, and the widths alone say where. Differences are taken modulo 2^64: any span
fits.
"""

import numpy as np

from punctuated.kernels.jit import in_place
from punctuated.kernels.layout import Bytes, Indices, Ints

BLOCK = 128
_WORD = 64
_WORDS = BLOCK // _WORD  # of a block, for each bit of its width


@in_place
def measure_blocks(numbers: Ints, bases: Ints, widths: Bytes) -> int:
    """The smallest number and the width of each block; returns how many words all blocks need."""
    n_words = 0
    for block in range(widths.size):
        start, stop = block * BLOCK, min((block + 1) * BLOCK, numbers.size)
        least = most = numbers[start]
        for i in range(start, stop):
            least, most = min(least, numbers[i]), max(most, numbers[i])
        span, width = np.uint64(most) - np.uint64(least), 0
        while span != 0:
            span >>= np.uint64(1)
            width += 1
        bases[block], widths[block] = least, width
        n_words += _WORDS * width
    return n_words


@in_place
def narrow_blocks(numbers: Ints, bases: Ints, widths: Bytes, words: Ints) -> None:
    """Write the words of blocks that `measure_blocks` has measured."""
    first = np.int64(0)
    for block in range(widths.size):
        base, width = np.uint64(bases[block]), np.int64(widths[block])
        at, used, filled = first, np.int64(0), np.uint64(0)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, numbers.size) if width else 0):
            above = np.uint64(numbers[i]) - base
            filled |= above << np.uint64(used)
            used += width
            if used >= _WORD:
                words[at] = np.int64(filled)
                at, used = at + 1, used - _WORD
                filled = above >> np.uint64(width - used) if used else np.uint64(0)
        if used:
            words[at] = np.int64(filled)
            at += np.int64(1)
        first += _WORDS * width
        words[at:first] = 0


@in_place
def widen_blocks(words: Ints, bases: Ints, widths: Bytes, numbers: Ints) -> None:
    """Read the numbers of blocks that `narrow_blocks` has written."""
    first = np.int64(0)
    for block in range(widths.size):
        base, width = np.uint64(bases[block]), np.int64(widths[block])
        mask = ~np.uint64(0) >> np.uint64(_WORD - width) if width else np.uint64(0)
        start, stop = block * BLOCK, min((block + 1) * BLOCK, numbers.size)
        if width == 0:
            numbers[start:stop] = np.int64(base)
            continue
        for i in range(stop - start):
            bit = i * width
            at, shift = first + (bit >> 6), bit & 63
            above = np.uint64(words[at]) >> np.uint64(shift)
            if shift + width > _WORD:
                above |= np.uint64(words[at + 1]) << np.uint64(_WORD - shift)
            numbers[start + i] = np.int64((above & mask) + base)
        first += _WORDS * width


# Dealing rows to buckets: those of each bucket together, in the order in which they come
#
# Rows of two buckets, of which the second begins at position 3:
#
#     buckets     1 0 0 1 0
#     positions   3 0 1 4 2
#     numbers     a b c d e  ──►  b c e | a d


@in_place
def assign_positions(buckets: Ints, starts: Ints, positions: Indices) -> None:
    """Write the position of each row; `starts` move on to the position of the next row of each bucket."""
    for i in range(buckets.size):
        bucket = buckets[i]
        positions[i] = starts[bucket]
        starts[bucket] += 1


@in_place
def deal_numbers(numbers: Ints, positions: Indices, dealt: Ints) -> None:
    """Write each number to its position."""
    for i in range(numbers.size):
        dealt[positions[i]] = numbers[i]
