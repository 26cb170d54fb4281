"""Reach: how far apart in time the members of a result may be, in a join of more than two streams.

Streams are the nodes of a graph, window constraints its edges (WJ-08). All forms of the W-join end as one matrix:
`reach[i][j]` is how much later than a tuple of stream i its partner of stream j may be. The forms differ in how
they fill it: one window for all (form 1), a window per pair (form 2), some pairs missing (form 3), windows of streams.
Missing bounds, and those wider than a path through other streams, follow from the shortest path (WJ-28, XD-21).
A directed window (WJ-07) is a pair of bounds, too: B at most `w` later than A, A at most 0 later than B.
"""

from collections.abc import Mapping, Sequence
from itertools import product

from punctuated.errors import WindowError
from punctuated.model.arguments import hint_of
from punctuated.model.times import UNBOUNDED
from punctuated.model.window import Duration, TimeWindow, Window, parse_duration

Reach = tuple[tuple[int, ...], ...]
Within = Duration | Mapping[tuple[str, str], Duration]
Steps = Duration | Sequence[Duration]


def reach_within(names: Sequence[str], within: Within | Steps) -> Reach:
    """The reach of members that are at most this far apart: one window for all pairs, or one for each named pair.

    >>> reach_within("AB", 5)
    ((0, 5), (5, 0))
    >>> reach_within("ABC", {("A", "B"): 5, ("B", "C"): 7})[0]
    (0, 5, 12)
    """
    if isinstance(within, Sequence) and not isinstance(within, str):
        raise WindowError(f"within={within!r}: give one duration for all, or a duration for each pair of streams")
    if not isinstance(within, Mapping):
        span = _span(within, "within=")
        return _closed([[0 if i == j else span for j in range(len(names))] for i in range(len(names))])
    bounds = _no_bounds(len(names))
    for pair, window in within.items():
        i, j = _indices(names, pair)
        if bounds[i][j] != UNBOUNDED:
            raise WindowError(f"within= names the pair {names[i]!r}, {names[j]!r} twice; leave one of them out")
        bounds[i][j] = bounds[j][i] = _span(window, f"within=, pair {names[i]!r}, {names[j]!r}")
    _check_connected(names, bounds)
    return _closed(bounds)


def reach_along(names: Sequence[str], within: Within | Steps) -> Reach:
    """The reach of a path: each tuple comes at the time of the one before it, or at most its window later (WJ-30).

    >>> reach_along("ABC", [5, 7])
    ((0, 5, 12), (0, 0, 7), (0, 0, 0))
    """
    if isinstance(within, Mapping):
        raise WindowError("a path takes one duration for all steps in within=, or a list with one for each")
    one_each = isinstance(within, Sequence) and not isinstance(within, str)
    windows: list[Duration] = list(within) if one_each else [within] * (len(names) - 1)  # type: ignore[arg-type,list-item]
    if len(windows) != len(names) - 1:
        raise WindowError(
            f"a path of {len(names)} streams has {len(names) - 1} steps, but within= gives {len(windows)} windows; "
            "give one for each step, or one for all"
        )
    bounds = _no_bounds(len(names))
    for i, window in enumerate(windows):
        bounds[i][i + 1], bounds[i + 1][i] = _span(window, f"within=, step {names[i]!r} to {names[i + 1]!r}"), 0
    return _closed(bounds)


def reach_by_windows(names: Sequence[str], windows: Sequence[Window]) -> Reach:
    """The reach where a tuple can be joined with later tuples of all other streams for the window of its own.

    >>> reach_by_windows("AB", [TimeWindow(5), None])[0]
    (0, 5)
    """
    bounds = _no_bounds(len(names))
    for (i, window), j in product(enumerate(windows), range(len(names))):
        if window is None or i == j:
            continue
        if not isinstance(window, TimeWindow) or window.offset_us:
            raise WindowError(
                f"stream {names[i]!r}: a join of more than two streams takes windows of a length, not {window!r}; "
                "give a duration, or leave the window out and give within="
            )
        bounds[i][j] = window.span_us
    return _closed(bounds)


def reversed_reach(reach: Reach) -> Reach:
    """The reach that holds where the given one holds with time reversed.

    >>> reversed_reach(reach_along("AB", 5))
    ((0, 0), (5, 0))
    """
    return tuple(zip(*reach, strict=True))


def farthest(reaches: Sequence[Reach]) -> Reach:
    """The reach of members for which any one of these reaches holds."""
    return tuple(tuple(map(max, *rows)) if len(rows) > 1 else rows[0] for rows in zip(*reaches, strict=True))


def _no_bounds(n: int) -> list[list[int]]:
    return [[0 if i == j else UNBOUNDED for j in range(n)] for i in range(n)]


def _span(value: Duration, what: str) -> int:
    span = parse_duration(value)
    if span < 0:
        raise WindowError(f"{what}: a window cannot be negative, but {value!r} is; give 0 or more")
    return span


def _indices(names: Sequence[str], pair: object) -> tuple[int, int]:
    if not isinstance(pair, tuple) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
        raise WindowError(f"within= has the pair {pair!r}; write the names of two streams, such as ('A', 'B')")
    for name in pair:
        if name not in names:
            hint = hint_of(name, names, "they are")
            raise WindowError(f"within= names the stream {name!r}, but none has that name; {hint}")
    i, j = (list(names).index(name) for name in pair)
    if i == j:
        raise WindowError(f"within= pairs the stream {names[i]!r} with itself; name two streams")
    return i, j


def _check_connected(names: Sequence[str], bounds: Sequence[Sequence[int]]) -> None:
    parts: list[set[int]] = []
    for i, row in enumerate(bounds):
        linked = {i, *(j for j, bound in enumerate(row) if bound != UNBOUNDED)}
        apart = [part for part in parts if not part & linked]
        parts = [*apart, linked.union(*(part for part in parts if part & linked))]
    if len(parts) > 1:
        shown = " and ".join("{" + ", ".join(names[i] for i in sorted(part)) + "}" for part in parts)
        raise WindowError(f"within= leaves {shown} without a window between them; name a pair that connects them")


def _closed(bounds: Sequence[Sequence[int]]) -> Reach:
    """Every bound as tight as the others imply: the shortest path between all pairs, by Floyd and Warshall."""
    closed = [list(row) for row in bounds]
    for k, i, j in product(range(len(closed)), repeat=3):
        closed[i][j] = min(closed[i][j], closed[i][k] + closed[k][j])
    return tuple(map(tuple, closed))
