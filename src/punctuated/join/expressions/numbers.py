"""Functions of numbers. What has no value, such as the root of -1, is null."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.expressions.exact import is_exact, not_zero, operate, roomy
from punctuated.join.expressions.literals import typed, whole

_DOUBLE = pa.float64()


def absolute(value: Any) -> Any:
    """|x|."""
    return pc.abs_checked(typed(value, _DOUBLE))


def ceil(value: Any) -> Any:
    """The next whole number above; integers stay what they are."""
    return value if pa.types.is_integer(value.type) else pc.ceil(roomy(typed(value, _DOUBLE)))


def floor(value: Any) -> Any:
    """The next whole number below."""
    return value if pa.types.is_integer(value.type) else pc.floor(roomy(typed(value, _DOUBLE)))


def rounded(value: Any, digits: Any = None) -> Any:
    """To so many digits behind the point; halves go away from zero."""
    n = 0 if digits is None else whole(digits, "round", "the number of digits")
    numbers = roomy(typed(value, _DOUBLE))
    if n is None:
        return pa.scalar(None, numbers.type)
    return pc.round(numbers, ndigits=n, round_mode="half_towards_infinity")


def square_root(value: Any) -> Any:
    """The root; null below zero."""
    return pc.sqrt(_where(_double(value), pc.greater_equal))


def power(base: Any, exponent: Any) -> Any:
    """A power, as a floating-point number."""
    return pc.power(_double(base), _double(exponent))


def exponential(value: Any) -> Any:
    """E to the power of x."""
    return pc.exp(_double(value))


def natural_logarithm(value: Any) -> Any:
    """To the base e; null unless above zero."""
    return pc.ln(_where(_double(value), pc.greater))


def decimal_logarithm(value: Any) -> Any:
    """To the base 10; null unless above zero."""
    return pc.log10(_where(_double(value), pc.greater))


def sign(value: Any) -> Any:
    """-1, 0 or 1."""
    return pc.sign(typed(value, _DOUBLE))


def quotient(dividend: Any, divisor: Any) -> Any:
    """The division of SQL: of floating-point numbers, and null by zero."""
    return pc.divide(_double(dividend), not_zero(_double(divisor)))


def remainder(dividend: Any, divisor: Any) -> Any:
    """What is left of a division that is cut off at the point: it has the sign of the dividend; null by zero."""
    first, second = typed(dividend, pa.int64()), typed(divisor, pa.int64())
    if is_exact(first.type) and is_exact(second.type):
        divisor = not_zero(second)
        return operate("-", first, operate("*", _whole_part(operate("/", first, divisor)), divisor))
    first, second = _double(first), not_zero(_double(second))
    if isinstance(first, pa.Scalar) and isinstance(second, pa.Scalar):
        return remainder(pa.chunked_array([pa.array([first.as_py()], _DOUBLE)]), second)[0]
    found = np.fmod(_plain(first), _plain(second))
    return pc.if_else(pc.and_(pc.is_valid(first), pc.is_valid(second)), pa.array(found), pa.scalar(None, _DOUBLE))


def _whole_part(quotient: Any) -> Any:
    return pc.trunc(quotient) if pa.types.is_decimal(quotient.type) else quotient


def _plain(values: Any) -> Any:
    """As NumPy has it; nulls are NaN."""
    if isinstance(values, pa.Scalar):
        return np.float64(np.nan if values.as_py() is None else values.as_py())
    return values.to_numpy(zero_copy_only=False) if isinstance(values, pa.Array) else values.to_numpy()


def _double(value: Any) -> Any:
    """The nearest double: integers beyond 2^53 are rounded."""
    return value if value.type == _DOUBLE else value.cast(_DOUBLE, safe=not pa.types.is_integer(value.type))


def _where(values: Any, compare: Any) -> Any:
    """Numbers, null where they do not compare so with zero."""
    return pc.if_else(compare(values, 0.0), values, pa.scalar(None, _DOUBLE))
