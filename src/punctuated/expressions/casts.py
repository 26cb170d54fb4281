"""Casts, and the types that they name: a value that another type cannot hold becomes null, that one alone."""

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.expressions.functions import rounded

_MOST_DIGITS, _BEHIND_THE_POINT = 76, 38  # of decimals of 256 bits, while texts are read
_OF_INTEGERS = 20  # digits of the largest one
_NUMERAL = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
_OF_SQL = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "float": pa.float32(),
    "double": pa.float64(),
    "text": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "decimal": pa.decimal128(10, 0),
}
_DECIMAL = re.compile(r"(?:decimal|numeric)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


def cast(values: Any, dtype: pa.DataType) -> Any:
    """The values of a column or scalar as another type.

    Fractions of integers and parts of a unit of time are cut off; decimals are rounded, halves away from zero.
    """
    if isinstance(values, pa.Scalar):
        return cast(pa.array([values.as_py()], values.type), dtype)[0]
    if pa.types.is_decimal(dtype):
        return _by_halves(_rounded(values, dtype), dtype)
    return _by_halves(_prepared(values, dtype), dtype)


def _options(dtype: pa.DataType) -> pc.CastOptions:
    """Options of Arrow's cast. Decimals are not truncated, since that would cut off digits before the point, too."""
    cuts, rounds = not pa.types.is_decimal(dtype), pa.types.is_floating(dtype)  # a large integer as the nearest double
    return pc.CastOptions(
        target_type=dtype, allow_time_truncate=True, allow_decimal_truncate=cuts, allow_float_truncate=rounds
    )


def _prepared(values: Any, dtype: pa.DataType) -> Any:
    """Values that Arrow can cast: fractions are cut off, and texts that are no numbers are null."""
    if pa.types.is_integer(dtype) and pa.types.is_floating(values.type):
        return pc.trunc(values)
    if not _is_text(values.type):
        return values
    if pa.types.is_integer(dtype) or pa.types.is_floating(dtype):
        return _numerals(values)
    return pc.utf8_trim_whitespace(values) if pa.types.is_temporal(dtype) else values


def _rounded(values: Any, dtype: pa.DataType) -> Any:
    """Values rounded to as many digits behind the point as a decimal type has."""
    ready = values
    if _is_text(values.type):
        n = max(1, min(_BEHIND_THE_POINT, _MOST_DIGITS - dtype.precision + dtype.scale))
        short = pc.replace_substring_regex(_numerals(values), rf"(\.[0-9]{{{n}}})[0-9]+", r"\1")
        ready = _by_halves(short, pa.decimal256(_MOST_DIGITS, n))
    elif pa.types.is_integer(values.type):
        return values.cast(pa.decimal256(_OF_INTEGERS, 0))  # Arrow asks that a decimal has room for all integers
    elif not (pa.types.is_decimal(values.type) or pa.types.is_floating(values.type)):
        return values
    return rounded(ready, pa.scalar(dtype.scale))


def _numerals(texts: Any) -> Any:
    known = pc.if_else(pc.match_substring_regex(texts, _NUMERAL), texts, pa.scalar(None, texts.type))
    return pc.utf8_trim_whitespace(known)


def _by_halves(values: Any, dtype: pa.DataType) -> Any:
    n = len(values)
    try:
        return pc.cast(values, options=_options(dtype))
    except pa.ArrowInvalid:
        if n == 1:
            return pa.nulls(1, dtype)
    halves = (_by_halves(values[: n // 2], dtype), _by_halves(values[n // 2 :], dtype))
    return pa.chunked_array([chunk for half in halves for chunk in _chunks(half)], dtype)


def _chunks(values: Any) -> list[pa.Array]:
    return list(values.chunks) if isinstance(values, pa.ChunkedArray) else [values]


def _is_text(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype))


# Types by name


def named_type(value: pa.DataType | str) -> pa.DataType:
    """A type of Arrow as it is, or the one of this name, in Arrow or in SQL.

    >>> named_type("bigint"), named_type("decimal(10, 2)"), named_type("timestamp[ms]")
    (DataType(int64), Decimal128Type(decimal128(10, 2)), TimestampType(timestamp[ms]))
    """
    if isinstance(value, pa.DataType):
        return value
    name = str(value).strip().lower()
    try:
        digits = _DECIMAL.fullmatch(name)
        if digits is not None:
            return pa.decimal128(int(digits[1]), int(digits[2] or 0))
        return _OF_SQL[name] if name in _OF_SQL else pa.type_for_alias(name)
    except ValueError:
        raise PredicateError(
            f"cast({value!r}): there is no such type; give one of Arrow's, or one of {', '.join(_OF_SQL)}"
        ) from None
