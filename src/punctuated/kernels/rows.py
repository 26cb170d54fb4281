"""Rows of two-dimensional arrays."""

from punctuated.kernels.jit import inlined
from punctuated.kernels.layout import Ints


@inlined
def copy_row(source: Ints, at: int, to: Ints, place: int) -> None:
    """One row; numba's own assignment brings along messages about shapes, which take two seconds to compile."""
    for column in range(to.shape[1]):
        to[place, column] = source[at, column]
