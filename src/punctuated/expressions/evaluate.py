"""The values of expressions, computed column by column. Nulls are those of SQL.

Numbers are exact: where a sum or a product leaves its type, it is computed in a wider one. What still cannot be
computed, or divides by zero, is null, for that row alone: no row depends on those beside it.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.expressions.casts import cast
from punctuated.expressions.exact import beside, operate, truth
from punctuated.expressions.functions import compute_call
from punctuated.expressions.nodes import (
    HERE,
    CaseWhen,
    Cast,
    Column,
    Expression,
    FunctionCall,
    Literal,
    Negation,
    NullTest,
    Operation,
)

T = TypeVar("T")
Mask = npt.NDArray[np.bool_]
_ERRORS = (pa.ArrowException, TypeError, OverflowError)


def evaluate(expression: Expression, tables: Sequence[pa.Table]) -> Any:
    """The values of an expression, one per row, or a scalar for all; its columns say in which table they are."""
    if isinstance(expression, Column):
        return tables[0 if expression.side == HERE else expression.side][expression.name]
    try:
        return _computed(expression, tables)
    except _ERRORS as error:
        raise PredicateError(f"cannot evaluate {expression}: {error}; cast one of the columns") from None


def _computed(expression: Expression, tables: Sequence[pa.Table]) -> Any:
    if isinstance(expression, Literal):
        return pa.scalar(expression.value)
    if isinstance(expression, Negation):
        return pc.invert(truth(evaluate(expression.inner, tables)))
    if isinstance(expression, NullTest):
        return pc.is_null(evaluate(expression.inner, tables))
    if isinstance(expression, FunctionCall):
        return compute_call(expression.function, [evaluate(each, tables) for each in expression.arguments])
    if isinstance(expression, Cast):
        return cast(evaluate(expression.inner, tables), expression.type)
    if isinstance(expression, CaseWhen):
        return _chosen(expression, tables)
    assert isinstance(expression, Operation)
    return operate(expression.operator, evaluate(expression.first, tables), evaluate(expression.second, tables))


def _chosen(case: CaseWhen, tables: Sequence[pa.Table]) -> Any:
    values = pa.scalar(None) if case.otherwise is None else evaluate(case.otherwise, tables)
    for condition, value in reversed(case.branches):
        holds = pc.fill_null(truth(evaluate(condition, tables)), False)
        values = pc.if_else(holds, *beside(evaluate(value, tables), values))
    return values


def by_halves(tables: Sequence[pa.Table], compute: Callable[[Sequence[pa.Table]], T], otherwise: T) -> list[T]:
    """The results over all rows, or over ever smaller parts where that fails; `otherwise` for one row that fails."""
    try:
        return [compute(tables)]
    except PredicateError:
        if not len(tables[0]):
            raise
        if len(tables[0]) == 1:
            return [otherwise]
    half = len(tables[0]) // 2
    halves = ([table[:half] for table in tables], [table[half:] for table in tables])
    return [part for half_of_all in halves for part in by_halves(half_of_all, compute, otherwise)]


def result_type(expression: Expression, schema: pa.Schema) -> pa.DataType:
    """The type of the values for a table with these columns; raises if there can be none.

    It is found with one row of nulls: without any row, Arrow does not even look at some types.
    """
    return evaluate(expression, [null_row(schema)]).type


def null_row(schema: pa.Schema) -> pa.Table:
    """A table with one row of nulls."""
    return pa.table([pa.nulls(1, dtype) for dtype in schema.types], names=schema.names)


def column_of(expression: Expression, table: pa.Table, dtype: pa.DataType) -> pa.ChunkedArray:
    """The values as a column of a type, as `result_type` gives it; null where a value does not fit it."""
    if isinstance(expression, Column):
        return table[expression.name]

    def compute(tables: Sequence[pa.Table]) -> pa.ChunkedArray:
        return _as_column(evaluate(expression, tables), len(tables[0]), dtype)

    parts = by_halves([table], compute, pa.chunked_array([pa.nulls(1, dtype)]))
    return parts[0] if len(parts) == 1 else pa.chunked_array([chunk for part in parts for chunk in part.chunks], dtype)


def _as_column(values: Any, n_rows: int, dtype: pa.DataType) -> pa.ChunkedArray:
    try:
        if isinstance(values, pa.Scalar):
            return pa.chunked_array([pa.repeat(values.cast(dtype), n_rows)], dtype)
        whole = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
        return whole if whole.type == dtype else whole.cast(dtype)
    except _ERRORS as error:
        raise PredicateError(f"a value does not fit {dtype}: {error}") from None


def which_hold(expression: Expression, tables: Sequence[pa.Table]) -> Mask:
    """Which rows a predicate is true of; null counts as false."""

    def compute(tables: Sequence[pa.Table]) -> Mask:
        return _mask(expression, tables)

    return np.concatenate(by_halves(tables, compute, np.zeros(1, np.bool_)))


def check_predicate(expression: Expression, schemas: Sequence[pa.Schema]) -> None:
    """Raise if a predicate cannot be evaluated for tables with these columns."""
    _mask(expression, [null_row(schema) for schema in schemas])


def _mask(expression: Expression, tables: Sequence[pa.Table]) -> Mask:
    found = truth(evaluate(expression, tables))
    if not pa.types.is_boolean(found.type):
        raise PredicateError(f"where={expression} gives {found.type}, not true or false")
    if isinstance(found, pa.Scalar):
        return np.full(len(tables[0]), found.as_py() is True)
    return np.asarray(pc.fill_null(found, False).to_numpy().astype(np.bool_))


Where = Callable[..., Mask]  # which results count: takes the rows of each stream, a table for each


def where_predicate(expression: Expression) -> Where:
    """The function that says of which results an extra predicate is true; null counts as false, as in SQL."""
    return lambda *tables: which_hold(expression, tables)
