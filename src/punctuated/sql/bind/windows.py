"""Windows as queries write them become windows of streams; WINDOW and DWINDOW become `within=` and paths."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from punctuated.model.window import CountWindow, TimeWindow, UntilWindow, between, parse_duration
from punctuated.model.window import Window as StreamWindow
from punctuated.sql.bind.names import Scope, is_length
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unknown
from punctuated.sql.parse.syntax import Length, Name, WindowClause, WithinClause, match

Duration = str | int | timedelta


def stream_window(
    window: WindowClause, columns: Sequence[str], key: Sequence[str], values: Mapping[str, Any]
) -> StreamWindow:
    """The window of a stream with these columns and this key; `values` has lengths that go by a name."""
    with at(window.position):
        if window.kind == "unbounded":
            return None
        if window.kind == "now":
            return TimeWindow(0)
        if window.kind == "until":
            return UntilWindow(_column(window.columns[0], columns))
        if window.kind == "rows":
            return _rows(window, columns, key)
        lengths = [duration(each, values) for each in window.lengths]
        return between(*lengths) if window.kind == "between" else TimeWindow(parse_duration(lengths[0]))


def duration(length: Length, values: Mapping[str, Any]) -> Duration:
    """A length of time; one that goes by a name is among the values."""
    if not length.is_name:
        with at(length.position):
            parse_duration(length.value)
        return length.value
    given = {name: value for name, value in values.items() if is_length(value)}
    name = match(str(length.value), given)
    if name is None:
        raise unknown("length of time", str(length.value), given, length.position)
    value: Duration = given[name]
    with at(length.position):
        parse_duration(value)
    return value


def bound_within(
    near: Sequence[WithinClause], scope: Scope, values: Mapping[str, Any]
) -> Duration | dict[tuple[str, str], Duration]:
    """What WINDOW says, as `pt.join` takes it."""
    if not near[0].streams:
        return duration(near[0].length, values)
    within = dict[tuple[str, str], Duration]()
    for each in near:
        pair = _pair(each, scope)
        if pair in within or pair[::-1] in within:
            raise SqlError(f"the window of {pair[0]} and {pair[1]} is given twice", each.position)
        within[pair] = duration(each.length, values)
    return within


def bound_path(
    near: Sequence[WithinClause], scope: Scope, values: Mapping[str, Any]
) -> tuple[list[int], list[Duration]]:
    """What DWINDOW says: the streams in the order of the path, and how far each is from the one before it."""
    steps = {pair[0]: (pair[1], each) for each in near for pair in [_pair(each, scope)]}
    reached = {following for following, _ in steps.values()}
    starts = [name for name in steps if name not in reached]
    if len(starts) != 1 or len(steps) < len(near) or len(reached) < len(near) or len(near) + 1 != len(scope.aliases):
        message = "DWINDOW must lead along all streams of FROM, each once: DWINDOW (A, B) = … AND DWINDOW (B, C) = …"
        raise SqlError(message, _all(near))
    order, lengths = [starts[0]], list[Duration]()
    while order[-1] in steps:
        following, each = steps[order[-1]]
        order.append(following)
        lengths.append(duration(each.length, values))
    if len(order) < len(scope.aliases):
        raise SqlError("DWINDOW leads in a circle: a path passes each stream once", _all(near))
    return [scope.aliases.index(name) for name in order], lengths


def _all(near: Sequence[WithinClause]) -> SourceSpan:
    return near[0].position.to(near[-1].position)


def _pair(near: WithinClause, scope: Scope) -> tuple[str, str]:
    first, second = (_alias(name, scope) for name in near.streams)
    if first == second:
        raise SqlError("a window is between two streams, not one and itself", near.position)
    return first, second


def _alias(name: Name, scope: Scope) -> str:
    return scope.aliases[scope.stream(name.text, name.position, quoted=name.quoted)]


def _rows(window: WindowClause, columns: Sequence[str], key: Sequence[str]) -> CountWindow:
    assert window.n is not None
    named = [_column(name, columns) for name in window.columns]
    if named and set(named) != set(key):
        wanted = ", ".join(key) or "there is none"
        message = f"PARTITION BY must name the join key, which is: {wanted}"
        raise SqlError(message, window.columns[0].position.to(window.columns[-1].position), expected=wanted)
    return CountWindow(window.n, per_key=bool(named))


def _column(name: Name, columns: Sequence[str]) -> str:
    found = match(name.text, columns, quoted=name.quoted)
    if found is None:
        raise unknown("column", name.text, columns, name.position)
    return found
