"""Ranges in effect in the oracle: pieces of values, and which streams have ended them.

If the key is one column, pieces are disjoint: with each ending, all of them are cut at every edge and put together
again. Keys of several columns have no common order, so there a piece is a range as it came, and pieces may overlap.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

from punctuated.model.algorithm import Propagation
from punctuated.model.pattern import Pattern, Range
from punctuated.testing.reference_patterns import Patterns, covers, intersect, is_empty
from punctuated.testing.reference_state import Covered, OracleState, PatternEnding

Edge = tuple[Any, ...]  # between two values: before or after one of them, or at either end of all
OutputRanges = list[tuple[Patterns, int]]  # ranges that are over in the output, and their times


def cover(state: OracleState, side: int, ending: PatternEnding) -> OutputRanges:
    """Put a range into effect; returns the ranges for which the output is punctuated now."""
    if len(ending.patterns) == 1:
        return _cover_intervals(state, side, ending)
    return _cover_patterns(state, side, ending)


def settle(state: OracleState, watermark: float) -> None:
    """Forget the times that the output watermark has reached, and put neighbours together that are equal then."""
    for piece in (each for each in state.covered if not each.punctuated):
        for side, ts in piece.ends.items():
            if ts is not None and ts <= watermark:
                piece.ends[side] = None
                state.streams[side].settled = max(state.streams[side].settled, ts)
    if len(state.spec.left.key) == 1:
        state.covered = _glued(state.covered)
    else:
        state.covered = [each for each in state.covered if not _is_superfluous(state, each)]


def end_time(state: OracleState, piece: Covered, side: int) -> float:
    """When a stream ended these values; a settled time counts as the latest settled time of the stream."""
    ts = piece.ends[side]
    return state.streams[side].settled if ts is None else ts


def _propagates(state: OracleState) -> bool:
    return state.spec.algorithm.propagation is not Propagation.NONE


# One column


def _cover_intervals(state: OracleState, side: int, ending: PatternEnding) -> OutputRanges:
    over: list[Covered] = []
    pieces: list[Covered] = []
    known = [ending.patterns, *(each.patterns for each in state.covered)]
    edges = sorted({edge for (pattern,) in known for edge in _edges(pattern)})
    for low, high in pairwise(edges):
        piece = next((each for each in state.covered if _holds(each.patterns[0], low, high)), None)
        inside = _holds(ending.patterns[0], low, high)
        if piece is None and not inside:
            continue
        part = Covered((_between(low, high),), dict(piece.ends), piece.punctuated, piece.touched) if piece else None
        part = part or Covered((_between(low, high),), {}, False, state.touch)
        if inside and side not in part.ends:
            part.ends[side], part.touched = ending.ts, state.touch
        if inside and len(part.ends) == len(state.streams) and not part.punctuated and _propagates(state):
            part.punctuated, part.touched = True, state.touch
            over.append(replace(part))
        pieces.append(part)
    state.covered = pieces
    together: list[Covered] = []
    for part in over:
        if together and _edges(together[-1].patterns[0])[1] == _edges(part.patterns[0])[0]:
            last = together.pop()
            ends = {end: int(max(end_time(state, last, end), end_time(state, part, end))) for end in last.ends}
            part = Covered((_joined(last.patterns[0], part.patterns[0]),), dict(ends), True, part.touched)
        together.append(part)
    return [(part.patterns, int(max(end_time(state, part, end) for end in part.ends))) for part in together]


def glue(state: OracleState) -> None:
    """Put neighbours together that were ended alike."""
    if len(state.spec.left.key) == 1:
        state.covered = _glued(state.covered)


def _glued(pieces: Sequence[Covered]) -> list[Covered]:
    glued: list[Covered] = []
    for piece in pieces:
        last = glued[-1] if glued else None
        if last is not None and _are_neighbours(last, piece) and _are_ended_alike(last, piece):
            ends = {side: _later(ts, piece.ends[side]) for side, ts in last.ends.items()}
            patterns = (_joined(last.patterns[0], piece.patterns[0]),)
            glued[-1] = Covered(patterns, ends, piece.punctuated, max(last.touched, piece.touched))
        else:
            glued.append(piece)
    return glued


def _later(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else max(one, two)


def _are_ended_alike(one: Covered, two: Covered) -> bool:
    return one.punctuated == two.punctuated and (one.punctuated or one.ends == two.ends)


def _are_neighbours(one: Covered, two: Covered) -> bool:
    return _edges(one.patterns[0])[1] == _edges(two.patterns[0])[0]


def _edges(pattern: Pattern) -> tuple[Edge, Edge]:
    """The edges at which an interval begins and ends; between two neighbouring integers there is only one edge."""
    assert isinstance(pattern, Range)
    low = (0,) if pattern.low is None else _edge(pattern.low, after=not pattern.low_closed)
    high = (2,) if pattern.high is None else _edge(pattern.high, after=pattern.high_closed)
    return low, high


def _edge(value: Any, after: bool) -> Edge:
    return (1, value + 1, False) if after and isinstance(value, int) else (1, value, after)


def _between(low: Edge, high: Edge) -> Range:
    to = high[1] if high != (2,) else None
    if high != (2,) and isinstance(to, int):
        return Range(low[1] if low != (0,) else None, to - 1)
    low_closed, high_closed = low == (0,) or not low[2], high == (2,) or high[2]
    return Range(low[1] if low != (0,) else None, to, low_closed=low_closed, high_closed=high_closed)


def _joined(one: Pattern, two: Pattern) -> Range:
    return _between(_edges(one)[0], _edges(two)[1])


def _holds(pattern: Pattern, low: Edge, high: Edge) -> bool:
    first, last = _edges(pattern)
    return first <= low and high <= last


# Several columns


def _cover_patterns(state: OracleState, side: int, ending: PatternEnding) -> OutputRanges:
    if any(side in each.ends and covers(each.patterns, ending.patterns) for each in state.covered):
        return []
    over: OutputRanges = []
    others = [stream.side for stream in state.streams if stream.side != side]
    theirs = [[each for each in state.covered if other in each.ends and not each.punctuated] for other in others]
    state.covered.append(Covered(ending.patterns, {side: ending.ts}, False, state.touch))
    for pieces in product(*theirs) if _propagates(state) else []:
        common = ending.patterns
        for each in pieces:
            common = tuple(intersect(p, q) for p, q in zip(common, each.patterns, strict=True))
        is_over = any(out.punctuated and covers(out.patterns, common) for out in state.covered)
        if is_over or any(is_empty(pattern) for pattern in common):
            continue
        ts = int(max(ending.ts, *(end_time(state, *each) for each in zip(pieces, others, strict=True))))
        state.covered = [kept for kept in state.covered if not covers(common, kept.patterns)]
        state.covered.append(Covered(common, {end.side: ts for end in state.streams}, True, state.touch))
        over.append((common, ts))
    return over


def _is_superfluous(state: OracleState, piece: Covered) -> bool:
    """Whether a wider piece of the same stream covers this one, and no time makes a difference any more."""
    if piece.punctuated or any(ts is not None for ts in piece.ends.values()):
        return False
    wider = [each for each in state.covered if each is not piece and not each.punctuated and each.ends == piece.ends]
    return any(covers(each.patterns, piece.patterns) for each in wider)
