"""The sum, the smallest or the largest value of each group, where it takes no more than one number to know it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.output.aggregates.accumulator import Ints, Mask, known_values, lengthen

# NaN is neither the smallest nor the largest value, unless there is no other one.
_UFUNCS: dict[str, Any] = {"sum": np.add, "min": np.fmin, "max": np.fmax}
_STRICT = pc.ScalarAggregateOptions(min_count=1)
_GROUP, _VALUE = "group", "value"


class NumberTotals:
    """Totals of numbers that fit a machine word, in NumPy; sums, of integers only, have 64 bits and wrap around."""

    def __init__(self, column: str, function: str, dtype: pa.DataType) -> None:
        self._column, self._combine = column, _UFUNCS[function]
        wide = pa.uint64() if pa.types.is_unsigned_integer(dtype) else pa.int64()
        self._type = wide if function == "sum" else dtype
        numpy_type = np.dtype(self._type.to_pandas_dtype())
        self._nothing = _neutral(function, numpy_type)
        self._totals = np.zeros(0, numpy_type)
        self._known = np.zeros(0, np.bool_)

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Combine these values with those before."""
        values, groups = known_values(rows[self._column], groups)
        self._totals = lengthen(self._totals, n_groups, self._nothing)
        self._known = lengthen(self._known, n_groups)
        self._combine.at(self._totals, groups, values.astype(self._totals.dtype, copy=False))
        self._known[groups] = True

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        self._totals, self._known = self._totals[kept], self._known[kept]

    def finish(self, final: Mask) -> pa.Array:
        """The totals of these groups, null where all values were."""
        return pa.array(self._totals[final], self._type, mask=~self._known[final])

    def divide(self, final: Mask, counts: Ints) -> pa.Array:
        """The totals of these groups over how many values they have."""
        return pc.divide(self.finish(final).cast(pa.float64(), safe=False), pa.array(counts))

    def save(self) -> pa.Table:
        """Everything as a table."""
        return pa.table({"total": self._totals, "known": self._known})

    def load(self, saved: pa.Table) -> None:
        """Go on from what `save` gave."""
        self._totals, self._known = (np.array(saved[name]) for name in ("total", "known"))


def _neutral(function: str, dtype: np.dtype[Any]) -> Any:
    """What changes nothing when it is combined with a value."""
    if function == "sum":
        return 0
    if dtype.kind == "f":
        return np.nan
    return np.iinfo(dtype).max if function == "min" else np.iinfo(dtype).min


class ArrowTotals:
    """Totals of decimals, text, times and whatever else Arrow can add or compare."""

    def __init__(self, column: str, function: str, dtype: pa.DataType) -> None:
        self._column, self._function = column, function
        none = pa.table({_GROUP: pa.array([], pa.int64()), _VALUE: pa.array([], dtype)})
        self._totals = self._combine(none)

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Combine these values with those before; each of the new groups has one."""
        fresh = rows[self._column].cast(self._totals.type)
        numbers = np.concatenate([np.arange(len(self._totals)), groups])
        values = pa.chunked_array([self._totals, *fresh.chunks], self._totals.type)
        self._totals = self._combine(pa.table({_GROUP: numbers, _VALUE: values})).cast(self._totals.type)
        assert len(self._totals) == n_groups

    def _combine(self, values: pa.Table) -> pa.Array:
        grouped = pa.TableGroupBy(values, [_GROUP], use_threads=False).aggregate([(_VALUE, self._function, _STRICT)])
        order = np.argsort(np.asarray(grouped[_GROUP]), kind="stable")  # in order already, but Arrow does not say so
        return grouped[f"{_VALUE}_{self._function}"].combine_chunks().take(pa.array(order))

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        self._totals = self._totals.filter(pa.array(kept))

    def finish(self, final: Mask) -> pa.Array:
        """The totals of these groups, null where all values were."""
        return self._totals.filter(pa.array(final))

    def divide(self, final: Mask, counts: Ints) -> pa.Array:
        """The totals of these groups over how many values they have."""
        return pc.divide(self.finish(final).cast(pa.float64(), safe=False), pa.array(counts))

    def save(self) -> pa.Table:
        """Everything as a table."""
        return pa.table({"total": self._totals})

    def load(self, saved: pa.Table) -> None:
        """Go on from what `save` gave."""
        self._totals = saved["total"].combine_chunks()
