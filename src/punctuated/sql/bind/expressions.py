"""Expressions of a query become those of the model, which Arrow evaluates everywhere alike.

What has no such expression is refused at its position, with what to write instead; a text that should be a number or a
time and is none is an error, and never null.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
from sqlglot import exp

from punctuated.errors import PredicateError
from punctuated.expressions.casts import named_type
from punctuated.expressions.evaluate import check_predicate, evaluate, null_row
from punctuated.expressions.functions import FUNCTIONS, SYNONYMS
from punctuated.expressions.nodes import (
    CaseWhen,
    Cast,
    Expression,
    FunctionCall,
    Literal,
    Negation,
    NullTest,
    Operation,
)
from punctuated.model.aggregate import SQL_NAMES
from punctuated.model.window import parse_duration
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unknown, unsupported

_LARGEST = 2**63 - 1  # a larger integer is a decimal
_MOST_DIGITS = 76  # of an Arrow decimal
_MOMENTS: dict[str, tuple[Callable[[str], date], str]] = {
    "DATE": (date.fromisoformat, "a date; write one such as DATE '2024-05-01'"),
    "TIMESTAMP": (datetime.fromisoformat, "a time; write one such as TIMESTAMP '2024-05-01 12:00:00'"),
}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.EQ: "==",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "&",
    exp.Or: "|",
}
_CALLS: dict[type[exp.Expr], str] = {
    exp.Div: "divide",
    exp.Mod: "mod",
    exp.DPipe: "concat",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.RegexpLike: "regexp_like",
}
_PARTS = {"dow": "dayofweek"}
_CLOCKS = ("now", "current_timestamp", "current_date", "current_time", "localtimestamp", "getdate", "sysdate")
_TRIMS = {"LEADING": "ltrim", "TRAILING": "rtrim"}
FindColumn = Callable[[exp.Column], Expression]


# Literals


def number(text: str, position: SourceSpan) -> Literal:
    """The literal of a number: an integer, a decimal if no integer type holds it, or a float."""
    if text.isdigit():
        if len(text.lstrip("0")) > _MOST_DIGITS:
            raise SqlError(f"a number has at most {_MOST_DIGITS} digits", position)
        return Literal(_whole(int(text)))
    try:
        return Literal(float(text))
    except ValueError:
        raise SqlError(f"{text!r} is no number; write one such as 0.5 or 1e6", position) from None


def negative(value: int | float | Decimal) -> Literal:
    """The literal of a number with a minus before it."""
    return Literal(_whole(-int(value)) if isinstance(value, Decimal) else -value)


def is_typed(node: exp.Expr) -> bool:
    """Whether a cast is `DATE '…'`: unlike CAST it has no word before it, so it starts where its text does."""
    return isinstance(node.this, exp.Literal) and node.meta.get("start") == node.this.meta.get("start")


def type_of_moment(text: str, kind: str, dtype: pa.DataType, position: SourceSpan) -> pa.DataType:
    """The type of `DATE '…'` or `TIMESTAMP '…'`, in UTC if the text has an offset; raises if the text is no time."""
    if kind not in _MOMENTS:
        return dtype
    read, wanted = _MOMENTS[kind]
    try:
        found = read(text.strip())
    except ValueError:
        raise SqlError(f"{text!r} is not {wanted}", position) from None
    has_offset = isinstance(found, datetime) and found.tzinfo is not None
    return pa.timestamp("us", "UTC") if has_offset else dtype


def _whole(value: int) -> int | Decimal:
    return value if -_LARGEST - 1 <= value <= _LARGEST else Decimal(value)


# Types
#
# A text or a TIMESTAMP that is compared with a column of times becomes a time of the column's type. If that has a time
# zone, a text without an offset is in UTC. A text beside dates becomes a date, beside times of day a time of day.


def checked_value(value: Expression, schemas: Sequence[pa.Schema], position: SourceSpan) -> Expression:
    """An expression, fitted to the columns of its rows; raises if it cannot be evaluated over them."""
    with at(position):
        fitted = _fitted(value, schemas)
        evaluate(fitted, [null_row(schema) for schema in schemas])
        return fitted


def checked_predicate(value: Expression, schemas: Sequence[pa.Schema], position: SourceSpan) -> Expression:
    """A predicate, fitted to the columns of its rows; raises if it is not true or false."""
    with at(position):
        fitted = _fitted(value, schemas)
        found = evaluate(fitted, [null_row(schema) for schema in schemas]).type
        if not (pa.types.is_boolean(found) or pa.types.is_null(found)):
            raise PredicateError(f"a predicate is needed here, and this gives {found}, not true or false")
        check_predicate(fitted, schemas)
        return fitted


def _fitted(value: Expression, schemas: Sequence[pa.Schema]) -> Expression:
    """The expression with times in place of texts that are compared with times."""
    if isinstance(value, Operation):
        first, second = _fitted(value.first, schemas), _fitted(value.second, schemas)
        if value.operator in _COMPARISONS:
            first, second = _as_other(first, second, schemas), _as_other(second, first, schemas)
        return replace(value, first=first, second=second)
    if isinstance(value, Negation | NullTest | Cast):
        return replace(value, inner=_fitted(value.inner, schemas))
    if isinstance(value, FunctionCall):
        arguments = tuple(_fitted(each, schemas) for each in value.arguments)
        if value.function == "in":
            arguments = (arguments[0], *(_as_other(each, arguments[0], schemas) for each in arguments[1:]))
        return replace(value, arguments=arguments)
    if isinstance(value, CaseWhen):
        branches = tuple((_fitted(when, schemas), _fitted(then, schemas)) for when, then in value.branches)
        return CaseWhen(branches, None if value.otherwise is None else _fitted(value.otherwise, schemas))
    return value


def _as_other(value: Expression, other: Expression, schemas: Sequence[pa.Schema]) -> Expression:
    """The value as a time, if it is a text and it is compared with times; else the value itself."""
    inner = value.inner if isinstance(value, Cast) and pa.types.is_timestamp(value.type) else value
    if not isinstance(inner, Literal) or not isinstance(inner.value, str):
        return value
    dtype = evaluate(other, [null_row(schema) for schema in schemas]).type
    if pa.types.is_timestamp(dtype):
        return Literal(_timestamp(inner.value, dtype))
    if inner is value and pa.types.is_date(dtype):
        return Literal(_read(inner.value, date.fromisoformat, "a date; write one such as '2024-05-01'"))
    if inner is value and pa.types.is_time(dtype):
        return Literal(_read(inner.value, time.fromisoformat, "a time of day; write one such as '12:00:00'"))
    return value


def _read(text: str, read: Callable[[str], date | time], wanted: str) -> date | time:
    try:
        return read(text.strip())
    except ValueError:
        raise PredicateError(f"{text!r} is not {wanted}") from None


def _timestamp(text: str, dtype: pa.TimestampType) -> datetime:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise PredicateError(f"{text!r} is not a time; write one such as '2024-05-01 12:00:00'") from None
    if dtype.tz is not None:
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    if found.tzinfo is not None:
        raise PredicateError(f"{text!r} names an offset, but the column has no time zone: leave the offset out")
    return found


# Translation


class Translator:
    """Translates expressions of one text.

    The same text may mean a column of one stream, of a pair of rows or of a group: `column` gives the expression of a
    column, `aggregate` that of an aggregate, and `known` those of whole expressions that are columns already.
    """

    def __init__(
        self,
        sql: str,
        column: FindColumn,
        aggregate: Callable[[exp.Anonymous], Expression] | None = None,
        known: Callable[[exp.Expr], Expression | None] = lambda node: None,
    ) -> None:
        self._sql, self._column, self._aggregate, self._known = sql, column, aggregate, known

    def translate(self, node: exp.Expr) -> Expression:
        """The expression of the model with the value of a node; raises if there is none."""
        with at(self._position(node)):
            found = self._known(node)
            return self._translated(node) if found is None else found

    def _translated(self, node: exp.Expr) -> Expression:
        kind = type(node)
        understood = _ARGUMENTS.get(kind, set()) | {"this", "expression", "expressions"}
        translate = _NODES.get(kind)
        if translate is None or any(value for name, value in node.args.items() if name not in understood):
            raise self._refusal(node)
        return translate(self, node)

    def _operation(self, node: exp.Expr) -> Expression:
        return Operation(_OPERATORS[type(node)], *self._operands(node))

    def _call(self, node: exp.Expr) -> Expression:
        call = FunctionCall(_CALLS[type(node)], self._operands(node))
        return Negation(call) if node.args.get("negate") else call

    def _operands(self, node: exp.Expr) -> tuple[Expression, Expression]:
        return self.translate(node.this), self.translate(node.expression)

    def _position(self, node: exp.Expr) -> SourceSpan:
        return position_of(node, self._sql)

    def _refusal(self, node: exp.Expr) -> SqlError:
        what, instead = _REFUSED.get(
            type(node), (f"{self._position(node).quoted!r}", "there is no such expression here")
        )
        return unsupported(what, self._position(node), instead)

    # Leaves

    def _of_column(self, node: exp.Expr) -> Expression:
        assert isinstance(node, exp.Column)
        if isinstance(node.this, exp.Star):
            raise SqlError("* stands alone in the SELECT list, or in COUNT(*)", self._position(node))
        return self._column(node)

    def _literal(self, node: exp.Expr) -> Expression:
        text = str(node.this)
        if node.is_string:
            return Literal(text)
        return number(text, self._position(node))

    def _interval(self, node: exp.Expr) -> Expression:
        unit = node.args.get("unit")
        amount = node.this.name if node.this is not None else ""
        microseconds = parse_duration(f"{amount} {unit.name.lower()}" if unit is not None else amount)
        return Literal(timedelta(microseconds=microseconds))

    # Signs and words

    def _not(self, node: exp.Expr) -> Expression:
        return Negation(self.translate(node.this))

    def _negative(self, node: exp.Expr) -> Expression:
        inner = self.translate(node.this)
        if isinstance(inner, Literal) and isinstance(inner.value, int | float | Decimal):
            return negative(inner.value)
        if isinstance(inner, Literal) and isinstance(inner.value, timedelta):
            return Literal(-inner.value)
        return Operation("-", Literal(0), inner)

    def _is(self, node: exp.Expr) -> Expression:
        inner, what = self.translate(node.this), node.expression
        if isinstance(what, exp.Null):
            return NullTest(inner)
        if isinstance(what, exp.Boolean):
            return FunctionCall("coalesce", (inner if what.this else Negation(inner), Literal(False)))
        raise SqlError("expected NULL, TRUE or FALSE behind IS", self._position(what), expected="NULL, TRUE or FALSE")

    def _in(self, node: exp.Expr) -> Expression:
        if not node.expressions:
            raise SqlError("IN needs a list of values in parentheses", self._position(node), expected="a list")
        return FunctionCall("in", (self.translate(node.this), *map(self.translate, node.expressions)))

    def _between(self, node: exp.Expr) -> Expression:
        value, low, high = (self.translate(node.args[part]) for part in ("this", "low", "high"))
        return Operation("&", Operation(">=", value, low), Operation("<=", value, high))

    def _case(self, node: exp.Expr) -> Expression:
        subject, default = node.args.get("this"), node.args.get("default")
        branches = tuple(
            (self._condition(each.this, subject), self.translate(each.args["true"])) for each in node.args["ifs"]
        )
        return CaseWhen(branches, None if default is None else self.translate(default))

    def _condition(self, node: exp.Expr, subject: exp.Expr | None) -> Expression:
        condition = self.translate(node)
        return condition if subject is None else Operation("==", self.translate(subject), condition)

    def _cast(self, node: exp.Expr) -> Expression:
        dtype = named_type(node.args["to"].sql())
        if is_typed(node):
            dtype = type_of_moment(node.this.name, node.args["to"].sql(), dtype, self._position(node))
        return Cast(self.translate(node.this), dtype)

    # Functions

    def _extract(self, node: exp.Expr) -> Expression:
        part = node.this.name.lower()
        return self._called(_PARTS.get(part, part), (node.expression,), node)

    def _substring(self, node: exp.Expr) -> Expression:
        arguments = [node.this, node.args.get("start"), node.args.get("length")]
        return self._called("substring", tuple(each for each in arguments if each is not None), node)

    def _trim(self, node: exp.Expr) -> Expression:
        function = _TRIMS.get(str(node.args.get("position") or "").upper(), "trim")
        arguments = [node.this, node.args.get("expression")]
        return self._called(function, tuple(each for each in arguments if each is not None), node)

    def _function(self, node: exp.Expr) -> Expression:
        assert isinstance(node, exp.Anonymous)
        name = function_name(node)
        if name in SQL_NAMES:
            if self._aggregate is None:
                raise SqlError(f"an aggregate such as {name.upper()} cannot stand here", self._position(node))
            return self._aggregate(node)
        return self._called(SYNONYMS.get(name, name), tuple(node.expressions), node)

    def _called(self, name: str, arguments: tuple[exp.Expr, ...], node: exp.Expr) -> Expression:
        if name in _CLOCKS:
            raise unsupported("the time of the clock", self._position(node), "compare columns of time")
        if name not in FUNCTIONS:
            raise unknown("function", name, (*FUNCTIONS, *SQL_NAMES, *SYNONYMS), self._position(node))
        return FunctionCall(name, tuple(map(self.translate, arguments)))


_NODES: dict[type[exp.Expr], Callable[[Translator, Any], Expression]] = {
    **dict.fromkeys(_OPERATORS, Translator._operation),
    **dict.fromkeys(_CALLS, Translator._call),
    exp.Column: Translator._of_column,
    exp.Literal: Translator._literal,
    exp.Null: lambda translator, node: Literal(None),
    exp.Boolean: lambda translator, node: Literal(bool(node.this)),
    exp.Interval: Translator._interval,
    exp.Paren: lambda translator, node: translator.translate(node.this),
    exp.Not: Translator._not,
    exp.Neg: Translator._negative,
    exp.Is: Translator._is,
    exp.In: Translator._in,
    exp.Between: Translator._between,
    exp.Case: Translator._case,
    exp.Cast: Translator._cast,
    exp.TryCast: Translator._cast,
    exp.Extract: Translator._extract,
    exp.Substring: Translator._substring,
    exp.Trim: Translator._trim,
    exp.Anonymous: Translator._function,
}


# The arguments of a node beside its operands that are understood; a node with any other argument is refused.
_ARGUMENTS: dict[type[exp.Expr], set[str]] = {
    exp.Column: {"table", "db", "catalog"},
    exp.Literal: {"is_string"},
    exp.Interval: {"unit", "fraction_in_string"},
    exp.Between: {"low", "high"},
    exp.Case: {"ifs", "default"},
    exp.Cast: {"to"},
    exp.TryCast: {"to", "requires_string", "safe"},
    exp.DPipe: {"safe"},
    exp.Div: {"typed", "safe"},
    exp.Substring: {"start", "length"},
    exp.Trim: {"position"},
    exp.Like: {"negate"},
    exp.ILike: {"negate"},
}


_REFUSED: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Window: ("OVER", "group in a query in FROM"),
    exp.Filter: ("FILTER", "write CASE WHEN … THEN … END inside of the aggregate"),
    exp.Star: ("* here", "name the columns"),
    exp.Distinct: ("DISTINCT inside of a function", "write SELECT DISTINCT in a query in FROM, and count its rows"),
    exp.CurrentTimestamp: ("the time of the clock", "compare columns of time"),
    exp.CurrentDate: ("the date of the clock", "compare columns of time"),
    exp.CurrentTime: ("the time of the clock", "compare columns of time"),
    exp.Bracket: ("brackets behind a value", "windows stand behind streams in FROM"),
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", "write a = b OR (a IS NULL AND b IS NULL)"),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", "write a <> b, and IS NULL where needed"),
    exp.Escape: ("ESCAPE", "write REGEXP_LIKE(…)"),
    exp.Exists: ("EXISTS", "write a LEFT SEMI JOIN"),
    exp.Tuple: ("a list of values here", "compare one value with another"),
}


def function_name(node: exp.Anonymous) -> str:
    """The name of a function in lower case."""
    return str(node.name).lower()


def aggregates_in(node: exp.Expr) -> Iterator[exp.Anonymous]:
    """All aggregates in an expression."""
    for each in node.find_all(exp.Anonymous):
        if function_name(each) in SQL_NAMES:
            yield each


def has_aggregate(node: exp.Expr) -> bool:
    """Whether there is an aggregate in an expression."""
    return any(True for _ in aggregates_in(node))
