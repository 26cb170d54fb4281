"""Patterns compared with whole columns: which rows a punctuation matches.

Values compare as in `model.pattern`: NaN equals itself and is greater than every number, and null matches only `*`.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.model.pattern import Constant, Empty, OneOf, Pattern, Range, Wildcard

Mask = npt.NDArray[np.bool_]


def typed_scalar(value: Any, dtype: pa.DataType) -> pa.Scalar:
    """A pattern's value as a scalar of a column's type; times in patterns are microseconds."""
    if pa.types.is_timestamp(dtype):
        return pa.scalar(value, pa.timestamp("us", dtype.tz)).cast(dtype)
    if isinstance(value, timedelta):
        return pa.scalar(value, pa.duration("us")).cast(dtype)
    return pa.scalar(value, dtype)


def match_columns(patterns: Sequence[Pattern], columns: Sequence[pa.ChunkedArray]) -> Mask:
    """Which rows match: those whose every value matches the pattern of its column."""
    rows = len(columns[0])
    mask = np.ones(rows, np.bool_)
    for pattern, column in zip(patterns, columns, strict=True):
        if not isinstance(pattern, Wildcard):
            mask &= _match(pattern, column)
    return mask


def _match(pattern: Pattern, column: pa.ChunkedArray) -> Mask:
    if isinstance(pattern, Empty) or len(column) == 0:
        return np.zeros(len(column), np.bool_)
    if pa.types.is_nested(column.type) or pa.types.is_dictionary(column.type):
        raise TypeError(f"patterns cannot be compared with {column.type}")
    if pa.types.is_floating(column.type):
        return _match_floats(pattern, column)
    hits = None
    if isinstance(pattern, Constant):
        hits = pc.equal(column, typed_scalar(pattern.value, column.type))
    elif isinstance(pattern, OneOf):
        hits = pc.is_in(column, pa.array([typed_scalar(value, column.type) for value in pattern.values]))
    elif isinstance(pattern, Range):
        hits = column.is_valid()
        if pattern.low is not None:
            above = pc.greater_equal if pattern.low_closed else pc.greater
            hits = pc.and_(hits, above(column, typed_scalar(pattern.low, column.type)))
        if pattern.high is not None:
            below = pc.less_equal if pattern.high_closed else pc.less
            hits = pc.and_(hits, below(column, typed_scalar(pattern.high, column.type)))
    return np.asarray(pc.fill_null(hits, False).to_numpy().astype(np.bool_))


def _match_floats(pattern: Pattern, column: pa.ChunkedArray) -> Mask:
    """Which floating-point numbers match a pattern: NaN equals itself and is greater than every number."""
    valid = np.asarray(column.is_valid().to_numpy())
    numbers = np.asarray(pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy())
    if isinstance(pattern, Constant | OneOf):
        values = np.array([pattern.value] if isinstance(pattern, Constant) else pattern.values, np.float64)
        hits = np.isin(numbers, values) | (np.isnan(numbers) & bool(np.isnan(values).any()))
        return np.asarray(hits & valid)
    assert isinstance(pattern, Range)
    hits = valid.copy()
    if pattern.low is not None:
        above = numbers >= pattern.low if pattern.low_closed else numbers > pattern.low
        hits &= above | (np.isnan(numbers) & (pattern.low_closed or not np.isnan(pattern.low)))
    if pattern.high is not None:
        hits &= numbers <= pattern.high if pattern.high_closed else numbers < pattern.high
    return np.asarray(hits)
