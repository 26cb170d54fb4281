"""Comparisons between one column of each side, as intervals of 64-bit codes (KN-05).

Of `left.a + 1 <= right.b` and the like, the tuples of one side are points and those of the other intervals: a pair
matches if they overlap. Codes keep the order of the values, so that kernels compare integers whatever the type. Both
ends of an interval grow with the value it is made of, so tuples in the order of their upper ends are in that of their
lower ends as well, and a tree finds all matches side by side.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.expressions.evaluate import by_halves, evaluate
from punctuated.expressions.nodes import Column, Expression, Literal, Operation
from punctuated.keys.codec import OrderedKeys
from punctuated.model.spec import Side

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
LOWEST, HIGHEST = int(np.iinfo(np.int64).min), int(np.iinfo(np.int64).max)
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


@dataclass(frozen=True)
class Bound:
    """`point <operator> expression of the other side`."""

    operator: str
    expression: Expression

    def __repr__(self) -> str:
        return f"{self.operator} {self.expression}"


@dataclass(frozen=True)
class RangePredicate:
    """A conjunction of bounds on one column of the side of points, by one column of the other side."""

    points: Side
    column: str
    bounds: tuple[Bound, ...]
    dtype: pa.DataType  # in which both are compared

    def intervals(self, side: int, rows: pa.Table) -> tuple[Ints, Ints, Mask]:
        """Lower and upper ends of the side's tuples, and which of them can match at all."""
        if side == self.points:
            codes, valid = _codes(rows[self.column], self.dtype)
            return codes, codes, valid
        low, high = np.full(len(rows), LOWEST), np.full(len(rows), HIGHEST)
        valid = np.ones(len(rows), np.bool_)
        for bound in self.bounds:
            codes, usable, beyond = self._ends(bound, rows)
            valid &= usable
            if bound.operator in (">", ">=", "=="):
                valid &= (beyond <= 0) & ((bound.operator != ">") | (codes < HIGHEST) | (beyond < 0))
                low = np.maximum(low, np.where(beyond < 0, LOWEST, codes + (bound.operator == ">")))
            if bound.operator in ("<", "<=", "=="):
                valid &= (beyond >= 0) & ((bound.operator != "<") | (codes > LOWEST) | (beyond > 0))
                high = np.minimum(high, np.where(beyond > 0, HIGHEST, codes - (bound.operator == "<")))
        return low, high, valid & (low <= high)

    def _ends(self, bound: Bound, rows: pa.Table) -> tuple[Ints, Mask, Ints]:
        """Codes of a bound, which of them there are, and the sign of those that lie beyond all codes."""

        def compute(tables: Sequence[pa.Table]) -> tuple[Ints, Mask, Ints]:
            return _codes_or_beyond(evaluate(bound.expression, tables), self.dtype)

        none = (np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros(1, np.int64))
        parts = by_halves((rows, rows), compute, none)  # whichever side it is
        codes, usable, beyond = (np.concatenate(each) for each in zip(*parts, strict=True))
        return codes, usable, beyond


def split_predicate(
    where: Expression | None, schemas: Sequence[pa.Schema]
) -> tuple[RangePredicate | None, Expression | None]:
    """The part of a predicate that a tree can serve, and the rest; either may be None."""
    terms = list(_conjunction(where)) if where is not None else []
    served: list[Operation] = []
    found: RangePredicate | None = None
    for term in terms:
        bound = _as_bound(term, schemas)
        if bound is None or (found is not None and not _together(found, bound)):
            continue
        found = bound if found is None else _joined(found, bound)
        served.append(term)
    rest = [term for term in terms if not any(term is each for each in served)]
    return found, _all_of(rest)


def _conjunction(where: Expression) -> Iterator[Any]:
    if isinstance(where, Operation) and where.operator == "&":
        yield from _conjunction(where.first)
        yield from _conjunction(where.second)
    else:
        yield where


def _all_of(terms: Sequence[Expression]) -> Expression | None:
    whole: Expression | None = None
    for term in terms:
        whole = term if whole is None else whole & term
    return whole


def _as_bound(term: Expression, schemas: Sequence[pa.Schema]) -> RangePredicate | None:
    """A comparison of a column with the other side's column, to which a literal may be added."""
    if not isinstance(term, Operation) or term.operator not in _MIRRORED:
        return None
    for point, operator, other in (
        (term.second, _MIRRORED[term.operator], term.first),
        (term.first, term.operator, term.second),
    ):
        shifted = _shifted_column(other)
        if isinstance(point, Column) and shifted is not None and shifted.side != point.side:
            dtype = _common_type(schemas[point.side].field(point.name).type, _type_of(other, shifted, schemas))
            if dtype is not None:
                return RangePredicate(Side(point.side), point.name, (Bound(operator, other),), dtype)
    return None


def _shifted_column(expression: Expression) -> Column | None:
    """The column of `column`, `column + literal`, `literal + column` or `column - literal`, which keep its order."""
    if isinstance(expression, Column):
        return expression
    if not isinstance(expression, Operation) or expression.operator not in ("+", "-"):
        return None
    first, second = expression.first, expression.second
    if isinstance(first, Column) and isinstance(second, Literal):
        return first
    return second if isinstance(second, Column) and isinstance(first, Literal) and expression.operator == "+" else None


def _type_of(expression: Expression, column: Column, schemas: Sequence[pa.Schema]) -> pa.DataType:
    empty = schemas[column.side].empty_table()
    return evaluate(expression, (empty, empty)).type


def _common_type(one: pa.DataType, two: pa.DataType) -> pa.DataType | None:
    """The type in which two columns compare as 64-bit codes just as Arrow compares them; None if there is none."""
    types = (one, two)
    if pa.uint64() in types:
        return None
    if all(pa.types.is_integer(dtype) for dtype in types):
        return pa.int64()
    if all(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) for dtype in types):
        return pa.float64()
    if one == two:
        return one if pa.types.is_temporal(one) and OrderedKeys.fits(one) else None
    return _common_moment(types)


def _common_moment(types: tuple[pa.DataType, pa.DataType]) -> pa.DataType | None:
    """Dates and timestamps of one time zone, in the finer unit."""
    if not all(pa.types.is_timestamp(dtype) or pa.types.is_date32(dtype) for dtype in types):
        return None
    stamps = [dtype for dtype in types if pa.types.is_timestamp(dtype)]
    if len({dtype.tz for dtype in stamps} | ({None} if len(stamps) < 2 else set())) > 1:
        return None
    return pa.timestamp(max((dtype.unit for dtype in stamps), key=("s", "ms", "us", "ns").index), stamps[0].tz)


def _codes_or_beyond(values: Any, dtype: pa.DataType) -> tuple[Ints, Mask, Ints]:
    """Codes, and the sign of exact numbers that have none, since they are too large."""
    if dtype != pa.int64() or not pa.types.is_decimal(values.type):
        codes, valid = _codes(values, dtype)
        return codes, valid, np.zeros(codes.size, np.int64)
    over, under = pc.greater(values, pa.scalar(HIGHEST)), pc.less(values, pa.scalar(LOWEST))
    inside = pc.if_else(pc.or_(over, under), pa.scalar(0, values.type), values)
    codes, valid = _codes(inside, dtype)
    signs = [np.asarray(pc.fill_null(mask, False)).astype(np.int64) for mask in (over, under)]
    return codes, valid, signs[0] - signs[1]


def _codes(values: Any, dtype: pa.DataType) -> tuple[Ints, Mask]:
    """Codes that compare as the values do; nulls and NaN match nothing."""
    column = values.cast(dtype, safe=False)
    codes, valid = OrderedKeys(dtype).encode([column])
    if pa.types.is_floating(dtype):
        valid = valid & ~pc.fill_null(pc.is_nan(column), True).to_numpy(zero_copy_only=False)
    return codes, valid


def _together(found: RangePredicate, bound: RangePredicate) -> bool:
    columns = [_shifted_column(each.bounds[0].expression) for each in (found, bound)]
    same = columns[0] is not None and columns[1] is not None and columns[0].name == columns[1].name
    return same and (found.points, found.column, found.dtype) == (bound.points, bound.column, bound.dtype)


def _joined(found: RangePredicate, bound: RangePredicate) -> RangePredicate:
    return RangePredicate(found.points, found.column, (*found.bounds, *bound.bounds), found.dtype)
