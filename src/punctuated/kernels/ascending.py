"""Look-ups in an ascending sequence by numbers that mostly ascend, too: each one begins where the last one ended."""

import numpy as np

from punctuated.kernels.jit import kernel
from punctuated.kernels.layout import Ints


@kernel
def occurrences(numbers: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Where each wanted number first stands among ascending ones, or would stand, and how often it does."""
    starts, counts = np.empty(wanted.size, np.int64), np.zeros(wanted.size, np.int64)
    at = 0
    for i in range(wanted.size):
        each = wanted[i]
        low = at if at == 0 or numbers[at - 1] < each else 0
        step = 1
        while low + step <= numbers.size and numbers[low + step - 1] < each:
            low += step
            step *= 2
        high = min(low + step, numbers.size)
        while low < high:
            middle = (low + high) >> 1
            if numbers[middle] < each:
                low = middle + 1
            else:
                high = middle
        starts[i] = at = low
        while low < numbers.size and numbers[low] == each:
            low += 1
        counts[i] = low - at
    return starts, counts
