"""Whether a saved state fits a query: both are described part by part, and an error says which part differs, and how.

A smaller window, new columns, and going beyond memory do fit; everything else must be the same.
"""

from ast import literal_eval
from collections.abc import Mapping
from dataclasses import MISSING, fields
from enum import Enum, auto

from punctuated.errors import SnapshotError
from punctuated.model.spec import StreamSpec
from punctuated.model.window import show_duration

FORMAT = 6
OF_STREAM, _WINDOW, _COLUMNS = "stream ", "window of ", "columns of "
BEYOND_MEMORY = "state beyond memory (memory=)"
_DURATION = "_us"  # the end of names of attributes, and of windows as text
Fingerprint = dict[str, str | list[str]]
Described = str | list[str] | None
_DEFAULTS = {each.name: each.default for each in fields(StreamSpec) if each.default is not MISSING}


class Default(Enum):
    """The value of an attribute that only another version of this package has."""

    UNKNOWN = auto()


def check(saved: Fingerprint, now: Fingerprint) -> None:
    """Raise if a state does not fit a query; a smaller window and new columns do fit."""
    if saved.get("format") != now.get("format"):
        raise SnapshotError(
            f"the saved state has format {saved.get('format')}, and this version of punctuated reads and writes "
            f"format {now.get('format')}; let the version that wrote it finish, or start with a new checkpoint"
        )
    for part in {**now, **saved}:
        before, here = saved.get(part), now.get(part)
        if before != here and not _may_differ(part, before, here):
            then, now_shown = show_both(part, before, here)
            raise SnapshotError(
                f"the saved state is of another query: {_whose(part, saved, now)} is {then}, here it is {now_shown}; "
                "start with a new checkpoint, or go back to the old definition"
            )


def _whose(part: str, saved: Fingerprint, now: Fingerprint) -> str:
    """The part; if its stream is not in both, also which streams the state is of."""
    if not part.startswith(OF_STREAM) or (part in saved and part in now):
        return f"its {part}"
    names = [each.removeprefix(OF_STREAM) for each in saved if each.startswith(OF_STREAM)]
    return f"it has the streams {' and '.join(names)}; its {part}"


def _may_differ(part: str, before: Described, here: Described) -> bool:
    if part == BEYOND_MEMORY:
        return before is None  # what was in memory may go to disk; what is on disk would be missing without memory=
    if part.startswith(OF_STREAM) and isinstance(before, str) and isinstance(here, str):
        return not _differing(before, here)
    if not isinstance(before, list) or not isinstance(here, list):
        return False
    if part.startswith(_WINDOW):
        return before[0] == here[0] and before[0].startswith("time") and _span(here) <= _span(before)
    return part.startswith(_COLUMNS) and [column for column in here if column in before] == before


def _span(window: list[str]) -> int:
    return int(window[1].split()[0])


# How differences are shown


def show_both(part: str, before: Described, here: Described) -> tuple[str, str]:
    """A part of a saved state and of a query, as shown to people."""
    if part.startswith(OF_STREAM):
        if not isinstance(before, str) or not isinstance(here, str):
            return _presence(before), _presence(here)
        names = _differing(before, here)
        return _attributes(literal_eval(before), names), _attributes(literal_eval(here), names)
    if part.startswith(_WINDOW):
        return _shown_window(before), _shown_window(here)
    if part.startswith(_COLUMNS) and isinstance(before, list) and isinstance(here, list):
        return _only(before, here), _only(here, before)
    return _as_it_is(before), _as_it_is(here)


def _presence(described: Described) -> str:
    return "absent" if described is None else "one of its streams"


def _differing(before: str, here: str) -> list[str]:
    """The attributes of a stream whose values are not the same in both declarations."""
    saved, declared = literal_eval(before), literal_eval(here)
    return [name for name in saved | declared if _value(saved, name) != _value(declared, name)]


def _attributes(stream: Mapping[str, object], names: list[str]) -> str:
    return "declared with " + ", ".join(_attribute(name, _value(stream, name)) for name in names)


def _value(stream: Mapping[str, object], name: str) -> object:
    """An attribute of a declared stream; one that is not listed has its default, whatever that was."""
    return stream.get(name, _DEFAULTS.get(name, Default.UNKNOWN))


def _attribute(name: str, value: object) -> str:
    """An attribute of a declared stream; durations as users write them.

    >>> _attribute("lateness_us", 60_000_000), _attribute("flag", None), _attribute("color", Default.UNKNOWN)
    ("lateness='1 min'", 'flag=None', 'the default color')
    """
    if value is Default.UNKNOWN:
        return f"the default {name.removesuffix(_DURATION)}"
    if name.endswith(_DURATION) and isinstance(value, int):
        return f"{name.removesuffix(_DURATION)}={show_duration(value)!r}"
    return f"{name.removesuffix(_DURATION)}={value!r}"


def _shown_window(described: Described) -> str:
    """A window as `pt.stream` takes it, if it goes by time.

    >>> _shown_window(["time, from 0 µs", "3600000000 µs"]), _shown_window(["time, from 5 µs", "10 µs"])
    ('1 h', '5 µs to 10 µs')
    >>> _shown_window(["None", ""])
    'none'
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
