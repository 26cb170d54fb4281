"""An extra predicate on results, evaluated column-wise. Null counts as false, as in SQL.

Numbers are exact: where a sum or a product leaves its type, it is computed in a wider one. What still cannot be
computed, or divides by zero, is null, for that result alone: what is true of one does not depend on those beside it.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.model.predicate import Column, Expression, Literal, Negation, NullTest, Operation

T = TypeVar("T")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
    "/": lambda first, second: _divide(first, second),
    "&": pc.and_kleene,
    "|": pc.or_kleene,
}
_ERRORS = (pa.ArrowException, TypeError, OverflowError)


class WherePredicate:
    """Decides which results of a batch count."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    def __call__(self, *tables: pa.Table) -> npt.NDArray[np.bool_]:
        """One truth value per result; the tables have its rows, one of each stream."""
        return np.concatenate(by_halves(tables, self._truth, np.zeros(1, np.bool_)))

    def check(self, *tables: pa.Table) -> None:
        """Raise if it cannot be evaluated for tables like these."""
        self._truth(tables)

    def _truth(self, tables: Sequence[pa.Table]) -> npt.NDArray[np.bool_]:
        truth = evaluate(self._expression, tables)
        if not pa.types.is_boolean(truth.type):
            raise PredicateError(f"where={self._expression} gives {truth.type}, not true or false")
        if isinstance(truth, pa.Scalar):
            return np.full(len(tables[0]), truth.as_py() is True)
        return np.asarray(pc.fill_null(truth, False).to_numpy().astype(np.bool_))


def by_halves(tables: Sequence[pa.Table], compute: Callable[[Sequence[pa.Table]], T], otherwise: T) -> list[T]:
    """What is computed of all rows; if it fails, of ever smaller parts, and `otherwise` of a row that fails alone."""
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


def evaluate(expression: Expression, tables: Sequence[pa.Table]) -> Any:
    """The values of an expression, one per result; its columns say in which table they are."""
    if isinstance(expression, Column):
        return tables[expression.side][expression.name]
    try:
        return _computed(expression, tables)
    except _ERRORS as error:
        raise PredicateError(f"cannot evaluate {expression}: {error}; cast one of the columns") from None


def _computed(expression: Expression, tables: Sequence[pa.Table]) -> Any:
    if isinstance(expression, Literal):
        return pa.scalar(expression.value)
    if isinstance(expression, Negation):
        return pc.invert(evaluate(expression.inner, tables))
    if isinstance(expression, NullTest):
        return pc.is_null(evaluate(expression.inner, tables))
    assert isinstance(expression, Operation)
    first, second = evaluate(expression.first, tables), evaluate(expression.second, tables)
    operate = _OPERATORS[expression.operator]
    try:
        return operate(first, second)
    except pa.ArrowInvalid:
        if not (_is_exact(first.type) and _is_exact(second.type)):
            raise
        return operate(_widened(first), _widened(second))


def _is_exact(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_integer(dtype) or pa.types.is_decimal(dtype))


def _widened(values: Any) -> Any:
    """Integers and decimals as decimals of 256 bits."""
    dtype = values.type
    digits, scale = (20, 0) if pa.types.is_integer(dtype) else (dtype.precision, dtype.scale)
    return values.cast(pa.decimal256(digits, scale))


def _divide(first: Any, second: Any) -> Any:
    if not _is_exact(second.type):
        return pc.divide(first, second)  # of floating-point numbers: infinite or NaN
    known = pc.if_else(pc.equal(second, pa.scalar(0, pa.int8())), pa.scalar(None, second.type), second)
    return (pc.divide_checked if _is_exact(first.type) else pc.divide)(first, known)
