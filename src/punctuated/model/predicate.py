"""Extra predicates over both rows of a pair: expressions built from columns, literals and operators."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from punctuated.errors import PredicateError
from punctuated.model.side import LEFT, RIGHT, Side


class Expression:
    """Something that has a value for each pair of rows. Python's operators make larger expressions of it.

    >>> left("bid") >= right("ask") + 1
    (left.bid >= (right.ask + 1))
    """

    __hash__ = None  # type: ignore[assignment]  # `==` makes an expression

    def _with(self, operator: str, other: Any) -> "Operation":
        return Operation(operator, self, other if isinstance(other, Expression) else Literal(other))

    def _after(self, operator: str, other: Any) -> "Operation":
        return Operation(operator, Literal(other), self)

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

    def __truediv__(self, other: Any) -> "Operation":
        return self._with("/", other)

    def __and__(self, other: Any) -> "Operation":
        return self._with("&", other)

    def __or__(self, other: Any) -> "Operation":
        return self._with("|", other)

    def __invert__(self) -> "Negation":
        return Negation(self)

    def __bool__(self) -> bool:
        raise PredicateError("an expression has no truth value by itself; combine with & and |, and use parentheses")

    def columns(self) -> "Iterator[Column]":
        """The columns that the expression reads."""
        yield from ()


@dataclass(frozen=True, eq=False, repr=False)
class Column(Expression):
    """A column of one side."""

    side: Side
    name: str

    def __repr__(self) -> str:
        return f"{self.side.name.lower()}.{self.name}"

    def columns(self) -> "Iterator[Column]":
        yield self


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


@dataclass(frozen=True, eq=False, repr=False)
class Negation(Expression):
    """Not."""

    inner: Expression

    def __repr__(self) -> str:
        return f"~{self.inner}"

    def columns(self) -> "Iterator[Column]":
        yield from self.inner.columns()


def left(name: str) -> Column:
    """A column of the left stream, for `where=`."""
    return Column(LEFT, name)


def right(name: str) -> Column:
    """A column of the right stream, for `where=`."""
    return Column(RIGHT, name)
