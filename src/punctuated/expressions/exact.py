"""Exact numbers: what leaves its type is computed in a wider one, and a division by zero is null."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_NO_TRUTH = pa.scalar(None, pa.bool_())
_DIGITS_128, _DIGITS_256 = 38, 76  # that decimals of so many bits hold


def operate(operator: str, first: Any, second: Any) -> Any:
    """The values of an operator over two columns or scalars."""
    compute = _OPERATORS[operator]
    first, second = beside(first, second)
    try:
        return compute(first, second)
    except pa.ArrowInvalid:
        if not (is_exact(first.type) and is_exact(second.type)):
            raise
        return compute(_widened(first), _widened(second))


def beside(*values: Any) -> list[Any]:
    """The values, integers as floating-point numbers if some value is one; Arrow would refuse to round them."""
    floating = [each.type for each in values if pa.types.is_floating(each.type)]
    if not floating:
        return list(values)
    widest = max(floating, key=lambda dtype: dtype.bit_width)
    return [each.cast(widest, safe=False) if pa.types.is_integer(each.type) else each for each in values]


def is_exact(dtype: pa.DataType) -> bool:
    """Whether numbers of this type have no rounding."""
    return bool(pa.types.is_integer(dtype) or pa.types.is_decimal(dtype))


def roomy(values: Any) -> Any:
    """Decimals with one more digit, which rounding may need; other numbers as they are."""
    dtype = values.type
    if not pa.types.is_decimal(dtype):
        return values
    kind = pa.decimal128 if dtype.precision < _DIGITS_128 else pa.decimal256
    return values.cast(kind(min(dtype.precision + 1, _DIGITS_256), dtype.scale))


def truth(values: Any) -> Any:
    """The values as truth values, if they are nulls without a type."""
    return values.cast(pa.bool_()) if pa.types.is_null(values.type) else values


def not_zero(values: Any) -> Any:
    """Numbers, with null in place of zero."""
    is_zero = pc.equal(values, pa.scalar(0, pa.int8()))
    return pc.if_else(is_zero, pa.scalar(None, values.type), values)


def _widened(values: Any) -> Any:
    """Integers and decimals as decimals of 256 bits."""
    dtype = values.type
    digits, scale = (20, 0) if pa.types.is_integer(dtype) else (dtype.precision, dtype.scale)
    return values.cast(pa.decimal256(digits, scale))


def _divide(first: Any, second: Any) -> Any:
    if not is_exact(second.type):
        return pc.divide(first, second)  # of floating-point numbers: infinite or NaN
    return (pc.divide_checked if is_exact(first.type) else pc.divide)(first, not_zero(second))


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison that gives null for two nulls without a type, which Arrow refuses to compare."""

    def of(first: Any, second: Any) -> Any:
        both_null = pa.types.is_null(first.type) and pa.types.is_null(second.type)
        return _NO_TRUTH if both_null else compare(first, second)

    return of


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": _compared(pc.equal),
    "!=": _compared(pc.not_equal),
    "<": _compared(pc.less),
    "<=": _compared(pc.less_equal),
    ">": _compared(pc.greater),
    ">=": _compared(pc.greater_equal),
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
    "/": _divide,
    "&": lambda first, second: pc.and_kleene(truth(first), truth(second)),
    "|": lambda first, second: pc.or_kleene(truth(first), truth(second)),
}
