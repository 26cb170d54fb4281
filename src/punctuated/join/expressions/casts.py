"""Casts: a value that another type cannot hold becomes null, that one alone."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_NUMERAL = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"


def cast(values: Any, dtype: pa.DataType) -> Any:
    """Columns or scalars as another type. Fractions and parts of a unit of time are cut off."""
    if isinstance(values, pa.Scalar):
        return cast(pa.array([values.as_py()], values.type), dtype)[0]
    ready = _prepared(values, dtype)
    try:
        return pc.cast(ready, options=_options(dtype))
    except pa.ArrowInvalid:
        return _by_halves(ready, dtype)


def _options(dtype: pa.DataType) -> pc.CastOptions:
    return pc.CastOptions(target_type=dtype, allow_time_truncate=True, allow_decimal_truncate=True)


def _prepared(values: Any, dtype: pa.DataType) -> Any:
    """What Arrow refuses as a whole, made ready: fractions cut off, texts that are no numbers made null."""
    if pa.types.is_integer(dtype) and pa.types.is_floating(values.type):
        return pc.trunc(values)
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    is_number = pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
    if is_text and is_number:
        numerals = pc.if_else(pc.match_substring_regex(values, _NUMERAL), values, pa.scalar(None, values.type))
        return pc.utf8_trim_whitespace(numerals)
    return pc.utf8_trim_whitespace(values) if is_text and pa.types.is_temporal(dtype) else values


def _by_halves(values: Any, dtype: pa.DataType) -> Any:
    n = len(values)
    try:
        return _chunked(pc.cast(values, options=_options(dtype)))
    except pa.ArrowInvalid:
        if n == 1:
            return pa.chunked_array([pa.nulls(1, dtype)])
    halves = (_by_halves(values[: n // 2], dtype), _by_halves(values[n // 2 :], dtype))
    return pa.chunked_array([chunk for half in halves for chunk in half.chunks], dtype)


def _chunked(values: Any) -> pa.ChunkedArray:
    return values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
