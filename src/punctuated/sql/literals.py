"""Values that stand in a query: numbers of any size, dates and times. What is none is an error, and never null."""

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
from sqlglot import exp

from punctuated.model.predicate import Literal
from punctuated.sql.errors import SqlError
from punctuated.sql.place import Place

_LARGEST, _MOST_DIGITS = 2**63 - 1, 76  # beyond the first a number is a decimal; Arrow's have so many digits
_READ: dict[str, tuple[Callable[[str], date], str]] = {
    "DATE": (date.fromisoformat, "a date; write one such as DATE '2024-05-01'"),
    "TIMESTAMP": (datetime.fromisoformat, "a time; write one such as TIMESTAMP '2024-05-01 12:00:00'"),
}


def number(text: str, place: Place) -> Literal:
    """A number: an integer, a decimal if no integer type holds it, or one with a point."""
    if text.isdigit():
        if len(text.lstrip("0")) > _MOST_DIGITS:
            raise SqlError(f"a number has at most {_MOST_DIGITS} digits", place)
        return Literal(_whole(int(text)))
    try:
        return Literal(float(text))
    except ValueError:
        raise SqlError(f"{text!r} is no number; write one such as 0.5 or 1e6", place) from None


def negative(value: int | float | Decimal) -> Literal:
    """The same below zero."""
    return Literal(_whole(-int(value)) if isinstance(value, Decimal) else -value)


def is_typed(node: exp.Expr) -> bool:
    """Whether this is `DATE '…'` rather than a cast of a text: both stand where the text does."""
    return isinstance(node.this, exp.Literal) and node.meta.get("start") == node.this.meta.get("start")


def type_of_moment(text: str, kind: str, dtype: pa.DataType, place: Place) -> pa.DataType:
    """The type of `DATE '…'` or `TIMESTAMP '…'`, in UTC if the text names an offset; raises if it is no moment."""
    if kind not in _READ:
        return dtype
    read, wanted = _READ[kind]
    try:
        found = read(text.strip())
    except ValueError:
        raise SqlError(f"{text!r} is not {wanted}", place) from None
    has_offset = isinstance(found, datetime) and found.tzinfo is not None
    return pa.timestamp("us", "UTC") if has_offset else dtype


def _whole(value: int) -> int | Decimal:
    return value if -_LARGEST - 1 <= value <= _LARGEST else Decimal(value)
