"""Durations, rates, windows and sources of punctuations in words."""

from collections.abc import Sequence

from punctuated.model.spec import StreamSpec
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow, show_duration


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
        span = show_duration(ours.span_us)
        return f"{show_duration(ours.offset_us)} to {span}" if ours.offset_us else span
    return f"until {ours.column!r}" if isinstance(ours, UntilWindow) else "none"


def lateness(stream: StreamSpec) -> str:
    """How late its tuples may be, in words."""
    return "watermark of its input" if stream.is_output else f"lateness {show_duration(stream.lateness_us)}"
