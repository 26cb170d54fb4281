"""Extra predicates over the rows of a result: expressions built from columns, literals and operators."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from punctuated.errors import PredicateError
from punctuated.model.given import column_names, text
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.window import parse_duration

NOWHERE = -1  # the side of a stream whose place is not known yet


class Expression:
    """Something that has a value for each result. Python's operators make larger expressions of it.

    >>> left("bid") >= right("ask") + 1
    (left.bid >= (right.ask + 1))
    """

    __hash__ = None  # type: ignore[assignment]  # `==` makes an expression

    def _with(self, operator: str, other: Any) -> "Operation":
        return Operation(operator, self, self._operand(operator, other))

    def _after(self, operator: str, other: Any) -> "Operation":
        return Operation(operator, self._operand(operator, other), self)

    def _operand(self, operator: str, other: Any) -> "Expression":
        if other is None:
            raise PredicateError(
                f"{self} {operator} None is null, and so matches nothing: write .is_null() or .is_not_null()"
            )
        return other if isinstance(other, Expression) else Literal(other)

    def __eq__(self, other: object) -> "Operation":  # type: ignore[override]
        return self._with("==", other)

    def __ne__(self, other: object) -> "Operation":  # type: ignore[override]
        return self._with("!=", other)

    def __lt__(self, other: Any) -> "Operation":
        return self._with("<", other)

    def __le__(self, other: Any) -> "Operation":
        return self._with("<=", other)

    def __gt__(self, other: Any) -> "Operation":
        return self._with(">", other)

    def __ge__(self, other: Any) -> "Operation":
        return self._with(">=", other)

    def __add__(self, other: Any) -> "Operation":
        return self._with("+", other)

    def __radd__(self, other: Any) -> "Operation":
        return self._after("+", other)

    def __sub__(self, other: Any) -> "Operation":
        return self._with("-", other)

    def __rsub__(self, other: Any) -> "Operation":
        return self._after("-", other)

    def __mul__(self, other: Any) -> "Operation":
        return self._with("*", other)

    def __rmul__(self, other: Any) -> "Operation":
        return self._after("*", other)

    def __neg__(self) -> "Operation":
        return self._after("-", 0)

    def __truediv__(self, other: Any) -> "Operation":
        return self._with("/", other)

    def __rtruediv__(self, other: Any) -> "Operation":
        return self._after("/", other)

    def __and__(self, other: Any) -> "Operation":
        return self._with("&", other)

    def __or__(self, other: Any) -> "Operation":
        return self._with("|", other)

    def __invert__(self) -> "Negation":
        return Negation(self)

    def is_null(self) -> "Expression":
        """Whether there is no value.

        >>> left("ended").is_null() | (left("ended") > right("at"))
        (left.ended.is_null() | (left.ended > right.at))
        """
        return NullTest(self)

    def is_not_null(self) -> "Expression":
        """Whether there is a value."""
        return ~NullTest(self)

    def __bool__(self) -> bool:
        raise PredicateError("an expression has no truth value by itself; combine with & and |, and use parentheses")

    def columns(self) -> "Iterator[Column]":
        """The columns that the expression reads."""
        yield from ()

    def with_columns(self, change: "Callable[[Column], Column]") -> "Expression":
        """The same expression over other columns."""
        return self


@dataclass(frozen=True, eq=False, repr=False)
class Column(Expression):
    """A column of one stream, which goes by its side, or by its name until the binder knows its place."""

    side: int
    name: str
    stream: str = ""

    def __repr__(self) -> str:
        return f"{self.stream or Side(self.side).name.lower()}.{self.name}"

    def columns(self) -> "Iterator[Column]":
        yield self

    def with_columns(self, change: "Callable[[Column], Column]") -> Expression:
        return change(self)


@dataclass(frozen=True, eq=False, repr=False)
class Literal(Expression):
    """A value."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False, repr=False)
class Operation(Expression):
    """Two expressions and what is between them."""

    operator: str
    first: Expression
    second: Expression

    def __repr__(self) -> str:
        return f"({self.first} {self.operator} {self.second})"

    def columns(self) -> "Iterator[Column]":
        yield from self.first.columns()
        yield from self.second.columns()

    def with_columns(self, change: "Callable[[Column], Column]") -> Expression:
        return replace(self, first=self.first.with_columns(change), second=self.second.with_columns(change))


@dataclass(frozen=True, eq=False, repr=False)
class Negation(Expression):
    """Not."""

    inner: Expression

    def __repr__(self) -> str:
        return f"~{self.inner}"

    def columns(self) -> "Iterator[Column]":
        yield from self.inner.columns()

    def with_columns(self, change: "Callable[[Column], Column]") -> Expression:
        return replace(self, inner=self.inner.with_columns(change))


@dataclass(frozen=True, eq=False, repr=False)
class NullTest(Expression):
    """Whether another expression has no value."""

    inner: Expression

    def __repr__(self) -> str:
        return f"{self.inner}.is_null()"

    def columns(self) -> "Iterator[Column]":
        yield from self.inner.columns()

    def with_columns(self, change: "Callable[[Column], Column]") -> Expression:
        return replace(self, inner=self.inner.with_columns(change))


def band(column: str | tuple[str, str], low: Any, high: Any) -> Expression:
    """Whether the right value lies within `low` and `high` of the left one, both included.

    Args:
        column: The column of both sides, or a left and a right one.
        low: A number, or for columns of time a duration such as "-5 minutes" or a `timedelta`.
        high: Likewise.

    Example:
        >>> band("price", -5, +5)
        (((left.price + -5) <= right.price) & ((left.price + 5) >= right.price))
    """
    names = column_names(column, "band", PredicateError)
    if not 1 <= len(names) <= 2:
        raise PredicateError(f"band({column!r}, …): give the column of both sides, or a left and a right one")
    ours, theirs = names[0], names[-1]
    distances = [_distance(each) for each in (low, high)]
    try:
        is_empty = bool(distances[0] > distances[1])
    except TypeError:
        raise PredicateError(f"band({column!r}, {low!r}, {high!r}): give two numbers or two durations") from None
    if is_empty:
        raise PredicateError(f"band({column!r}, {low}, {high}) is empty: give the smaller distance first")
    lowest, highest = (left(ours) + distance for distance in distances)
    both: Expression = (lowest <= right(theirs)) & (highest >= right(theirs))
    return both


def _distance(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    sign, text = (-1, given[1:]) if given.startswith("-") else (1, given.removeprefix("+"))
    return timedelta(microseconds=sign * parse_duration(text))


def left(name: str) -> Column:
    """A column of the left stream, for `where=`."""
    return Column(LEFT, text(name, "left", PredicateError))


def right(name: str) -> Column:
    """A column of the right stream, for `where=`."""
    return Column(RIGHT, text(name, "right", PredicateError))


def column(stream: str, name: str) -> Column:
    """A column of the stream of this name, for `where=`.

    >>> column("gate", "speed") < column("bridge", "speed")
    (gate.speed < bridge.speed)
    """
    stream = text(stream, "column", PredicateError)
    if not stream:
        raise PredicateError("column('', …): give the name of a stream, as in pt.stream(…, name=…)")
    return Column(NOWHERE, text(name, "column", PredicateError), stream)
