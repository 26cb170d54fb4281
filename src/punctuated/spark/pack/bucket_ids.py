"""Bucket ids: the id that stands for each bucket in Spark's exchange.

Spark sends a row to the partition `pmod(hash(id), partitions)`. Ids 0, 1, 2, … would be spread unevenly; these ids have
the hashes 0, 1, 2, … modulo 1024, so that every power of two of partitions gets the same number of buckets. An id
depends on the number of its bucket alone, since Spark restores the number of partitions from the checkpoint without
saying so.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from punctuated.model.spec import MOST_BUCKETS

_CANDIDATES = 10_000  # the last one taken is 9,376


@cache
def bucket_ids() -> tuple[int, ...]:
    """The id of each bucket."""
    hashes = spark_hash(np.arange(_CANDIDATES, dtype=np.uint32)) % MOST_BUCKETS
    return tuple(np.unique(hashes, return_index=True)[1].tolist())


def spark_hash(values: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
    """Spark's hash of integers: Murmur3, 32 bits, seed 42."""
    mixed = _rotated(values * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    state = _rotated(np.uint32(42) ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    state = state ^ np.uint32(4)  # the length in bytes
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return np.asarray(state ^ (state >> np.uint32(16))).astype(np.int32)


def _rotated(values: npt.NDArray[np.uint32], by: int) -> npt.NDArray[np.uint32]:
    return (values << np.uint32(by)) | (values >> np.uint32(32 - by))
