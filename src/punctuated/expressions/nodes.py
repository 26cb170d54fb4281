"""The nodes of expressions over the rows of a table or of the streams of a join.

The text of a node is part of saved definitions: it must stay what it is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from punctuated.errors import PredicateError
from punctuated.expressions.casts import named_type
from punctuated.expressions.functions import check_call
from punctuated.model.spec import Side

NOWHERE = -1  # the side of a stream that the binder has not looked up yet
HERE = -2  # the side of the table at hand, if there is only one


class Expression:
    """Something that has a value for each row. Python's operators make larger expressions of it.

    >>> Column(HERE, "bid") >= Column(HERE, "ask") + 1
    (bid >= (ask + 1))
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

        >>> ended = Column(HERE, "ended")
        >>> ended.is_null() | (ended > 5)
        (ended.is_null() | (ended > 5))
        """
        return NullTest(self)

    def is_not_null(self) -> "Expression":
        """Whether there is a value."""
        return ~NullTest(self)

    def cast(self, type: pa.DataType | str) -> "Cast":
        """The value as another type, of Arrow or by a name such as "double" or "bigint"; null where it does not fit.

        >>> Column(HERE, "price").cast("double")
        price.cast(double)
        """
        return Cast(self, named_type(type))

    def __bool__(self) -> bool:
        raise PredicateError("an expression has no truth value by itself; combine with & and |, and use parentheses")

    def columns(self) -> "Iterator[Column]":
        """The columns that the expression reads."""
        yield from ()

    def with_columns(self, change: "Callable[[Column], Expression]") -> "Expression":
        """The same expression over other columns."""
        return self


@dataclass(frozen=True, eq=False, repr=False)
class Column(Expression):
    """A column of the table at hand, or of one stream: by its side, or by its name until the binder has found it."""

    side: int
    name: str
    stream: str = ""

    def __repr__(self) -> str:
        if self.side == HERE:
            return self.name
        return f"{self.stream or Side(self.side).name.lower()}.{self.name}"

    def columns(self) -> "Iterator[Column]":
        yield self

    def with_columns(self, change: "Callable[[Column], Expression]") -> Expression:
        return change(self)


@dataclass(frozen=True, eq=False, repr=False)
class Literal(Expression):
    """A value; None is null."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, eq=False, repr=False)
class Operation(Expression):
    """Two expressions and the operator between them."""

    operator: str
    first: Expression
    second: Expression

    def __repr__(self) -> str:
        return f"({self.first} {self.operator} {self.second})"

    def columns(self) -> "Iterator[Column]":
        yield from self.first.columns()
        yield from self.second.columns()

    def with_columns(self, change: "Callable[[Column], Expression]") -> Expression:
        return replace(self, first=self.first.with_columns(change), second=self.second.with_columns(change))


@dataclass(frozen=True, eq=False, repr=False)
class Negation(Expression):
    """The opposite of a condition."""

    inner: Expression

    def __repr__(self) -> str:
        return f"~{self.inner}"

    def columns(self) -> "Iterator[Column]":
        yield from self.inner.columns()

    def with_columns(self, change: "Callable[[Column], Expression]") -> Expression:
        return replace(self, inner=self.inner.with_columns(change))


@dataclass(frozen=True, eq=False, repr=False)
class NullTest(Expression):
    """Whether another expression has no value."""

    inner: Expression

    def __repr__(self) -> str:
        return f"{self.inner}.is_null()"

    def columns(self) -> "Iterator[Column]":
        yield from self.inner.columns()

    def with_columns(self, change: "Callable[[Column], Expression]") -> Expression:
        return replace(self, inner=self.inner.with_columns(change))


@dataclass(frozen=True, eq=False, repr=False)
class FunctionCall(Expression):
    """A function of other expressions, one of `functions.FUNCTIONS`."""

    function: str
    arguments: tuple[Expression, ...]

    def __post_init__(self) -> None:
        check_call(self.function, len(self.arguments))

    def __repr__(self) -> str:
        return f"{self.function}({', '.join(map(repr, self.arguments))})"

    def columns(self) -> "Iterator[Column]":
        for each in self.arguments:
            yield from each.columns()

    def with_columns(self, change: "Callable[[Column], Expression]") -> Expression:
        return replace(self, arguments=tuple(each.with_columns(change) for each in self.arguments))


@dataclass(frozen=True, eq=False, repr=False)
class CaseWhen(Expression):
    """The value beside the first condition that is true; if none is, the value `otherwise`, or null."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None

    def __post_init__(self) -> None:
        if not self.branches:
            raise PredicateError("a case needs at least one condition and its value")

    def __repr__(self) -> str:
        branches = (f"({condition!r}, {value!r})" for condition, value in self.branches)
        return f"case({', '.join(branches)}, otherwise={self.otherwise!r})"

    def columns(self) -> "Iterator[Column]":
        for each in (*(each for branch in self.branches for each in branch), self.otherwise):
            if each is not None:
                yield from each.columns()

    def with_columns(self, change: "Callable[[Column], Expression]") -> Expression:
        branches = tuple((when.with_columns(change), then.with_columns(change)) for when, then in self.branches)
        return CaseWhen(branches, None if self.otherwise is None else self.otherwise.with_columns(change))


@dataclass(frozen=True, eq=False, repr=False)
class Cast(Expression):
    """The value of another expression as another type."""

    inner: Expression
    type: pa.DataType

    def __repr__(self) -> str:
        return f"{self.inner}.cast({self.type})"

    def columns(self) -> "Iterator[Column]":
        yield from self.inner.columns()

    def with_columns(self, change: "Callable[[Column], Expression]") -> Expression:
        return replace(self, inner=self.inner.with_columns(change))


def over(expression: Expression, columns: "Mapping[str, Expression]") -> Expression:
    """The same expression with other expressions in place of its columns.

    >>> over(Column(HERE, "cents") + 1, {"cents": Column(HERE, "price") * 100})
    ((price * 100) + 1)
    """
    return expression.with_columns(lambda column: columns[column.name])


def as_expression(value: Any) -> Expression:
    """An expression as it is; any other value as a literal, None as null."""
    return value if isinstance(value, Expression) else Literal(value)
