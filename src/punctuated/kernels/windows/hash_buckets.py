"""Hash buckets: tuples are chained in the order of arrival, so the oldest of a bucket is its first (KN-14)."""

import numpy as np

from punctuated.kernels.jit import in_place, inlined, part
from punctuated.kernels.layout import NONE, Indices, Records
from punctuated.kernels.windows.layout import WindowIndex

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inlined
def hash_bucket(index: WindowIndex, side: int, group: int) -> int:
    """The bucket of a group: the top bits of a multiplicative hash, so runs of integers spread."""
    ours = index.sides[side]
    return int(ours.first_bucket + np.int64((np.uint64(group) * _GOLDEN) >> np.uint64(ours.shift)))


@inlined
def append_to_bucket(index: WindowIndex, side: int, place: int) -> None:
    """A tuple becomes the youngest of its bucket."""
    bucket = index.buckets[hash_bucket(index, side, index.group[place])]
    index.chain[place] = NONE
    if bucket.head < 0:
        bucket.head = place
    else:
        index.chain[bucket.tail] = place
    bucket.tail = place


@inlined
def take_from_bucket(index: WindowIndex, side: int, place: int) -> None:
    """Unlink a tuple: one hash and one access if it is the oldest, which it is when it leaves its window (KN-14)."""
    bucket = index.buckets[hash_bucket(index, side, index.group[place])]
    if bucket.head == place:
        bucket.head = index.chain[place]
        return
    before = bucket.head
    while index.chain[before] != place:
        before = index.chain[before]
    index.chain[before] = index.chain[place]
    if bucket.tail == place:
        bucket.tail = before


@inlined
def collect_from_bucket(index: WindowIndex, side: int, group: int, low: int, high: int, found: Indices) -> int:
    """Places of the matches, oldest first."""
    n = 0
    place = index.buckets[hash_bucket(index, side, group)].head
    while place >= 0:
        if index.group[place] == group and index.high[place] >= low and index.low[place] <= high:
            found[n] = place
            n += 1
        place = index.chain[place]
    return n


@part
def empty_buckets(index: WindowIndex, side: int) -> None:
    """Forget all tuples."""
    ours = index.sides[side]
    for i in range(ours.first_bucket, ours.first_bucket + ours.n_buckets):
        index.buckets[i].head = NONE


@in_place
def spread_buckets(coarse: Records, index: WindowIndex, side: int) -> None:
    """Distribute a side's tuples from fewer buckets. Each bucket comes of one, so it keeps the order of arrival."""
    for bucket in coarse:
        place = bucket.head
        while place >= 0:
            younger = index.chain[place]
            append_to_bucket(index, side, place)
            place = younger
