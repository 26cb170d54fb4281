"""How users write expressions: columns by name, functions, cases, and bands around a value."""

from datetime import timedelta
from typing import Any

from punctuated.errors import PredicateError
from punctuated.expressions.nodes import HERE, NOWHERE, CaseWhen, Column, Expression, FunctionCall, as_expression
from punctuated.model.arguments import column_names, text
from punctuated.model.spec import LEFT, RIGHT
from punctuated.model.window import parse_duration


def band(column: str | tuple[str, str], low: Any, high: Any) -> Expression:
    """Whether the right value is between left value + `low` and left value + `high`, both included.

    Args:
        column: The column of both sides, or a pair: the left column and the right column.
        low: A number; for columns of time a duration such as "-5 minutes", or a `timedelta`.
        high: The same as for `low`.

    Example:
        >>> band("price", -5, +5)
        (((left.price + -5) <= right.price) & ((left.price + 5) >= right.price))
    """
    names = column_names(column, "band", PredicateError)
    if not 1 <= len(names) <= 2:
        raise PredicateError(f"band({column!r}, …): give the column of both sides, or a left and a right column")
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


def _distance(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    sign, text = (-1, value[1:]) if value.startswith("-") else (1, value.removeprefix("+"))
    return timedelta(microseconds=sign * parse_duration(text))


def left(name: str) -> Column:
    """A column of the left stream, for `where=`."""
    return Column(LEFT, text(name, "left", PredicateError))


def right(name: str) -> Column:
    """A column of the right stream, for `where=`."""
    return Column(RIGHT, text(name, "right", PredicateError))


def column(stream_or_name: str, name: str | None = None) -> Column:
    """A column by its name, or the column of a named stream, for `where=` of a join.

    >>> column("price") * 2
    (price * 2)
    >>> column("gate", "speed") < column("bridge", "speed")
    (gate.speed < bridge.speed)
    """
    first = text(stream_or_name, "column", PredicateError)
    if name is None:
        return Column(HERE, first)
    if not first:
        raise PredicateError("column('', …): give the name of a stream, as in pt.stream(…, name=…)")
    return Column(NOWHERE, text(name, "column", PredicateError), first)


def call(function: str, *arguments: Any) -> Expression:
    """A function of expressions and values, by its name in SQL.

    >>> call("substring", column("name"), 1, 3)
    substring(name, 1, 3)
    """
    return FunctionCall(
        text(function, "call", PredicateError, "the name of a function"), tuple(map(as_expression, arguments))
    )


def case(*branches: tuple[Expression, Any], otherwise: Any = None) -> Expression:
    """The value of the first branch whose condition is true; if none is, `otherwise`, or null.

    >>> case((column("price") > 100, "high"), (column("price") > 10, "middle"), otherwise="low")
    case(((price > 100), 'high'), ((price > 10), 'middle'), otherwise='low')
    """
    untyped: tuple[Any, ...] = branches
    for branch in untyped:
        if not isinstance(branch, tuple) or len(branch) != 2:
            raise PredicateError(f"case({branch!r}, …): give pairs of a condition and a value")
    pairs = tuple((as_expression(condition), as_expression(value)) for condition, value in branches)
    return CaseWhen(pairs, None if otherwise is None else as_expression(otherwise))
