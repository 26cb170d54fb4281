"""Cuts: the places between the values of a key column. A range of values lies between two of them.

Ranges as cuts need no distinction of open and closed bounds: what ends where something else begins has the same cut.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from punctuated.join.intake.keys import KeyCodec
from punctuated.kernels import layout as lay
from punctuated.model.pattern import Constant, Pattern, Range, interval, rank
from punctuated.model.times import key_microseconds

_RANGES = 256  # of which the codes are kept at hand
_LOWEST, _BEYOND = -(2**63), 2**63
_FIRST, _LAST = (0,), (2,)  # before and after every value


class Cut(NamedTuple):
    """A place in the order of the values, and how it is written: after one value, or before the next."""

    place: Any
    after: bool


class Stretch(NamedTuple):
    """Values between two cuts."""

    start: Cut
    stop: Cut


class CodeLine:
    """Values that are their own codes: a place is the first code behind it, so that neighbours touch."""

    def __init__(self, codec: KeyCodec) -> None:
        self._codec = codec
        self.codes = lru_cache(_RANGES)(self._find_codes)  # asked for several times while a range is handled

    def _find_codes(self, patterns: tuple[Pattern, ...]) -> tuple[int, int]:
        """The first and the last code of a range; none if the second is below the first."""
        return next(iter(self._codec.intervals(patterns)), (0, -1))

    def stretch(self, patterns: tuple[Pattern, ...]) -> Stretch | None:
        low, high = self.codes(patterns)
        if low > high:
            return None
        (bounds,) = patterns
        low_open = isinstance(bounds, Range) and not bounds.low_closed and bounds.low is not None
        high_closed = not isinstance(bounds, Range) or (bounds.high_closed and bounds.high is not None)
        return Stretch(Cut(low, low_open), Cut(high + 1, high_closed))

    def patterns(self, stretch: Stretch) -> tuple[Pattern, ...]:
        start, stop = stretch
        low = None if start.place == _LOWEST else self._value(start.place - start.after)
        high = None if stop.place == _BEYOND else self._value(stop.place - stop.after)
        return (interval(low, high, not start.after, stop.after),)

    def _value(self, code: int) -> Any:
        """As patterns hold it: times are microseconds."""
        (column,) = self._codec.decode(np.array([code], np.int64))
        if pa.types.is_timestamp(column.type):
            return key_microseconds(column)[0]
        return column[0].as_py()


class ValueLine:
    """Values that are compared by themselves: a place is right before or right after a value."""

    def stretch(self, patterns: tuple[Pattern, ...]) -> Stretch | None:
        (bounds,) = patterns
        if isinstance(bounds, Constant):
            return Stretch(_cut(bounds.value, False), _cut(bounds.value, True))
        assert isinstance(bounds, Range)
        start = Cut(_FIRST, False) if bounds.low is None else _cut(bounds.low, not bounds.low_closed)
        stop = Cut(_LAST, True) if bounds.high is None else _cut(bounds.high, bounds.high_closed)
        return Stretch(start, stop) if start.place < stop.place else None

    def patterns(self, stretch: Stretch) -> tuple[Pattern, ...]:
        start, stop = stretch
        low = None if start.place == _FIRST else start.place[1][1]
        high = None if stop.place == _LAST else stop.place[1][1]
        return (interval(low, high, not start.after, stop.after),)


def _cut(value: Any, after: bool) -> Cut:
    return Cut((1, rank(value), after), after)


def value_place(value: Any) -> tuple[Any, ...]:
    """A place within a value of a `ValueLine`, behind the cut before it and ahead of the cut after it."""
    return (1, rank(value), 0.5)


def writing(stretch: Stretch) -> int:
    """How both bounds are written, as one number."""
    return int(stretch.start.after) + 2 * int(stretch.stop.after)


def code_stretch(record: lay.Records) -> Stretch:
    """The stretch of codes that a record of `layout.range_type` holds."""
    low, high, how = int(record["low"]), int(record["high"]), int(record["writing"])
    return Stretch(Cut(low, bool(how & 1)), Cut(high + 1, bool(how & 2)))
