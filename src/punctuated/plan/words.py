"""Durations, rates, windows and sources of punctuations in words."""

from collections.abc import Sequence

from punctuated.model.spec import StreamSpec
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow

_UNITS_US = {"day": 86_400_000_000, "h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1_000, "µs": 1}


def duration(us: int) -> str:
    """In the largest unit of which it is a whole number.

    >>> duration(43_200_000_000), duration(90_000_000), duration(5_500), duration(0)
    ('12 h', '90 s', '5500 µs', '0 s')
    """
    unit, size = next((unit, size) for unit, size in _UNITS_US.items() if us % size == 0)
    return "0 s" if us == 0 else f"{us // size} {unit}{'s' if unit == 'day' and us > size else ''}"


def count(n: int, what: str) -> str:
    """So many of something.

    >>> count(1, "tuple"), count(1200, "tuple")
    ('1 tuple', '1,200 tuples')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def rate(per_second: float) -> str:
    """In the unit that shows it best.

    >>> rate(1234.5), rate(1 / 7200)
    ('1,234.5/s', '12.0/day')
    """
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:,.1f}/{unit}"
    return f"{per_second * 86400:,.1f}/day"


def cpu(seconds: float) -> str:
    """A time of work, in the unit that shows it best.

    >>> cpu(7.241), cpu(0.0000383), cpu(1e-9)
    ('7.24 s', '38.3 µs', 'less than 1 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return "less than 1 µs"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names in a row.

    >>> listed(["A", "B", "C"]), listed(["A"])
    ('A, B and C', 'A')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def window(stream: StreamSpec) -> str:
    """A window in words."""
    ours = stream.window
    if isinstance(ours, CountWindow):
        per = " of each key" if ours.per_key else ", in one bucket"
        return f"last {count(ours.n, 'tuple')}{per}"
    if isinstance(ours, TimeWindow):
        return f"{duration(ours.offset_us)} to {duration(ours.span_us)}" if ours.offset_us else duration(ours.span_us)
    return f"until {ours.column!r}" if isinstance(ours, UntilWindow) else "none"


def lateness(stream: StreamSpec) -> str:
    """How late its tuples may be, in words."""
    return "watermark of its input" if stream.is_output else f"lateness {duration(stream.lateness_us)}"
