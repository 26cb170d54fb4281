"""Which nodes of a side's ring hold a tuple."""

import numpy as np

from punctuated.kernels._jit import kernel
from punctuated.kernels.layout import DEAD, Ints, Records


@kernel
def living_nodes(nodes: Records, ring: tuple[int, int], head: int, skipped: int, length: int) -> Ints:
    """Their positions, oldest first, without that many at the head; `ring` is where it starts and stops."""
    start, stop = ring
    found = np.empty(length - skipped, np.int64)
    n = 0
    for place in range(skipped, length):
        position = head + place
        if position >= stop:
            position -= stop - start
        if nodes[position].value >= 0 and nodes[position].mark & DEAD == 0:
            found[n] = position
            n += 1
    return found[:n]
