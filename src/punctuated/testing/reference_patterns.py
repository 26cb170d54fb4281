"""Patterns in the oracle (PW-01): what they match, how they intersect, and which covers another.

Only `*` matches a null. Integers are discrete: `(2, 3)` is empty. The operators have code of their own for this.
"""

from collections.abc import Sequence
from typing import Any

from punctuated.model.pattern import EMPTY, Constant, Empty, OneOf, Pattern, Range, Wildcard

Patterns = tuple[Pattern, ...]


def matches(pattern: Pattern, value: Any) -> bool:
    """Whether a pattern matches a value."""
    if isinstance(pattern, Wildcard):
        return True
    if value is None or isinstance(pattern, Empty):
        return False
    if isinstance(pattern, Range):
        return _above_low(pattern, value) and _below_high(pattern, value)
    return value in listed(pattern)


def matches_all(patterns: Sequence[Pattern], values: Sequence[Any]) -> bool:
    """Whether each pattern matches the value at its position."""
    return all(matches(pattern, value) for pattern, value in zip(patterns, values, strict=True))


def listed(pattern: Constant | OneOf) -> tuple[Any, ...]:
    """The values of a constant or a list, ascending; null does not count."""
    values = (pattern.value,) if isinstance(pattern, Constant) else pattern.values
    return tuple(sorted(value for value in values if value is not None))


def is_empty(pattern: Pattern) -> bool:
    """Whether the pattern can match nothing."""
    if isinstance(pattern, Range) and pattern.low is not None and pattern.high is not None:
        pattern = _tight(pattern)
        closed = pattern.low_closed and pattern.high_closed
        return bool(pattern.low > pattern.high or (pattern.low == pattern.high and not closed))
    return isinstance(pattern, Empty)


def intersect(one: Pattern, two: Pattern) -> Pattern:
    """The pattern of the values that both match."""
    if isinstance(one, Wildcard) or isinstance(two, Empty):
        return two
    if isinstance(two, Wildcard) or isinstance(one, Empty):
        return one
    if isinstance(one, Constant | OneOf):
        return _enumerate([value for value in listed(one) if matches(two, value)])
    if isinstance(two, Constant | OneOf):
        return _enumerate([value for value in listed(two) if matches(one, value)])
    return _intersect_ranges(one, two)


def covers(wide: Patterns, narrow: Patterns) -> bool:
    """Whether everything that `narrow` matches is matched by `wide` too."""
    return all(_spelled(intersect(w, n)) == _spelled(intersect(n, n)) for w, n in zip(wide, narrow, strict=True))


def _spelled(pattern: Pattern) -> Pattern:
    """A bounded range of integers as a list, so that it can be compared with lists; other patterns as they are."""
    if not isinstance(pattern, Range):
        return pattern
    pattern = _tight(pattern)
    if type(pattern.low) is int and type(pattern.high) is int:
        return _enumerate(list(range(pattern.low, pattern.high + 1)))
    return pattern


def _above_low(bounds: Range, value: Any) -> bool:
    return bool(bounds.low is None or value > bounds.low or (bounds.low_closed and value == bounds.low))


def _below_high(bounds: Range, value: Any) -> bool:
    return bool(bounds.high is None or value < bounds.high or (bounds.high_closed and value == bounds.high))


def _tight(bounds: Range) -> Range:
    """A range with closed bounds that has the same integers."""
    low, high = bounds.low, bounds.high
    low_up = isinstance(low, int) and not bounds.low_closed
    high_down = isinstance(high, int) and not bounds.high_closed
    return Range(
        low + 1 if low_up else low,
        high - 1 if high_down else high,
        low_closed=bounds.low_closed or low_up,
        high_closed=bounds.high_closed or high_down,
    )


def _enumerate(values: list[Any]) -> Pattern:
    if not values:
        return EMPTY
    return Constant(values[0]) if len(values) == 1 else OneOf(tuple(values))


def _intersect_ranges(one: Range, two: Range) -> Pattern:
    one, two = _tight(one), _tight(two)
    lows = [(r.low, not r.low_closed) for r in (one, two) if r.low is not None]
    highs = [(r.high, r.high_closed) for r in (one, two) if r.high is not None]
    low, low_open = max(lows, default=(None, False))
    high, high_closed = min(highs, default=(None, True))
    both = Range(low, high, low_closed=not low_open, high_closed=high_closed)
    return EMPTY if is_empty(both) else both
