"""Range endings in the oracle: which values ranges have ended. If the key is one column, the pieces are disjoint.

After every change, all pieces are cut at every bound and put together again. Keys of several columns have no common
order: for them a piece is a range as it came.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from punctuated.model.algorithm import Propagation
from punctuated.model.pattern import Pattern, Range
from punctuated.testing.reference_patterns import Patterns, covers, intersect, is_empty
from punctuated.testing.reference_state import Covered, PatternEnding

if TYPE_CHECKING:
    from punctuated.testing.reference_streams import StreamsReference

Bound = tuple[Any, ...]  # a place between values: before or after one of them, or at either end of all
Said = list[tuple[Patterns, int]]  # output ranges and their times


def cover(join: "StreamsReference", side: int, ending: PatternEnding) -> Said:
    """The range takes effect: what is covered changes, and the output may be punctuated."""
    if len(ending.patterns) == 1:
        return _cover_stretches(join, side, ending)
    return _cover_patterns(join, side, ending)


def settle(join: "StreamsReference", watermark: float) -> None:
    """Forget times that the output watermark has reached; neighbours that are then equal become one piece."""
    for piece in (each for each in join.covered if not each.punctuated):
        for side, ts in piece.ends.items():
            if ts is not None and ts <= watermark:
                piece.ends[side] = None
                join.streams[side].settled = max(join.streams[side].settled, ts)
    if len(join.spec.left.key) == 1:
        join.covered = _glued(join.covered)
    else:
        join.covered = [each for each in join.covered if not _is_superfluous(join, each)]


def end_time(join: "StreamsReference", piece: Covered, side: int) -> float:
    """When the stream ended these values; all settled ranges have the time of the latest one."""
    ts = piece.ends[side]
    return join.streams[side].settled if ts is None else ts


def _propagates(join: "StreamsReference") -> bool:
    return join.spec.algorithm.propagation is not Propagation.NONE


# One column


def _cover_stretches(join: "StreamsReference", side: int, ending: PatternEnding) -> Said:
    said: list[Covered] = []
    pieces: list[Covered] = []
    known = [ending.patterns, *(each.patterns for each in join.covered)]
    bounds = sorted({bound for (pattern,) in known for bound in _bounds(pattern)})
    for low, high in pairwise(bounds):
        piece = next((each for each in join.covered if _holds(each.patterns[0], low, high)), None)
        inside = _holds(ending.patterns[0], low, high)
        if piece is None and not inside:
            continue
        part = Covered((_between(low, high),), dict(piece.ends), piece.punctuated, piece.touched) if piece else None
        part = part or Covered((_between(low, high),), {}, False, join.touch)
        if inside and side not in part.ends:
            part.ends[side], part.touched = ending.ts, join.touch
        if inside and len(part.ends) == len(join.streams) and not part.punctuated and _propagates(join):
            part.punctuated, part.touched = True, join.touch
            said.append(replace(part))
        pieces.append(part)
    join.covered = pieces
    together: list[Covered] = []
    for part in said:
        if together and _bounds(together[-1].patterns[0])[1] == _bounds(part.patterns[0])[0]:
            last = together.pop()
            ends = {end: int(max(end_time(join, last, end), end_time(join, part, end))) for end in last.ends}
            part = Covered((_joined(last.patterns[0], part.patterns[0]),), dict(ends), True, part.touched)
        together.append(part)
    return [(part.patterns, int(max(end_time(join, part, end) for end in part.ends))) for part in together]


def glue(join: "StreamsReference") -> None:
    """Neighbours that were ended alike become one piece."""
    if len(join.spec.left.key) == 1:
        join.covered = _glued(join.covered)


def _glued(pieces: Sequence[Covered]) -> list[Covered]:
    glued: list[Covered] = []
    for piece in pieces:
        last = glued[-1] if glued else None
        if last is not None and _are_neighbours(last, piece) and _stand_alike(last, piece):
            ends = {side: _later(ts, piece.ends[side]) for side, ts in last.ends.items()}
            patterns = (_joined(last.patterns[0], piece.patterns[0]),)
            glued[-1] = Covered(patterns, ends, piece.punctuated, max(last.touched, piece.touched))
        else:
            glued.append(piece)
    return glued


def _later(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else max(one, two)


def _stand_alike(one: Covered, two: Covered) -> bool:
    return one.punctuated == two.punctuated and (one.punctuated or one.ends == two.ends)


def _are_neighbours(one: Covered, two: Covered) -> bool:
    return _bounds(one.patterns[0])[1] == _bounds(two.patterns[0])[0]


def _bounds(pattern: Pattern) -> tuple[Bound, Bound]:
    """Where an interval begins and ends; between two neighbouring integers there is only one place."""
    assert isinstance(pattern, Range)
    low = (0,) if pattern.low is None else _place(pattern.low, after=not pattern.low_closed)
    high = (2,) if pattern.high is None else _place(pattern.high, after=pattern.high_closed)
    return low, high


def _place(value: Any, after: bool) -> Bound:
    return (1, value + 1, False) if after and isinstance(value, int) else (1, value, after)


def _between(low: Bound, high: Bound) -> Range:
    to = high[1] if high != (2,) else None
    if high != (2,) and isinstance(to, int):
        return Range(low[1] if low != (0,) else None, to - 1)
    low_closed, high_closed = low == (0,) or not low[2], high == (2,) or high[2]
    return Range(low[1] if low != (0,) else None, to, low_closed=low_closed, high_closed=high_closed)


def _joined(one: Pattern, two: Pattern) -> Range:
    return _between(_bounds(one)[0], _bounds(two)[1])


def _holds(pattern: Pattern, low: Bound, high: Bound) -> bool:
    first, last = _bounds(pattern)
    return first <= low and high <= last


# Several columns


def _cover_patterns(join: "StreamsReference", side: int, ending: PatternEnding) -> Said:
    if any(side in each.ends and covers(each.patterns, ending.patterns) for each in join.covered):
        return []
    said: Said = []
    others = [stream.side for stream in join.streams if stream.side != side]
    theirs = [[each for each in join.covered if other in each.ends and not each.punctuated] for other in others]
    join.covered.append(Covered(ending.patterns, {side: ending.ts}, False, join.touch))
    for pieces in product(*theirs) if _propagates(join) else []:
        common = ending.patterns
        for each in pieces:
            common = tuple(intersect(p, q) for p, q in zip(common, each.patterns, strict=True))
        told = any(out.punctuated and covers(out.patterns, common) for out in join.covered)
        if told or any(is_empty(pattern) for pattern in common):
            continue
        ts = int(max(ending.ts, *(end_time(join, *each) for each in zip(pieces, others, strict=True))))
        join.covered = [kept for kept in join.covered if not covers(common, kept.patterns)]
        join.covered.append(Covered(common, {end.side: ts for end in join.streams}, True, join.touch))
        said.append((common, ts))
    return said


def _is_superfluous(join: "StreamsReference", piece: Covered) -> bool:
    """Whether a wider piece of the same stream says the same, and no time makes a difference any more."""
    if piece.punctuated or any(ts is not None for ts in piece.ends.values()):
        return False
    wider = [each for each in join.covered if each is not piece and not each.punctuated and each.ends == piece.ends]
    return any(covers(each.patterns, piece.patterns) for each in wider)
