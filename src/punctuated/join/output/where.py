"""An extra predicate on pairs of rows, evaluated column-wise. Null counts as false, as in SQL.

Numbers are exact: where a sum or a product leaves its type, it is computed in a wider one. What still cannot be
computed, or divides by zero, is null, for that pair alone: what is true of a pair does not depend on those beside it.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.model.predicate import Column, Expression, Literal, Negation, NullTest, Operation
from punctuated.model.side import LEFT

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
    """Decides which pairs of a batch count as matches."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    def __call__(self, left: pa.Table, right: pa.Table) -> npt.NDArray[np.bool_]:
        """One truth value per pair; the tables are the two halves of the pairs."""
        return np.concatenate(by_halves(left, right, self._truth, np.zeros(1, np.bool_)))

    def check(self, left: pa.Table, right: pa.Table) -> None:
        """Raise if it cannot be evaluated for tables like these."""
        self._truth(left, right)

    def _truth(self, left: pa.Table, right: pa.Table) -> npt.NDArray[np.bool_]:
        truth = evaluate(self._expression, left, right)
        if not pa.types.is_boolean(truth.type):
            raise PredicateError(f"where={self._expression} gives {truth.type}, not true or false")
        if isinstance(truth, pa.Scalar):
            return np.full(len(left), truth.as_py() is True)
        return np.asarray(pc.fill_null(truth, False).to_numpy().astype(np.bool_))


def by_halves(left: pa.Table, right: pa.Table, compute: Callable[[pa.Table, pa.Table], T], otherwise: T) -> list[T]:
    """What is computed of all pairs; if it fails, of ever smaller parts, and `otherwise` of a pair that fails alone."""
    try:
        return [compute(left, right)]
    except PredicateError:
        if not len(left):
            raise
        if len(left) == 1:
            return [otherwise]
    half = len(left) // 2
    halves = (slice(None, half), slice(half, None))
    return [part for half in halves for part in by_halves(left[half], right[half], compute, otherwise)]


def evaluate(expression: Expression, left: pa.Table, right: pa.Table) -> Any:
    """The values of an expression, one per pair of rows."""
    if isinstance(expression, Column):
        return (left if expression.side == LEFT else right)[expression.name]
    try:
        return _computed(expression, left, right)
    except _ERRORS as error:
        raise PredicateError(f"cannot evaluate {expression}: {error}; cast one of the columns") from None


def _computed(expression: Expression, left: pa.Table, right: pa.Table) -> Any:
    if isinstance(expression, Literal):
        return pa.scalar(expression.value)
    if isinstance(expression, Negation):
        return pc.invert(evaluate(expression.inner, left, right))
    if isinstance(expression, NullTest):
        return pc.is_null(evaluate(expression.inner, left, right))
    assert isinstance(expression, Operation)
    first, second = evaluate(expression.first, left, right), evaluate(expression.second, left, right)
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
