"""Windows as queries write them become windows of streams; WINDOW and DWINDOW become `within=` and paths."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from punctuated.model.window import CountWindow, TimeWindow, UntilWindow, Window, between, parse_duration
from punctuated.sql.bind.names import Scope, is_length
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unknown
from punctuated.sql.parse.syntax import Length, Name, WindowClause, WithinClause, match

Duration = str | int | timedelta


# In brackets


def stream_window(
    window: WindowClause, columns: Sequence[str], key: Sequence[str], arguments: Mapping[str, Any]
) -> Window:
    """The window of a stream with these columns and this key; `arguments` has the lengths that have a name."""
    with at(window.position):
        if window.kind == "unbounded":
            return None
        if window.kind == "now":
            return TimeWindow(0)
        if window.kind == "until":
            return UntilWindow(_column(window.columns[0], columns))
        if window.kind == "rows":
            return _rows(window, columns, key)
        lengths = [_duration(each, arguments) for each in window.lengths]
        return between(*lengths) if window.kind == "between" else TimeWindow(parse_duration(lengths[0]))


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


def _duration(length: Length, arguments: Mapping[str, Any]) -> Duration:
    """A length of time as the API takes it; one with a name is looked up in the arguments."""
    if not length.is_name:
        with at(length.position):
            parse_duration(length.value)
        return length.value
    known = {name: value for name, value in arguments.items() if is_length(value)}
    name = match(str(length.value), known)
    if name is None:
        raise unknown("length of time", str(length.value), known, length.position)
    value: Duration = known[name]
    with at(length.position):
        parse_duration(value)
    return value


# WINDOW and DWINDOW


def bound_within(
    clauses: Sequence[WithinClause], scope: Scope, arguments: Mapping[str, Any]
) -> Duration | dict[tuple[str, str], Duration]:
    """WINDOW clauses as the `within=` of `pt.join`."""
    if not clauses[0].streams:
        return _duration(clauses[0].length, arguments)
    within = dict[tuple[str, str], Duration]()
    for each in clauses:
        pair = _pair(each, scope)
        if pair in within or pair[::-1] in within:
            raise SqlError(f"the window of {pair[0]} and {pair[1]} is given twice", each.position)
        within[pair] = _duration(each.length, arguments)
    return within


def bound_path(
    clauses: Sequence[WithinClause], scope: Scope, arguments: Mapping[str, Any]
) -> tuple[list[int], list[Duration]]:
    """DWINDOW clauses as a path: the streams in its order, and how far each may be from the one before it."""
    steps = {pair[0]: (pair[1], each) for each in clauses for pair in [_pair(each, scope)]}
    reached = {following for following, _ in steps.values()}
    starts = [name for name in steps if name not in reached]
    n = len(clauses)
    if len(starts) != 1 or len(steps) < n or len(reached) < n or n + 1 != len(scope.aliases):
        message = "DWINDOW must lead along all streams of FROM, each once: DWINDOW (A, B) = … AND DWINDOW (B, C) = …"
        raise SqlError(message, _whole(clauses))
    order, lengths = [starts[0]], list[Duration]()
    while order[-1] in steps:
        following, each = steps[order[-1]]
        order.append(following)
        lengths.append(_duration(each.length, arguments))
    if len(order) < len(scope.aliases):
        raise SqlError("DWINDOW leads in a circle: a path passes each stream once", _whole(clauses))
    return [scope.aliases.index(name) for name in order], lengths


def _whole(clauses: Sequence[WithinClause]) -> SourceSpan:
    return clauses[0].position.to(clauses[-1].position)


def _pair(clause: WithinClause, scope: Scope) -> tuple[str, str]:
    first, second = (_alias(name, scope) for name in clause.streams)
    if first == second:
        raise SqlError("a window is between two streams, not one and itself", clause.position)
    return first, second


def _alias(name: Name, scope: Scope) -> str:
    return scope.aliases[scope.stream(name.text, name.position, quoted=name.quoted)]
