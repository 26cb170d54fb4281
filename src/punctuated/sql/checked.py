"""Expressions of queries, checked against the columns that they read; moments are read as the columns have them.

A text or a TIMESTAMP that is compared with a column of times becomes a moment of the column's kind: of one with a time
zone in UTC, unless the text names an offset. A text beside dates is a date, beside times of day one of these.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time

import pyarrow as pa

from punctuated.errors import PredicateError
from punctuated.join.expressions.evaluate import check_predicate, evaluate, null_row
from punctuated.model.predicate import Call, Case, Cast, Expression, Literal, Negation, NullTest, Operation
from punctuated.sql.errors import at
from punctuated.sql.place import Place

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def checked_value(value: Expression, schemas: Sequence[pa.Schema], place: Place) -> Expression:
    """An expression that can be evaluated over rows with these columns."""
    with at(place):
        fitted = _fitted(value, schemas)
        evaluate(fitted, [null_row(schema) for schema in schemas])
        return fitted


def checked_predicate(value: Expression, schemas: Sequence[pa.Schema], place: Place) -> Expression:
    """One that is true or false."""
    with at(place):
        fitted = _fitted(value, schemas)
        found = evaluate(fitted, [null_row(schema) for schema in schemas]).type
        if not (pa.types.is_boolean(found) or pa.types.is_null(found)):
            raise PredicateError(f"a predicate is needed here, and this gives {found}, not true or false")
        check_predicate(fitted, schemas)
        return fitted


def _fitted(value: Expression, schemas: Sequence[pa.Schema]) -> Expression:
    """The same, with moments in place of texts."""
    if isinstance(value, Operation):
        first, second = _fitted(value.first, schemas), _fitted(value.second, schemas)
        if value.operator in _COMPARISONS:
            first, second = _as_other(first, second, schemas), _as_other(second, first, schemas)
        return replace(value, first=first, second=second)
    if isinstance(value, Negation | NullTest | Cast):
        return replace(value, inner=_fitted(value.inner, schemas))
    if isinstance(value, Call):
        arguments = tuple(_fitted(each, schemas) for each in value.arguments)
        if value.function == "in":
            arguments = (arguments[0], *(_as_other(each, arguments[0], schemas) for each in arguments[1:]))
        return replace(value, arguments=arguments)
    if isinstance(value, Case):
        branches = tuple((_fitted(when, schemas), _fitted(then, schemas)) for when, then in value.branches)
        return Case(branches, None if value.otherwise is None else _fitted(value.otherwise, schemas))
    return value


def _as_other(value: Expression, other: Expression, schemas: Sequence[pa.Schema]) -> Expression:
    """A moment, if this is the text of one and the other side has such."""
    inner = value.inner if isinstance(value, Cast) and pa.types.is_timestamp(value.type) else value
    if not isinstance(inner, Literal) or not isinstance(inner.value, str):
        return value
    theirs = evaluate(other, [null_row(schema) for schema in schemas]).type
    if pa.types.is_timestamp(theirs):
        return Literal(_moment(inner.value, theirs))
    if inner is value and pa.types.is_date(theirs):
        return Literal(_read(inner.value, date.fromisoformat, "a date; write one such as '2024-05-01'"))
    if inner is value and pa.types.is_time(theirs):
        return Literal(_read(inner.value, time.fromisoformat, "a time of day; write one such as '12:00:00'"))
    return value


def _read(text: str, read: Callable[[str], date | time], wanted: str) -> date | time:
    try:
        return read(text.strip())
    except ValueError:
        raise PredicateError(f"{text!r} is not {wanted}") from None


def _moment(text: str, kind: pa.TimestampType) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise PredicateError(f"{text!r} is not a time; write one such as '2024-05-01 12:00:00'") from None
    if kind.tz is not None:
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    if found.tzinfo is not None:
        raise PredicateError(f"{text!r} names an offset, but the column has no time zone: leave the offset out")
    return found
