"""Hash buckets: tuples are chained in the order of arrival, so the oldest of a bucket is its first (KN-14)."""

import numpy as np

from punctuated.kernels.jit import in_place, inlined, subroutine
from punctuated.kernels.layout import NONE, Indices, Records
from punctuated.kernels.windows.layout import WindowIndex

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inlined
def hash_bucket(index: WindowIndex, side: int, group: int) -> int:
    """The bucket of a group: the top bits of a multiplicative hash, so runs of integers spread."""
    ours = index.sides[side]
    return int(ours.first_bucket + np.int64((np.uint64(group) * _GOLDEN) >> np.uint64(ours.shift)))


@inlined
def append_to_bucket(index: WindowIndex, side: int, position: int) -> None:
    """Add a tuple as the youngest of its bucket."""
    bucket = index.buckets[hash_bucket(index, side, index.group[position])]
    index.chain[position] = NONE
    if bucket.head < 0:
        bucket.head = position
    else:
        index.chain[bucket.tail] = position
    bucket.tail = position


@inlined
def take_from_bucket(index: WindowIndex, side: int, position: int) -> None:
    """Unlink a tuple: one hash and one access if it is the oldest, as it is when it leaves its window (KN-14)."""
    bucket = index.buckets[hash_bucket(index, side, index.group[position])]
    if bucket.head == position:
        bucket.head = index.chain[position]
        return
    before = bucket.head
    while index.chain[before] != position:
        before = index.chain[before]
    index.chain[before] = index.chain[position]
    if bucket.tail == position:
        bucket.tail = before


@inlined
def collect_from_bucket(index: WindowIndex, side: int, group: int, low: int, high: int, found: Indices) -> int:
    """Write the positions of the matches, oldest first; returns how many there are."""
    n = 0
    position = index.buckets[hash_bucket(index, side, group)].head
    while position >= 0:
        if index.group[position] == group and index.high[position] >= low and index.low[position] <= high:
            found[n] = position
            n += 1
        position = index.chain[position]
    return n


@subroutine
def empty_buckets(index: WindowIndex, side: int) -> None:
    """Forget all tuples of a side."""
    ours = index.sides[side]
    for i in range(ours.first_bucket, ours.first_bucket + ours.n_buckets):
        index.buckets[i].head = NONE


@in_place
def spread_buckets(coarse: Records, index: WindowIndex, side: int) -> None:
    """Distribute a side's tuples from fewer buckets. Each bucket comes of one, so it keeps the order of arrival."""
    for bucket in coarse:
        position = bucket.head
        while position >= 0:
            younger = index.chain[position]
            append_to_bucket(index, side, position)
            position = younger
