"""Which task reads which bytes of a batch's files: all files in a row, cut into parts of equal size.

    files   |─────── a ───────|─ b ─|──── c ────|
    tasks   |────── 0 ──────|────── 1 ─────|─ … |

Every task knows all files and finds the same cuts, so that no planning is needed. As in Hadoop, a row group belongs to
the part that holds its middle: it has only one, and parts do not overlap. Small files are not cut.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

SMALLEST = 1 << 20  # bytes: opening a smaller file twice costs more than it gains


class Span(NamedTuple):
    """A part of the file at a place in the list: from `begin` to `end`, without `end`."""

    place: int
    begin: int
    end: int

    def holds(self, byte: int) -> bool:
        """Whether a byte of the file is in it."""
        return self.begin <= byte < self.end


def spans_of(lengths: Sequence[int], part: int, n_parts: int, smallest: int) -> list[Span]:
    """What one part contains, in the order of the files.

    >>> spans_of([6, 2], 0, 2, smallest=1), spans_of([6, 2], 1, 2, smallest=1)
    ([Span(place=0, begin=0, end=4)], [Span(place=0, begin=4, end=6), Span(place=1, begin=0, end=2)])
    """
    sizes = [max(1, length) for length in lengths]  # an empty file must belong to some part
    starts = [0, *accumulate(sizes)]
    cuts = [_cut(starts, starts[-1] * number // n_parts, smallest) for number in (part, part + 1)]
    files = enumerate(pairwise(starts))
    return [
        Span(place, max(cuts[0], start) - start, min(cuts[1], stop) - start)
        for place, (start, stop) in files
        if start < cuts[1] and cuts[0] < stop
    ]


def _cut(starts: Sequence[int], byte: int, smallest: int) -> int:
    """A cut at this byte, or at the nearer end of the file that it would cut, if that is small."""
    if byte >= starts[-1]:
        return starts[-1]
    place = bisect_right(starts, byte) - 1
    start, stop = starts[place], starts[place + 1]
    if stop - start >= smallest:
        return byte
    return start if byte - start <= stop - byte else stop
