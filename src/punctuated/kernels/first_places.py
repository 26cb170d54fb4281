"""Where in a sequence of group numbers the new groups begin."""

import numpy as np

from punctuated.kernels._jit import kernel
from punctuated.kernels.layout import Ints


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
