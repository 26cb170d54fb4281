"""Patterns, each of which says which values of one attribute a punctuation means (PW-01), and their algebra.

Values are ordered as in Spark: NaN equals itself and is greater than every number, `-0.0` equals `0.0`. Null matches
`*` and nothing else. Integers and dates are discrete: `(3,4)` is empty.

A pattern is *normal* if it is `*`, empty, a constant, or made by `one_of` or `interval`; `combine` gives normal ones.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`*`, the pattern that matches any value."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The pattern that matches one value."""

    value: Any


@dataclass(frozen=True, slots=True)
class OneOf:
    """An enumeration list of two or more distinct values, ascending."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """An interval; `None` as a bound means that this end is open to infinity."""

    low: Any = None
    high: Any = None
    low_closed: bool = True
    high_closed: bool = True


@dataclass(frozen=True, slots=True)
class Empty:
    """The pattern that matches nothing."""


Pattern = Wildcard | Constant | OneOf | Range | Empty
WILDCARD, EMPTY = Wildcard(), Empty()


def one_of(values: Iterable[Any]) -> Pattern:
    """The pattern of a list of values; nulls are left out, since nothing but `*` matches them.

    >>> one_of([3, 1, 3])
    OneOf(values=(1, 3))
    >>> one_of([7]), one_of([])
    (Constant(value=7), Empty())
    """
    distinct = {rank(value): canonical(value) for value in values if value is not None}
    ordered = tuple(distinct[key] for key in sorted(distinct))
    if len(ordered) > 1:
        return OneOf(ordered)
    return Constant(ordered[0]) if ordered else EMPTY


def interval(low: Any = None, high: Any = None, low_closed: bool = True, high_closed: bool = True) -> Pattern:
    """The pattern of all values between two bounds; `None` leaves an end open to infinity.

    Bounds stay as they are given; only an infinite end always counts as closed.

    >>> interval(10, 20, high_closed=False)
    Range(low=10, high=20, low_closed=True, high_closed=False)
    >>> interval(5, 5), interval(3, 4, False, False)
    (Constant(value=5), Empty())
    """
    low, high = canonical(low), canonical(high)
    if high is math.nan and high_closed:
        high = None
    if low is math.nan:
        return Constant(low) if low_closed and high is None else EMPTY
    if low_closed and low == -math.inf:
        low = None
    bounds = Range(low, high, low_closed or low is None, high_closed or high is None)
    if isinstance(low, bool) or isinstance(high, bool):
        return one_of(value for value in (False, True) if matches(bounds, value))
    if _holds_nothing(bounds):
        return EMPTY
    if low is not None and high is not None and rank(low) == rank(high):
        return Constant(low)
    return bounds


def matches(pattern: Pattern, value: Any) -> bool:
    """Whether the pattern matches a value of the attribute.

    >>> matches(Range(10, 20, high_closed=False), 10), matches(Range(10, 20, high_closed=False), 20)
    (True, False)
    >>> matches(Constant(float("nan")), float("nan")), matches(Range(), None)
    (True, False)
    """
    if isinstance(pattern, Wildcard):
        return True
    if value is None or isinstance(pattern, Empty):
        return False
    if isinstance(pattern, Range):
        return _above(pattern, value) and _below(pattern, value)
    key = rank(value)
    return any(rank(candidate) == key for candidate in _values(pattern) if candidate is not None)


def combine(p: Pattern, q: Pattern) -> Pattern:
    """The pattern that matches what both match (the *and* of two punctuations), in normal form.

    >>> combine(Range(1, 10), Range(10, 20)), combine(OneOf((1, 2, 3)), Range(low=2))
    (Constant(value=10), OneOf(values=(2, 3)))
    """
    if isinstance(p, Empty) or isinstance(q, Empty):
        return EMPTY
    if isinstance(p, Wildcard):
        return _normal(q)
    if isinstance(q, Wildcard):
        return _normal(p)
    if not isinstance(p, Range):
        return one_of(value for value in _values(p) if matches(q, value))
    if not isinstance(q, Range):
        return one_of(value for value in _values(q) if matches(p, value))
    low_owner = q if _starts_later(q, p) else p
    high_owner = q if _ends_earlier(q, p) else p
    return interval(low_owner.low, high_owner.high, low_owner.low_closed, high_owner.high_closed)


def subsumes(wide: Pattern, narrow: Pattern) -> bool:
    """Whether `wide` matches everything that `narrow` matches.

    >>> subsumes(Range(1, 9), Range(0, 10, False, False)), subsumes(OneOf((1, 2)), Range(1, 3))
    (True, False)
    """
    narrow = _normal(narrow)
    if isinstance(wide, Wildcard) or isinstance(narrow, Empty):
        return True
    if isinstance(narrow, Wildcard):
        return False
    if not isinstance(narrow, Range):
        return all(matches(wide, value) for value in _values(narrow) if value is not None)
    wide = _normal(wide)
    if isinstance(wide, Range):
        wide, narrow = _tightened(wide), _tightened(narrow)
        return not _starts_later(wide, narrow) and not _ends_earlier(wide, narrow)
    return _lists_all(wide, _tightened(narrow))


def canonical(value: Any) -> Any:
    """One representative for values that are equal: `0.0` for `-0.0`, and a single NaN object.

    >>> canonical(-0.0), canonical(float("nan")) is math.nan
    (0.0, True)
    """
    if isinstance(value, float):
        return math.nan if math.isnan(value) else value + 0.0
    return value


def rank(value: Any) -> tuple[bool, Any]:
    """A key that sorts and hashes the values of one attribute as patterns compare them.

    >>> sorted([math.nan, math.inf, 1.0], key=rank)
    [1.0, inf, nan]
    """
    is_nan = isinstance(value, float) and math.isnan(value)
    return (is_nan, None if is_nan else value)


def bounds_of(pattern: Pattern) -> tuple[Any, ...]:
    """All values that are written in a pattern.

    >>> bounds_of(Range(low=3)), bounds_of(OneOf((1, 2)))
    ((3,), (1, 2))
    """
    if isinstance(pattern, Range):
        return tuple(bound for bound in (pattern.low, pattern.high) if bound is not None)
    return _values(pattern)


def _values(pattern: Pattern) -> tuple[Any, ...]:
    if isinstance(pattern, Constant):
        return (pattern.value,)
    return pattern.values if isinstance(pattern, OneOf) else ()


def _normal(pattern: Pattern) -> Pattern:
    if isinstance(pattern, Range):
        return interval(pattern.low, pattern.high, pattern.low_closed, pattern.high_closed)
    if isinstance(pattern, Constant | OneOf):
        return one_of(_values(pattern))
    return pattern


def _above(bounds: Range, value: Any) -> bool:
    if bounds.low is None:
        return True
    low, key = rank(bounds.low), rank(value)
    return (low == key and bounds.low_closed) or low < key


def _below(bounds: Range, value: Any) -> bool:
    if bounds.high is None:
        return True
    high, key = rank(bounds.high), rank(value)
    return (high == key and bounds.high_closed) or key < high


def _starts_later(p: Range, q: Range) -> bool:
    """Whether `q` admits smaller values than `p`."""
    if p.low is None or q.low is None:
        return p.low is not None
    p_low, q_low = rank(p.low), rank(q.low)
    return q_low < p_low or (p_low == q_low and q.low_closed and not p.low_closed)


def _ends_earlier(p: Range, q: Range) -> bool:
    """Whether `q` admits greater values than `p`."""
    if p.high is None or q.high is None:
        return p.high is not None
    p_high, q_high = rank(p.high), rank(q.high)
    return p_high < q_high or (p_high == q_high and q.high_closed and not p.high_closed)


def _holds_nothing(bounds: Range) -> bool:
    bounds = _tightened(bounds)
    if bounds.low is None or bounds.high is None:
        return False
    low, high = rank(bounds.low), rank(bounds.high)
    return high < low or (low == high and not (bounds.low_closed and bounds.high_closed))


def _step(bound: Any) -> Any:
    """The distance between neighbours of a discrete type, else `None`."""
    if type(bound) is int:
        return 1
    return timedelta(days=1) if type(bound) is date else None


def _tightened(bounds: Range) -> Range:
    """A range of the same values, with closed bounds where the type is discrete."""
    low, high, low_closed, high_closed = bounds.low, bounds.high, bounds.low_closed, bounds.high_closed
    if not low_closed and _step(low) and low != date.max:
        low, low_closed = low + _step(low), True
    if not high_closed and _step(high) and high != date.min:
        high, high_closed = high - _step(high), True
    return Range(low, high, low_closed, high_closed)


def _lists_all(finite: Pattern, bounds: Range) -> bool:
    """Whether a list has every value between closed bounds of a discrete type."""
    step = _step(bounds.low)
    if step is None or _step(bounds.high) is None:
        return False
    inside = sum(matches(bounds, value) for value in _values(finite))
    return bool(inside == (bounds.high - bounds.low) // step + 1)
