"""Windows: how long a tuple stays joinable for later tuples of the other stream (PW-10, KN-03).

Bounds are closed (PW-11): a tuple at `ts` with a window of `span_us` still meets a tuple at `ts + span_us`.
"""

import re
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction

from punctuated.errors import WindowError
from punctuated.model.arguments import LARGEST, is_whole

Duration = str | int | timedelta

_UNITS_US = {
    "microsecond": 1,
    "us": 1,
    "µs": 1,
    "millisecond": 1_000,
    "ms": 1_000,
    "second": 1_000_000,
    "sec": 1_000_000,
    "s": 1_000_000,
    "minute": 60_000_000,
    "min": 60_000_000,
    "m": 60_000_000,
    "hour": 3_600_000_000,
    "h": 3_600_000_000,
    "day": 86_400_000_000,
    "d": 86_400_000_000,
    "week": 604_800_000_000,
    "w": 604_800_000_000,
}
_SHOWN_US = {"day": 86_400_000_000, "h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1_000, "µs": 1}
# Read term by term from where the last one ended: no text takes longer than its length, and no number is too long.
_TERM = re.compile(r"([-+]?[0-9]{1,20}(?:\.[0-9]{1,20})?)\s*+([a-zµ]++)[\s,]*+")


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A window of tuples that can be joined with tuples `offset_us` to `span_us` later, both included."""

    span_us: int
    offset_us: int = 0

    def __post_init__(self) -> None:
        if self.offset_us < 0 or self.span_us < 0:
            raise WindowError(
                "a window cannot be negative; to look back in time, give the other stream a window of that length"
            )
        if self.offset_us > self.span_us:
            raise WindowError(f"the window's lower bound {self.offset_us} µs exceeds its upper bound {self.span_us} µs")

    def admits(self, distance_us: int) -> bool:
        """Whether a tuple this much later is inside the window.

        >>> TimeWindow(5).admits(5), TimeWindow(5).admits(6)
        (True, False)
        """
        return self.offset_us <= distance_us <= self.span_us


@dataclass(frozen=True, slots=True)
class CountWindow:
    """A window of the last `n` tuples of the stream, or of each key, in the order of processing."""

    n: int
    per_key: bool = False

    def __post_init__(self) -> None:
        if self.n < 1:
            raise WindowError(f"rows({self.n}) holds no tuple: give a number of 1 or more")
        if self.n > LARGEST:
            raise WindowError(f"rows({self.n}) is more than {LARGEST}; leave the window out to make it unbounded")


@dataclass(frozen=True, slots=True)
class UntilWindow:
    """A window of tuples that can be joined up to the time in a column of their own, included.

    Null means no end; a tuple whose end lies before its own time is not joinable with any later one.
    """

    column: str


Window = TimeWindow | CountWindow | UntilWindow | None


def parse_duration(duration: Duration) -> int:
    """A duration in microseconds, from text, a `timedelta` or a number of microseconds.

    >>> parse_duration("12 hours"), parse_duration("1 min 30 s")
    (43200000000, 90000000)
    """
    if is_whole(duration):
        us = int(duration)  # type: ignore[arg-type]
    elif isinstance(duration, timedelta):
        us = duration // timedelta(microseconds=1)
    elif isinstance(duration, str):
        us = _parse_text(duration)
    else:
        raise WindowError(f"{duration!r} is not a duration; write one such as '12 hours'")
    if abs(us) > LARGEST:
        raise WindowError(f"{duration!r} is longer than {LARGEST} µs; leave the window out to make it unbounded")
    return us


def show_duration(us: int) -> str:
    """A duration in the largest unit of which it is a whole number.

    >>> show_duration(43_200_000_000), show_duration(90_000_000), show_duration(5_500), show_duration(0)
    ('12 h', '90 s', '5500 µs', '0 s')
    """
    unit, size = next((unit, size) for unit, size in _SHOWN_US.items() if us % size == 0)
    return "0 s" if us == 0 else f"{us // size} {unit}{'s' if unit == 'day' and us > size else ''}"


def _parse_text(text: str) -> int:
    lowered = text.strip().lower()
    at, us = 0, 0
    while at < len(lowered) or not lowered:
        term = _TERM.match(lowered, at)
        if term is None:
            raise WindowError(
                f"cannot read the duration {text!r}; write a number and a unit, such as '12 hours' or '500 ms'"
            )
        us += _term_us(text, term[1], term[2])
        at = term.end()
    return us


def _term_us(text: str, amount: str, unit: str) -> int:
    name = unit if unit in _UNITS_US else unit.removesuffix("s")
    if name not in _UNITS_US:
        raise WindowError(f"unknown unit {unit!r} in the duration {text!r}; known: {', '.join(sorted(_UNITS_US))}")
    return round(Fraction(amount) * _UNITS_US[name])


def between(lower: Duration, upper: Duration) -> TimeWindow:
    """An offset window: a tuple can be joined with tuples that are `lower` to `upper` later, both included."""
    return TimeWindow(span_us=parse_duration(upper), offset_us=parse_duration(lower))


def rows(n: int, per: str | None = None) -> CountWindow:
    """A count window: the last `n` tuples of the stream, or with `per="key"` the last `n` of each key."""
    if per not in (None, "key"):
        raise WindowError(f"rows(per={per!r}) is unknown; use per='key' or leave it out")
    if not is_whole(n):
        raise WindowError(f"rows({n!r}): the number of tuples must be an integer")
    return CountWindow(n=int(n), per_key=per == "key")


def until(column: str) -> UntilWindow:
    """Each tuple has a window of its own: it can be joined up to the time in this column, included.

    Null means no end. An end before the tuple's own time means an empty window.

    >>> until("expires")
    UntilWindow(column='expires')
    """
    if not isinstance(column, str):
        raise WindowError(f"until({column!r}): give the name of a column of times")
    return UntilWindow(column)


def as_window(window: "Window | Duration") -> Window:
    """The window that an argument `window=` means: a duration is one of that length."""
    if window is None or isinstance(window, TimeWindow | CountWindow | UntilWindow):
        return window
    return TimeWindow(span_us=parse_duration(window))
