"""Which runs of a bucket's numbers lie side by side."""

import numpy as np
import numpy.typing as npt

from punctuated.kernels._jit import inlined, kernel
from punctuated.kernels.key_bytes import bucket_of
from punctuated.kernels.layout import Ints

Mask = npt.NDArray[np.bool_]
_WIDEST = 32  # gaps that are looked through, per bucket; wider ones are not worth it


@inlined
def holds_ours(first: int, stop: int, bucket: int, n_buckets: int) -> bool:
    """Whether any of the numbers from `first` belongs to the bucket."""
    for code in range(first, stop):
        if bucket_of(code, n_buckets) == bucket:
            return True
    return False


@kernel
def are_neighbours(low: Ints, high: Ints, is_new: Mask, bucket: int, n_buckets: int) -> Mask:
    """For each two runs that follow each other: whether one of them is new, and no number of ours between them."""
    found = np.zeros(low.size - 1, np.bool_)
    for i in range(found.size):
        gap = low[i + 1] - high[i] - 1  # below zero if it is too wide for 64 bits
        if (is_new[i] or is_new[i + 1]) and 0 <= gap < _WIDEST * n_buckets:
            found[i] = not holds_ours(high[i] + 1, low[i + 1], bucket, n_buckets)
    return found
