"""How each aggregate is computed: to add one, add an entry here.

An accumulator is known by its kind and its column, so a sum and a mean of one column share it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from punctuated.aggregates.accumulator import Accumulator, Ints, Mask
from punctuated.aggregates.extremes import ArrowExtremes, NumberExtremes
from punctuated.aggregates.rows import Counts, Ends
from punctuated.aggregates.sums import ExactSums, WholeSums
from punctuated.model.aggregate import Aggregate, Function


class Strategy(NamedTuple):
    """The kinds of accumulators that an aggregate needs, and its values from them: `finish(final, column, *these)`."""

    kinds: tuple[str, ...]
    finish: Callable[..., Any]


_STRATEGIES: dict[Function, Strategy] = {
    "count": Strategy(("count",), lambda final, _, counts: counts.finish(final)),
    "sum": Strategy(("sum",), lambda final, _, sums: sums.finish(final)),
    "min": Strategy(("min",), lambda final, _, extremes: extremes.finish(final)),
    "max": Strategy(("max",), lambda final, _, extremes: extremes.finish(final)),
    "mean": Strategy(("sum", "count"), lambda final, _, sums, counts: sums.divide(final, counts.finish(final))),
    "first": Strategy(("ends",), lambda final, column, ends: ends.finish_first(final, column)),
    "last": Strategy(("ends",), lambda final, column, ends: ends.finish_last(final, column)),
}


class Aggregates:
    """All aggregates of a grouping, over groups numbered from 0."""

    def __init__(self, schema: pa.Schema, aggregates: Mapping[str, Aggregate]) -> None:
        self._aggregates = dict(aggregates)
        self._accumulators: dict[str, Accumulator] = {}
        for each in aggregates.values():
            for kind in _STRATEGIES[each.function].kinds:
                self._accumulators.setdefault(_name(kind, each.column), _new_accumulator(kind, each.column, schema))

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Take in results, each with the number of its group; there are `n_groups` now."""
        for accumulator in self._accumulators.values():
            accumulator.add(groups, n_groups, rows)

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        for accumulator in self._accumulators.values():
            accumulator.keep(kept)

    def finish(self, final: Mask) -> dict[str, Any]:
        """The columns of these groups, by the names of the aggregates."""
        return {name: self._finish_one(final, each) for name, each in self._aggregates.items()}

    def _finish_one(self, final: Mask, aggregate: Aggregate) -> Any:
        kinds, finish = _STRATEGIES[aggregate.function]
        return finish(final, aggregate.column, *(self._accumulators[_name(kind, aggregate.column)] for kind in kinds))

    def save(self) -> dict[str, pa.Table]:
        """Everything as tables by name."""
        return {name: accumulator.save() for name, accumulator in self._accumulators.items()}

    def load(self, saved: Mapping[str, pa.Table]) -> None:
        """Continue from what `save` gave."""
        for name, accumulator in self._accumulators.items():
            accumulator.load(saved[name])


def _name(kind: str, column: str | None) -> str:
    """First and last rows are kept whole, so they are the same for all columns."""
    return kind if column is None or kind == "ends" else f"{kind} of {column}"


def _new_accumulator(kind: str, column: str | None, schema: pa.Schema) -> Accumulator:
    if kind == "ends":
        return Ends(schema)
    if kind == "count" or column is None:
        return Counts(column)
    dtype = schema.field(column).type
    return _new_sum(column, dtype) if kind == "sum" else _new_extreme(kind, column, dtype)


def _new_sum(column: str, dtype: pa.DataType) -> Accumulator:
    return ExactSums(column) if pa.types.is_floating(dtype) else WholeSums(column, dtype)


def _new_extreme(kind: str, column: str, dtype: pa.DataType) -> Accumulator:
    is_number = pa.types.is_floating(dtype) or pa.types.is_integer(dtype)
    return NumberExtremes(column, kind, dtype) if is_number else ArrowExtremes(column, kind, dtype)
