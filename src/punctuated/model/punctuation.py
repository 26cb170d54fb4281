"""Punctuations: a stream says that a set of values is over (PW-01, PW-02).

What a punctuation does depends on which attributes it restricts: a join value ends only if nothing outside the key is
restricted. `classify` decides that in one place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any

from punctuated.errors import PatternError
from punctuated.model.pattern import WILDCARD, Constant, Empty, OneOf, Pattern, Range, Wildcard, combine

MOST_NAMED = 100_000  # join values that a punctuation with several lists may name


@dataclass(frozen=True, slots=True)
class Punctuation:
    """One pattern per attribute, in the order of the stream's columns.

    `in_band` is false for endings that come from a separate stream: they do not move the watermark.
    """

    ts: int
    patterns: tuple[Pattern, ...]
    in_band: bool = True


class PunctuationKind(Enum):
    """What a punctuation ends."""

    NOTHING = "nothing"  # one of its patterns is empty
    END = "end"  # the stream: all patterns are `*`
    TIME = "time"  # only the time is restricted, from above: elsewhere called a watermark or heartbeat
    VALUES = "values"  # single join values
    RANGE = "range"  # many join values at once, which it does not name one by one
    PROMISE = "promise"  # no join value: it only forbids tuples


def classify(patterns: Sequence[Pattern], columns: Sequence[str], key: Sequence[str], time: str) -> PunctuationKind:
    """What a punctuation of a stream with these columns ends.

    >>> classify([Constant(180), WILDCARD], ["item_id", "ts"], ["item_id"], "ts")
    <PunctuationKind.VALUES: 'values'>
    >>> classify([WILDCARD, Range(high=9)], ["item_id", "ts"], ["item_id"], "ts")
    <PunctuationKind.TIME: 'time'>
    """
    by_column = dict(zip(columns, patterns, strict=True))
    restricted = {column for column, pattern in by_column.items() if not isinstance(pattern, Wildcard)}
    if any(isinstance(combine(pattern, WILDCARD), Empty) for pattern in patterns):  # `(3,4)` is empty too
        return PunctuationKind.NOTHING
    if not restricted:
        return PunctuationKind.END
    if restricted == {time} and _ends_time(by_column[time]):
        return PunctuationKind.TIME
    if not restricted <= set(key):
        return PunctuationKind.PROMISE
    return (
        PunctuationKind.VALUES
        if all(isinstance(by_column[column], Constant | OneOf) for column in key)
        else PunctuationKind.RANGE
    )


def named_values(patterns: Sequence[Pattern], columns: Sequence[str], key: Sequence[str]) -> list[tuple[Any, ...]]:
    """The join values that a punctuation of kind `VALUES` names, ascending; each is a tuple in the order of `key`.

    >>> named_values([OneOf((1, 2)), Constant("x")], ["a", "b"], ["a", "b"])
    [(1, 'x'), (2, 'x')]
    """
    by_column = dict(zip(columns, patterns, strict=True))
    listed = [_listed(by_column[column]) for column in key]
    _check_product([len(values) for values in listed])
    return list(product(*listed))


def check_named(patterns: Sequence[Pattern], columns: Sequence[str], key: Sequence[str]) -> None:
    """Raise if the lists of a punctuation multiply to too many join values."""
    by_column = dict(zip(columns, patterns, strict=True))
    named = [by_column.pop(column) for column in key]
    is_promise = any(not isinstance(pattern, Wildcard) for pattern in by_column.values())
    if not is_promise and all(isinstance(pattern, Constant | OneOf) for pattern in named):
        _check_product([len(_listed(pattern)) for pattern in named])


def _check_product(lengths: Sequence[int]) -> None:
    """A list is no longer than its text, but several short lists have a large product."""
    n = math.prod(lengths)
    if n > max(MOST_NAMED, *lengths, 0):
        raise PatternError(
            f"lists of {' × '.join(map(str, lengths))} values name {n} keys, and a punctuation may name {MOST_NAMED}; "
            "write several, or ranges"
        )


def time_floor(pattern: Pattern) -> int:
    """The smallest time that the time pattern of a punctuation of kind `TIME` leaves possible.

    >>> time_floor(Range(high=9)), time_floor(Range(high=9, high_closed=False))
    (10, 9)
    """
    if not isinstance(pattern, Range) or not _ends_time(pattern):
        raise PatternError(f"{pattern} sets no floor for times: give a range without a lower end, such as (,10]")
    return int(pattern.high) + pattern.high_closed


def _ends_time(pattern: Pattern) -> bool:
    return isinstance(pattern, Range) and pattern.low is None and pattern.high is not None


def _listed(pattern: Pattern) -> tuple[Any, ...]:
    if isinstance(pattern, Constant):
        return (pattern.value,)
    if isinstance(pattern, OneOf):
        return pattern.values
    raise PatternError(f"{pattern} names no single values")
