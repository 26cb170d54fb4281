"""The order of processing: objects of all streams as one sequence, each object as one number.

A packed number also says which value waits for a purge by which side.
"""

from typing import Any

import numpy as np

from punctuated.kernels.jit import formula, in_place, kernel, subroutine
from punctuated.kernels.layout import FOREVER, Bytes, Ints, Objects

_SIDE_BITS = 3  # for layout.MOST_STREAMS


@formula
def pack(number: Any, side: Any) -> Any:
    """A number and a side as one number; arrays are packed element by element.

    >>> unpack(pack(12, 3))
    (12, 3)
    """
    return (number << _SIDE_BITS) + side


@formula
def unpack(packed: Any) -> tuple[Any, Any]:
    """The number and the side that were packed."""
    return packed >> _SIDE_BITS, packed & ((1 << _SIDE_BITS) - 1)


@formula
def pack_object(position: Any, is_punctuation: Any, side: Any) -> Any:
    """An object of a batch as one number: its position among the tuples, or the punctuations, of its stream."""
    return pack(2 * position + is_punctuation, side)


@formula
def unpack_object(packed: Any) -> tuple[Any, Any, Any]:
    """The position of an object, whether it is a punctuation, and its side.

    >>> unpack_object(pack_object(7, True, 1))
    (7, 1, 1)
    """
    number, side = unpack(packed)
    return number >> 1, number & 1, side


# Two sorted streams and their punctuations as one sequence


@in_place
def is_sorted(ts: Ints) -> bool:
    """Whether times never step back."""
    for i in range(1, ts.size):
        if ts[i] < ts[i - 1]:
            return False
    return True


@in_place
def has_ties(ts: Ints) -> bool:
    """Whether two neighbours of an ascending sequence have the same time."""
    for i in range(1, ts.size):
        if ts[i] == ts[i - 1]:
            return True
    return False


@in_place
def are_in_order(ts: Ints, kind: Bytes, code: Ints) -> bool:
    """Whether punctuations ascend by time, kind and code."""
    for i in range(1, ts.size):
        if ts[i] < ts[i - 1]:
            return False
        if ts[i] == ts[i - 1] and (kind[i] < kind[i - 1] or (kind[i] == kind[i - 1] and code[i] < code[i - 1])):
            return False
    return True


@subroutine
def _head(ts: Ints, i: int) -> int:
    return ts[i] if i < ts.size else FOREVER


@kernel
def merge_two(left: Objects, right: Objects) -> Ints:
    """All objects by (time, tuples first, left first), each as `pack_object` writes it."""
    n = left.ts.size + right.ts.size + left.punctuation_ts.size + right.punctuation_ts.size
    order = np.empty(n, np.int64)
    i = j = k = m = 0
    a, b = _head(left.ts, 0), _head(right.ts, 0)
    c, d = _head(left.punctuation_ts, 0), _head(right.punctuation_ts, 0)
    for at in range(n):
        tuples, punctuations = min(a, b), min(c, d)
        if tuples <= punctuations and tuples != FOREVER:
            if a <= b:
                order[at] = pack_object(i, 0, 0)
                i += 1
                a = _head(left.ts, i)
            else:
                order[at] = pack_object(j, 0, 1)
                j += 1
                b = _head(right.ts, j)
        elif c <= d:
            order[at] = pack_object(k, 1, 0)
            k += 1
            c = _head(left.punctuation_ts, k)
        else:
            order[at] = pack_object(m, 1, 1)
            m += 1
            d = _head(right.punctuation_ts, m)
    return order
