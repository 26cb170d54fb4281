"""How each aggregate of the table in `model.aggregate` is computed, from accumulators that several may share.

An accumulator is known by its kind and its column: a sum, a mean and a variance of one column share its sum.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from punctuated.aggregates.accumulator import Accumulator, Counts, Ends, Ints, Mask
from punctuated.aggregates.extremes import ArrowExtremes, NumberExtremes
from punctuated.aggregates.sums import ExactSums, WholeSums
from punctuated.aggregates.variances import FloatSquares, WholeSquares, deviations, variances
from punctuated.model.aggregate import Aggregate


class Strategy(NamedTuple):
    """The kinds of accumulators that an aggregate needs, and its values from them: `finish(final, column, *these)`."""

    kinds: tuple[str, ...]
    finish: Callable[..., Any]


_MOMENTS = "sum", "squares", "count"
STRATEGIES: dict[str, Strategy] = {
    "count": Strategy(("count",), lambda final, _, counts: counts.finish(final)),
    "sum": Strategy(("sum",), lambda final, _, sums: sums.finish(final)),
    "min": Strategy(("min",), lambda final, _, extremes: extremes.finish(final)),
    "max": Strategy(("max",), lambda final, _, extremes: extremes.finish(final)),
    "mean": Strategy(("sum", "count"), lambda final, _, sums, counts: sums.divide(final, counts.finish(final))),
    "variance": Strategy(
        _MOMENTS, lambda final, _, sums, squares, counts: variances(sums, squares, counts.finish(final), final)
    ),
    "stddev": Strategy(
        _MOMENTS, lambda final, _, sums, squares, counts: deviations(sums, squares, counts.finish(final), final)
    ),
    "first": Strategy(("ends",), lambda final, column, ends: ends.finish_first(final, column)),
    "last": Strategy(("ends",), lambda final, column, ends: ends.finish_last(final, column)),
}


class Aggregates:
    """All aggregates of a grouping, over groups numbered from 0."""

    def __init__(self, schema: pa.Schema, aggregates: Mapping[str, Aggregate]) -> None:
        self._aggregates = dict(aggregates)
        self._accumulators: dict[str, Accumulator] = {}
        for each in aggregates.values():
            for kind in STRATEGIES[each.function].kinds:
                self._accumulators.setdefault(_name(kind, each.column), _new_accumulator(kind, each.column, schema))

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Add results, each with the number of its group; there are `n_groups` now."""
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
        kinds, finish = STRATEGIES[aggregate.function]
        return finish(final, aggregate.column, *(self._accumulators[_name(kind, aggregate.column)] for kind in kinds))

    def save(self) -> dict[str, pa.Table]:
        """Everything as tables by name."""
        return {name: accumulator.save() for name, accumulator in self._accumulators.items()}

    def load(self, saved: Mapping[str, pa.Table]) -> None:
        """Continue from what `save` gave."""
        for name, accumulator in self._accumulators.items():
            accumulator.load(saved[name])


def _name(kind: str, column: str | None) -> str:
    """The name of an accumulator in checkpoints; first and last rows are kept whole, so all columns share them."""
    return kind if column is None or kind == "ends" else f"{kind} of {column}"


def _new_accumulator(kind: str, column: str | None, schema: pa.Schema) -> Accumulator:
    if kind == "ends":
        return Ends(schema)
    if kind == "count" or column is None:
        return Counts(column)
    dtype = schema.field(column).type
    is_float, is_integer = pa.types.is_floating(dtype), pa.types.is_integer(dtype)
    if kind == "sum":
        return ExactSums(column) if is_float else WholeSums(column, dtype)
    if kind == "squares":
        return FloatSquares(column) if is_float else WholeSquares(column, dtype)
    assert kind in ("min", "max")
    is_number = is_float or is_integer
    return NumberExtremes(column, kind, dtype) if is_number else ArrowExtremes(column, kind, dtype)
