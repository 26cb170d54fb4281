"""Functions of timestamps and dates; a timestamp with a time zone is taken as a clock there shows it."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import PredicateError
from punctuated.join.expressions.literals import text, typed

_MOMENT = pa.timestamp("us")
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")
_SUNDAY = 7


def part(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A part of the date or the time of day."""
    return lambda value: of(_moments(value))


def day_of_week(value: Any) -> Any:
    """1 for Sunday up to 7 for Saturday, as in Spark."""
    return pc.day_of_week(value, count_from_zero=False, week_start=_SUNDAY)


def truncated(unit: Any, value: Any) -> Any:
    """The start of the hour, day, week (Monday) and so on that a moment is in."""
    given = text(unit, "date_trunc", "the unit")
    name = None if given is None else given.lower()
    if name is not None and name not in _UNITS:
        raise PredicateError(f"date_trunc: the unit is {given!r}; give one of {', '.join(_UNITS)}")
    moments = _moments(value)
    return pa.scalar(None, moments.type) if name is None else pc.floor_temporal(moments, unit=name)


def date(value: Any) -> Any:
    """The day."""
    return typed(value, _MOMENT).cast(pa.date32())


def epoch(value: Any) -> Any:
    """Seconds since 1970 began in UTC, with their fractions."""
    moments = _moments(value)
    micros = moments.cast(pa.timestamp("us", moments.type.tz)).cast(pa.int64())
    return pc.divide(micros.cast(pa.float64()), pa.scalar(1e6))


def _moments(value: Any) -> Any:
    """Dates as their first moments."""
    moments = typed(value, _MOMENT)
    return moments.cast(_MOMENT) if pa.types.is_date(moments.type) else moments
