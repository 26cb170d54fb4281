"""A number and a side as one number: which object of which stream is next, which value waits for a purge by whom."""

from typing import Any

from punctuated.kernels._jit import formula

_SIDE_BITS = 3  # for layout.MOST_STREAMS


@formula
def pack(number: Any, side: Any) -> Any:
    """Both as one number, or number by number as one array.

    >>> unpack(pack(12, 3))
    (12, 3)
    """
    return (number << _SIDE_BITS) + side


@formula
def unpack(packed: Any) -> tuple[Any, Any]:
    """The inverse."""
    return packed >> _SIDE_BITS, packed & ((1 << _SIDE_BITS) - 1)


@formula
def pack_object(position: Any, is_punctuation: Any, side: Any) -> Any:
    """An object of a batch: the place of a tuple among its stream's tuples, or of a punctuation among those."""
    return pack(2 * position + is_punctuation, side)


@formula
def unpack_object(packed: Any) -> tuple[Any, Any, Any]:
    """Position, whether it is a punctuation, and the side.

    >>> unpack_object(pack_object(7, True, 1))
    (7, 1, 1)
    """
    number, side = unpack(packed)
    return number >> 1, number & 1, side
