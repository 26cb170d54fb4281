"""Types of keys: which type both sides of a key are cast to, and what to write where there is none.

No value of a key may change by the cast: two keys are equal afterwards only if they were equal before.
"""

from dataclasses import dataclass

import pyarrow as pa

from punctuated.arrow.types import with_parts
from punctuated.errors import ColumnError


@dataclass(frozen=True)
class SideLabels:
    """What messages about the types of keys call two streams and their keys."""

    where: tuple[str, str]  # where a key has a type
    which: tuple[str, str]  # which one to cast

    @staticmethod
    def of(one: str, two: str) -> "SideLabels":
        """Labels by the names of two streams among others."""
        return SideLabels((f"in {one}", f"in {two}"), (f"that of {one}", f"that of {two}"))


BOTH_SIDES = SideLabels(("on the left", "on the right"), ("the left one", "the right one"))


def common_key_type(name: str, left: pa.DataType, right: pa.DataType, labels: SideLabels = BOTH_SIDES) -> pa.DataType:
    """The type that both sides of a key are cast to: one that holds all values of both."""
    left, right = _key_type(left), _key_type(right)
    if left == right:
        return left
    widened = _wider(left, right)
    if widened is None:
        remedy = _remedy(left, right, *labels.which)
        ours, theirs = labels.where
        raise ColumnError(f"key {name!r} is of type {left} {ours} and {right} {theirs}; {remedy}")
    return widened


def are_keys_alike(one: pa.DataType, two: pa.DataType) -> bool:
    """Whether values of one type can be looked up among values of another; those that do not fit are not found."""
    one, two = _key_type(one), _key_type(two)
    return one == two or _wider(one, two) is not None or bool(pa.types.is_integer(one) and pa.types.is_integer(two))


def _remedy(left: pa.DataType, right: pa.DataType, the_left: str, the_right: str) -> str:
    """What to do about two types without a common one."""
    for one, two, first, second in ((left, right, the_left, the_right), (right, left, the_right, the_left)):
        if pa.types.is_integer(one) and pa.types.is_floating(two):
            return f"not every {one} is a {two}: cast {second} to {one}, if it has whole numbers only"
        if pa.types.is_signed_integer(one) and two == pa.uint64():
            return f"no integer type holds both: cast {second} to int64, or both to decimal128(20, 0)"
        if pa.types.is_integer(one) and pa.types.is_decimal(two):
            return f"cast {first} to {two}, or both to a decimal with more digits"
        if pa.types.is_decimal(one) and pa.types.is_floating(two):
            return f"few decimals are a {two}: cast {second} to {one}, rounding it as you like"
    return "cast one of them to the other's type"


def _key_type(dtype: pa.DataType) -> pa.DataType:
    """The type of the same values, whatever their layout and their declaration of nulls."""
    kind = pa.types
    if kind.is_dictionary(dtype):
        return _key_type(dtype.value_type)
    if kind.is_large_string(dtype) or kind.is_string_view(dtype):
        return pa.string()
    if kind.is_large_binary(dtype) or kind.is_binary_view(dtype):
        return pa.binary()
    if kind.is_large_list(dtype):
        return pa.list_(_key_type(dtype.value_type))
    if kind.is_fixed_size_list(dtype):
        return dtype
    return with_parts(dtype, lambda part: _key_type(part.type))


def _wider(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type that holds all values of both exactly; None if there is none."""
    both = (left, right)
    if all(pa.types.is_integer(dtype) for dtype in both):
        mixed = pa.types.is_signed_integer(left) != pa.types.is_signed_integer(right)
        if mixed:
            return None if pa.uint64() in both else pa.int64()
        return max(both, key=lambda dtype: dtype.bit_width)
    if all(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) for dtype in both):
        exact = not any(pa.types.is_integer(dtype) and dtype.bit_width == 64 for dtype in both)
        return pa.float64() if exact else None
    if all(pa.types.is_decimal(dtype) for dtype in both):
        scale = max(dtype.scale for dtype in both)
        digits = max(dtype.precision - dtype.scale for dtype in both)
        return pa.decimal256(digits + scale, scale) if digits + scale > 38 else pa.decimal128(digits + scale, scale)
    if all(pa.types.is_timestamp(dtype) for dtype in both) and (left.tz is None) == (right.tz is None):
        units = ["s", "ms", "us", "ns"]
        return pa.timestamp(max((dtype.unit for dtype in both), key=units.index), left.tz)
    return None
