"""An extra predicate on pairs of rows, evaluated column-wise. Null counts as false, as in SQL."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.model.predicate import Column, Expression, Literal, Negation, Operation
from punctuated.model.side import LEFT

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "+": pc.add,
    "-": pc.subtract,
    "*": pc.multiply,
    "/": pc.divide,
    "&": pc.and_kleene,
    "|": pc.or_kleene,
}


class WherePredicate:
    """Decides which pairs of a batch count as matches."""

    def __init__(self, expression: Expression) -> None:
        self._expression = expression

    def __call__(self, left: pa.Table, right: pa.Table) -> npt.NDArray[np.bool_]:
        """One truth value per pair; the tables are the two halves of the pairs."""
        truth = evaluate(self._expression, left, right)
        if not pa.types.is_boolean(truth.type):
            raise PredicateError(f"where={self._expression} gives {truth.type}, not true or false")
        if isinstance(truth, pa.Scalar):
            return np.full(len(left), truth.as_py() is True)
        return np.asarray(pc.fill_null(truth, False).to_numpy().astype(np.bool_))


def evaluate(expression: Expression, left: pa.Table, right: pa.Table) -> Any:
    """The values of an expression, one per pair of rows."""
    if isinstance(expression, Column):
        return (left if expression.side == LEFT else right)[expression.name]
    try:
        if isinstance(expression, Literal):
            return pa.scalar(expression.value)
        if isinstance(expression, Negation):
            return pc.invert(evaluate(expression.inner, left, right))
        assert isinstance(expression, Operation)
        first, second = evaluate(expression.first, left, right), evaluate(expression.second, left, right)
        return _OPERATORS[expression.operator](first, second)
    except (pa.ArrowException, OverflowError) as error:
        raise PredicateError(f"cannot evaluate {expression}: {error}; cast one of the columns") from None
