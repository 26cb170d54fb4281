r"""Punctuations as text: `<180,*,*,*>`, `<[10,20),*>`, `<{1,2,3},*>`, with the types of the stream's columns.

    punctuation = "<" pattern {"," pattern} ">"
    pattern     = "*" | value | ("[" | "(") [value] "," [value] ("]" | ")") | "{" [value {"," value}] "}"
    value       = bare text, or text in double quotes with the escapes \\ \" \n \r \t

Spaces around tokens do not count. What `print_patterns` prints is read back as the same patterns, if they are normal.
"""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa

from punctuated.errors import PatternError
from punctuated.model.pattern import (
    WILDCARD,
    Constant,
    Empty,
    OneOf,
    Pattern,
    Range,
    Wildcard,
    canonical,
    interval,
    one_of,
)

_SPACE = re.compile(r"\s*")
_BARE = re.compile(r'[^,<>\[\](){}"]*')
_INTEGER = re.compile(r"[-+]?[0-9]+")
_EXCESS_DIGITS = re.compile(r"[.,][0-9]{6}([0-9]+)")
_LONGEST_DECIMAL = 200  # digits
_PRINTS_BARE = re.compile(r"\w(?:[\w .:@/+-]*[\w.:@/+-])?")
ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_QUOTED = str.maketrans({char: "\\" + letter for letter, char in ESCAPES.items()})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def parse_punctuation(text: str, types: Sequence[pa.DataType]) -> tuple[Pattern, ...]:
    """The patterns of a punctuation, one per attribute of the stream.

    >>> parse_punctuation("<[10,20),*>", [pa.int64(), pa.string()])
    (Range(low=10, high=20, low_closed=True, high_closed=False), Wildcard())

    Raises:
        PatternError: with the position in the text and what was expected there.
    """
    return _Scanner(text, types).punctuation()


def print_patterns(patterns: Sequence[Pattern], types: Sequence[pa.DataType] | None = None) -> str:
    """The text of a punctuation; with `types`, timestamps come in ISO form.

    >>> print_patterns([Constant("a,b"), Range(high=20), WILDCARD])
    '<"a,b",(,20],*>'
    >>> print_patterns([Constant(0)], [pa.timestamp("us", tz="UTC")])
    '<1970-01-01T00:00:00Z>'
    """
    column_types = types if types is not None else [None] * len(patterns)
    return f"<{','.join(_print(pattern, dtype) for pattern, dtype in zip(patterns, column_types, strict=True))}>"


class _Scanner:
    """A cursor over the text; every method reads one rule of the grammar."""

    def __init__(self, text: str, types: Sequence[pa.DataType]) -> None:
        self.text, self.types, self.at = text, types, 0

    def punctuation(self) -> tuple[Pattern, ...]:
        self.one("<")
        patterns: list[Pattern] = []
        while True:
            start = self.peek()[0]
            if len(patterns) == len(self.types):
                raise self.error(start, f"too many patterns: the stream has {_attributes(self.types)}")
            patterns.append(self.pattern(self.types[len(patterns)]))
            if self.one(",>") == ">":
                break
        if len(patterns) < len(self.types):
            raise self.error(self.at - 1, f"{len(patterns)} of {_attributes(self.types)} given; the stream needs all")
        at, found = self.peek()
        if found:
            raise self.error(at, f"expected the end of the text, found {found!r}")
        return tuple(patterns)

    def pattern(self, dtype: pa.DataType) -> Pattern:
        start, opening = self.peek()
        if opening == "{":
            return self.list(dtype)
        if opening in ("[", "("):
            return self.range(dtype)
        if opening == "*" and self.word() == "*":
            return WILDCARD
        self.at = start
        return Constant(self.value(dtype, "a pattern"))

    def list(self, dtype: pa.DataType) -> Pattern:
        self.one("{")
        if self.peek()[1] == "}":
            self.one("}")
            return one_of(())
        values = [self.value(dtype)]
        while self.one(",}") == ",":
            values.append(self.value(dtype))
        return one_of(values)

    def range(self, dtype: pa.DataType) -> Pattern:
        low_closed = self.one("[(") == "["
        low = None if self.peek()[1] == "," else self.value(dtype, "a value or ','")
        self.one(",")
        high = None if self.peek()[1] in ("]", ")") else self.value(dtype, "a value, ']' or ')'")
        return interval(low, high, low_closed, self.one("])") == "]")

    def value(self, dtype: pa.DataType, expected: str = "a value") -> Any:
        start, found = self.peek()
        text = self.quoted() if found == '"' else self.word()
        if not text and found != '"':
            raise self.error(start, f"expected {expected}, found {_shown(found)}")
        value = canonical(read_literal(text, dtype))
        if value is None:
            raise self.error(start, f"expected {_describe(dtype)}, found {text!r}")
        return value

    def word(self) -> str:
        match = _BARE.match(self.text, self.peek()[0])
        assert match is not None
        self.at = match.end()
        return match.group().rstrip()

    def quoted(self) -> str:
        start = self.at
        chars: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return "".join(chars)
            if char == "\\":
                self.at += 1
                char = ESCAPES.get(self.text[self.at : self.at + 1], "")
                if not char:
                    raise self.error(self.at, 'expected one of \\ " n r t after a backslash')
            chars.append(char)
            self.at += 1
        raise self.error(self.at, f"expected '\"' to end the text that begins at {start}")

    def peek(self) -> tuple[int, str]:
        """Skip spaces; returns the position and the character there, which is empty at the end."""
        match = _SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.at, self.text[self.at : self.at + 1]

    def one(self, expected: str) -> str:
        at, found = self.peek()
        if not found or found not in expected:
            raise self.error(at, f"expected {' or '.join(map(repr, expected))}, found {_shown(found)}")
        self.at += 1
        return found

    def error(self, at: int, what: str) -> PatternError:
        return PatternError(f"at position {at}: {what}, in the punctuation {self.text!r}")


def _shown(found: str) -> str:
    return repr(found) if found else "the end of the text"


def _attributes(types: Sequence[pa.DataType]) -> str:
    return f"{len(types)} attribute{'' if len(types) == 1 else 's'}"


def _describe(dtype: pa.DataType) -> str:
    if not is_readable(dtype):
        return f"'*', the only pattern for type {dtype}"
    return f"a value of type {dtype}"


def _print(pattern: Pattern, dtype: pa.DataType | None) -> str:
    if isinstance(pattern, Wildcard):
        return "*"
    if isinstance(pattern, Empty):
        return "{}"
    if isinstance(pattern, Constant):
        return print_literal(pattern.value, dtype)
    if isinstance(pattern, OneOf):
        return f"{{{','.join(print_literal(value, dtype) for value in pattern.values)}}}"
    return _print_range(pattern, dtype)


def _print_range(bounds: Range, dtype: pa.DataType | None) -> str:
    opening = "[" if bounds.low_closed and bounds.low is not None else "("
    closing = "]" if bounds.high_closed and bounds.high is not None else ")"
    low, high = ("" if end is None else print_literal(end, dtype) for end in (bounds.low, bounds.high))
    return f"{opening}{low},{high}{closing}"


# Single values as text, by Arrow type
#
# Timestamps are integers in microseconds since the epoch, written in ISO form (without an offset: UTC) or as such an
# integer; dates are `datetime.date`, decimals `decimal.Decimal`. Floats are rounded to the column's precision, so
# that they equal the column's values.


def read_literal(text: str, dtype: pa.DataType) -> Any:
    """The value that a text stands for, or `None` if it is not of that type.

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
    """The function that turns text into a value of a type; `None` or an error means that the text does not fit."""
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
    """The text as a decimal; None if it is far outside every type, where Arrow would take very long, or crash."""
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
    """The text as microseconds, if the column's unit can hold them."""
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
