"""Single values as text, by Arrow type: what is between the commas of a punctuation.

Timestamps are integers in microseconds since the epoch, written in ISO form (without an offset: UTC) or as such an
integer; dates are `datetime.date`, decimals `decimal.Decimal`. Floats are rounded to the column's precision, so that
they equal the column's values.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa

_INTEGER = re.compile(r"[-+]?[0-9]+")
_EXCESS_DIGITS = re.compile(r"[.,][0-9]{6}([0-9]+)")
_LONGEST_DECIMAL = 200  # digits
_PRINTS_BARE = re.compile(r"\w(?:[\w .:@/+-]*[\w.:@/+-])?")
ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_QUOTED = str.maketrans({char: "\\" + letter for letter, char in ESCAPES.items()})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def read_literal(text: str, dtype: pa.DataType) -> Any:
    """The value that the text stands for, or `None` if it is not of that type.

    >>> read_literal("1970-01-01T00:00:01Z", pa.timestamp("us", tz="UTC")), read_literal("300", pa.int8())
    (1000000, None)
    """
    try:
        return _reader(dtype)(text)
    except (ValueError, ArithmeticError):  # pyarrow's errors are ValueErrors; integers and decimals may overflow
        return None


def print_literal(value: Any, dtype: pa.DataType | None = None) -> str:
    """The text of a value; with the type of a timestamp column, an integer comes in ISO form.

    >>> print_literal("a,b"), print_literal(True), print_literal(0, pa.timestamp("us"))
    ('"a,b"', 'true', '1970-01-01T00:00:00')
    """
    if isinstance(value, str):
        return value if _PRINTS_BARE.fullmatch(value) else f'"{value.translate(_QUOTED)}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and dtype is not None and pa.types.is_timestamp(dtype):
        return _print_timestamp(value, with_zone=dtype.tz is not None)
    return value.isoformat() if isinstance(value, date) else str(value)


def _print_timestamp(us: int, with_zone: bool) -> str:
    try:
        moment = (_EPOCH + us * _MICROSECOND).replace(tzinfo=None)
    except OverflowError:
        return str(us)
    return moment.isoformat() + ("Z" if with_zone else "")


def is_readable(dtype: pa.DataType) -> bool:
    """Whether values of that type can be written in a punctuation at all."""
    return _reader(dtype) is not _unreadable


@lru_cache(maxsize=256)
def _reader(dtype: pa.DataType) -> Callable[[str], Any]:
    """What turns text into a value of that type; a `None` or an error means that it does not fit."""
    kind = pa.types
    if kind.is_dictionary(dtype):
        return _reader(dtype.value_type)
    if kind.is_string(dtype) or kind.is_large_string(dtype) or kind.is_string_view(dtype):
        return str
    if kind.is_boolean(dtype):
        return lambda text: {"true": True, "false": False}.get(text.lower())
    if kind.is_timestamp(dtype):
        return lambda text: _read_timestamp(text, dtype)
    if kind.is_date(dtype):
        return date.fromisoformat
    if kind.is_integer(dtype):
        return lambda text: pa.scalar(int(text), dtype).as_py() if _INTEGER.fullmatch(text) else None
    if kind.is_floating(dtype):
        return lambda text: _read_float(text, dtype)
    if kind.is_decimal(dtype):
        return lambda text: _read_decimal(text, dtype)
    return _unreadable


def _unreadable(text: str) -> None:
    return None


def _read_decimal(text: str, dtype: pa.DataType) -> Decimal | None:
    """Numbers far outside every type are not passed to Arrow, which would take very long, or crash."""
    value = Decimal(text) if len(text) <= _LONGEST_DECIMAL and "_" not in text else Decimal("nan")
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or not -_LONGEST_DECIMAL <= exponent <= _LONGEST_DECIMAL:
        return None
    found: Decimal = pa.scalar(value, dtype).as_py()
    return found


def _read_float(text: str, dtype: pa.DataType) -> float | None:
    wide = float(text)
    value = float(pa.scalar(wide, dtype).as_py())
    overflows = math.isinf(value) and not math.isinf(wide)
    return None if overflows or "_" in text else value


def _read_timestamp(text: str, dtype: pa.DataType) -> int:
    """In microseconds, if the column's unit can hold that."""
    us = int(text) if _INTEGER.fullmatch(text) else _microseconds(text)
    pa.scalar(us, pa.timestamp("us", dtype.tz)).cast(dtype)  # raises if not
    return us


def _microseconds(text: str) -> int:
    excess = _EXCESS_DIGITS.search(text)  # which Python would cut off
    if excess is not None and excess.group(1).strip("0"):
        raise ValueError(f"{text!r} lies between two microseconds")
    moment = datetime.fromisoformat(text)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND
