"""The smallest or the largest value of each group. As in Spark, NaN is above all numbers, and both zeros are 0.0."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.aggregates.accumulator import Ints, Mask, known_values, lengthen
from punctuated.arrow.types import canonical_floats

_UFUNCS: dict[str, Any] = {"min": np.fmin, "max": np.maximum}  # which pass over NaN, and keep it
_STRICT = pc.ScalarAggregateOptions(min_count=1)
_GROUP, _VALUE = "group", "value"


def is_comparable(dtype: pa.DataType) -> bool:
    """Whether there is a smallest value of that type."""
    if pa.types.is_floating(dtype) or pa.types.is_integer(dtype):
        return True
    try:
        ArrowExtremes("", "min", dtype)
    except pa.ArrowNotImplementedError:
        return False
    return True


class NumberExtremes:
    """Extremes of numbers that fit a machine word, in NumPy."""

    def __init__(self, column: str, function: str, dtype: pa.DataType) -> None:
        self._column, self._combine, self._type = column, _UFUNCS[function], dtype
        numpy_type = np.dtype(dtype.to_pandas_dtype())
        self._nothing = _neutral(function, numpy_type)
        self._extremes = np.zeros(0, numpy_type)
        self._known = np.zeros(0, np.bool_)

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Combine these values with those before."""
        values, groups = known_values(canonical_floats(rows[self._column]), groups)
        self._extremes = lengthen(self._extremes, n_groups, self._nothing)
        self._known = lengthen(self._known, n_groups)
        with np.errstate(invalid="ignore"):  # NaN is as good a value as any
            self._combine.at(self._extremes, groups, values.astype(self._extremes.dtype, copy=False))
        self._known[groups] = True

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        self._extremes, self._known = self._extremes[kept], self._known[kept]

    def finish(self, final: Mask) -> pa.Array:
        """The extremes of these groups, null where all values were."""
        return pa.array(self._extremes[final], self._type, mask=~self._known[final])

    def save(self) -> pa.Table:
        """Everything as a table."""
        return pa.table({"total": self._extremes, "known": self._known})

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        extremes, self._known = (np.array(saved[name]) for name in ("total", "known"))
        self._extremes = np.where(self._known, extremes, extremes.dtype.type(self._nothing))


def _neutral(function: str, dtype: np.dtype[Any]) -> Any:
    """A start value: combining it with another value changes nothing."""
    if dtype.kind == "f":
        return np.nan if function == "min" else -np.inf
    return np.iinfo(dtype).max if function == "min" else np.iinfo(dtype).min


class ArrowExtremes:
    """Extremes of decimals, text, times and whatever else Arrow can compare."""

    def __init__(self, column: str, function: str, dtype: pa.DataType) -> None:
        self._column, self._function = column, function
        none = pa.table({_GROUP: pa.array([], pa.int64()), _VALUE: pa.array([], dtype)})
        self._extremes = self._combine(none)

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Combine these values with those before; each of the new groups has one."""
        fresh = rows[self._column].cast(self._extremes.type)
        numbers = np.concatenate([np.arange(len(self._extremes)), groups])
        values = pa.chunked_array([self._extremes, *fresh.chunks], self._extremes.type)
        self._extremes = self._combine(pa.table({_GROUP: numbers, _VALUE: values})).cast(self._extremes.type)
        assert len(self._extremes) == n_groups

    def _combine(self, values: pa.Table) -> pa.Array:
        grouped = pa.TableGroupBy(values, [_GROUP], use_threads=False).aggregate([(_VALUE, self._function, _STRICT)])
        order = np.argsort(np.asarray(grouped[_GROUP]), kind="stable")  # in order already, but Arrow does not say so
        return grouped[f"{_VALUE}_{self._function}"].combine_chunks().take(pa.array(order))

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        self._extremes = self._extremes.filter(pa.array(kept))

    def finish(self, final: Mask) -> pa.Array:
        """The extremes of these groups, null where all values were."""
        return self._extremes.filter(pa.array(final))

    def save(self) -> pa.Table:
        """Everything as a table."""
        return pa.table({"total": self._extremes})

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        self._extremes = saved["total"].combine_chunks()
