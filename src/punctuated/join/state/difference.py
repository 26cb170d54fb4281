"""What differs between a saved state and a query: of long descriptions only the parts that are not the same."""

from ast import literal_eval
from collections.abc import Mapping

from punctuated.model.window import show_duration

Described = str | list[str] | None
_DURATION = "_us"  # the end of names of attributes, and of windows as text
_STREAM, _WINDOW, _COLUMNS = "stream ", "window of ", "columns of "


def show_both(part: str, before: Described, here: Described) -> tuple[str, str]:
    """A part of a saved state and of a query, as shown to people."""
    if part.startswith(_STREAM):
        if not isinstance(before, str) or not isinstance(here, str):
            return _presence(before), _presence(here)
        saved, given = literal_eval(before), literal_eval(here)
        other = [name for name in {**saved, **given} if saved.get(name) != given.get(name)]
        return _attributes(saved, other), _attributes(given, other)
    if part.startswith(_WINDOW):
        return _window(before), _window(here)
    if part.startswith(_COLUMNS) and isinstance(before, list) and isinstance(here, list):
        return _only(before, here), _only(here, before)
    return _as_it_is(before), _as_it_is(here)


def _presence(described: Described) -> str:
    return "absent" if described is None else "one of its streams"


def _attributes(stream: Mapping[str, object], names: list[str]) -> str:
    return "declared with " + ", ".join(_attribute(name, stream.get(name)) for name in names)


def _attribute(name: str, value: object) -> str:
    """One thing that was said of a stream; durations as they are written.

    >>> _attribute("lateness_us", 60_000_000), _attribute("flag", None)
    ("lateness='1 min'", 'flag=None')
    """
    if name.endswith(_DURATION) and isinstance(value, int):
        return f"{name.removesuffix(_DURATION)}={show_duration(value)!r}"
    return f"{name.removesuffix(_DURATION)}={value!r}"


def _window(described: Described) -> str:
    """A window as `pt.stream` takes it, if it goes by time.

    >>> _window(["time, from 0 µs", "3600000000 µs"]), _window(["time, from 5 µs", "10 µs"]), _window(["None", ""])
    ('1 h', '5 µs to 10 µs', 'none')
    """
    if not isinstance(described, list) or not described[0].startswith("time, from "):
        return "none" if described == ["None", ""] else _as_it_is(described)
    begin, end = (int(text.removeprefix("time, from ").removesuffix(" µs")) for text in described)
    return f"{show_duration(begin)} to {show_duration(end)}" if begin else show_duration(end)


def _only(ours: list[str], theirs: list[str]) -> str:
    """The columns that only one has; where both have the same, it is their order that differs."""
    return ", ".join(column for column in ours if column not in theirs) or "without them"


def _as_it_is(described: Described) -> str:
    if described is None:
        return "absent"
    return described if isinstance(described, str) else ", ".join(text for text in described if text)
