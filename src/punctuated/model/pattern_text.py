r"""Punctuations as text: `<180,*,*,*>`, `<[10,20),*>`, `<{1,2,3},*>`, with the types of the stream's columns.

    punctuation = "<" pattern {"," pattern} ">"
    pattern     = "*" | value | ("[" | "(") [value] "," [value] ("]" | ")") | "{" [value {"," value}] "}"
    value       = bare text, or text in double quotes with the escapes \\ \" \n \r \t

Spaces around tokens do not count. What `print_patterns` prints is read back as the same patterns, if they are normal.
"""

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from punctuated.errors import PatternError
from punctuated.model.literal import ESCAPES, is_readable, print_literal, read_literal
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
        """Skips spaces; returns the position and the character there, which is empty at the end."""
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
