"""Segments: what ranges in effect have ended, as disjoint stretches of one key column in ascending order (PW-20).

Neighbours that stand alike are one segment. So a stream that ends one range after the other leaves a single segment
behind, once the times are settled. A change costs what it touches, however many segments there are.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from punctuated.join.state.cuts import Cut, Stretch, writing
from punctuated.join.state.growing_records import GrowingRecords
from punctuated.join.state.standing import Segment, Standing, cut_at, ended_by_all, glued
from punctuated.kernels import layout as lay


class Told(NamedTuple):
    """A stretch that is over in the output from now on, and the time of the later ending."""

    stretch: Stretch
    ts: int


class Segments:
    """All segments of a key column, in order; `records` are the same for the kernels and for the journal."""

    def __init__(self, n_streams: int, *, coded: bool) -> None:
        """`coded`: places are codes, and the records hold them; else each record has a number of its own."""
        self._coded, self._numbers = coded, 0
        self._unknown, self._over_by = Standing.unknown(n_streams), ended_by_all(n_streams)
        self._starts: list[Any] = []
        self._stops: list[Any] = []
        self._unsettled: list[tuple[int, Any]] = []  # a heap of times, each with a place where it holds
        self.records = GrowingRecords(lay.range_type(lay.width_for(n_streams)))

    def __len__(self) -> int:
        return len(self._starts)

    def stretch(self, at: int) -> Stretch:
        """Where a segment lies."""
        how = int(self.records.view[at]["writing"])
        return Stretch(Cut(self._starts[at], bool(how & 1)), Cut(self._stops[at], bool(how & 2)))

    def find(self, place: Any) -> int:
        """Which segment holds the values right behind a place, or NONE."""
        at = bisect_right(self._starts, place) - 1
        return at if at >= 0 and place < self._stops[at] else lay.NONE

    def cover(
        self, side: int, stretch: Stretch, ts: int, touched: int, settled: Sequence[int], *, tells: bool
    ) -> list[Told]:
        """A stream has ended a stretch; returns what is over in the output by that.

        A value that it had ended before keeps its time. `settled` is the time of each stream's settled ranges.
        """
        first, stop = bisect_left(self._stops, stretch.start.place), bisect_right(self._starts, stretch.stop.place)
        before = self._segments(first, stop)
        parts: list[Segment] = []
        told: list[Told] = []
        over_by = self._over_by if tells else None
        for part, is_inside in cut_at(before, stretch, self._unknown):
            was = part.standing
            standing = was.ended_by(side, ts, touched, over_by) if is_inside else was
            if standing.flags & ~was.flags & lay.OUT:
                theirs = (was.ended_ts(other, settled) for other in range(len(settled)) if other != side)
                _tell(told, Told(part.stretch, max([ts, *theirs])))
            parts.append(Segment(part.stretch, standing))
        self._exchange(first, before, glued(parts))
        return told

    def settle(self, watermark: int) -> list[Segment]:
        """Forget the times up to a watermark; returns the segments with such a time as they were."""
        due: set[int] = set()
        while self._unsettled and self._unsettled[0][0] <= watermark:
            due.add(self.find(heappop(self._unsettled)[1]))
        before: list[Segment] = []
        for first, stop in reversed(_surroundings(due - {lay.NONE}, len(self))):  # positions before it stay
            around = self._segments(first, stop)
            changed = [each for each in around if each.standing.settled(watermark) != each.standing]
            if changed:
                after = [each._replace(standing=each.standing.settled(watermark)) for each in around]
                self._exchange(first, around, glued(after))
            before += changed
        return before

    def forget(self, positions: Sequence[int]) -> None:
        """Remove these ascending segments."""
        for at in reversed(positions):
            self._exchange(at, self._segments(at, at + 1), [])

    @property
    def next_number(self) -> int:
        """Of the next record, where each has a number of its own; numbers are not used again."""
        return self._numbers

    def load(self, records: lay.Records, stretches: Sequence[Stretch], next_number: int = 0) -> None:
        """Exactly these records, each with its stretch."""
        order = sorted(range(len(stretches)), key=lambda at: stretches[at].start.place)
        self.records.exchange(0, len(self), records[order])
        self._starts = [stretches[at].start.place for at in order]
        self._stops = [stretches[at].stop.place for at in order]
        self._numbers = next_number
        self._unsettled = list(_times(self._segments(0, len(self))))
        heapify(self._unsettled)

    def _segments(self, first: int, stop: int) -> list[Segment]:
        records = self.records.view
        return [Segment(self.stretch(at), Standing.of(records[at])) for at in range(first, stop)]

    def _exchange(self, first: int, before: Sequence[Segment], after: Sequence[Segment]) -> None:
        stop = first + len(before)
        self.records.exchange(first, stop, self._as_records(after))
        self._starts[first:stop] = [each.stretch.start.place for each in after]
        self._stops[first:stop] = [each.stretch.stop.place for each in after]
        for time in set(_times(after)) - set(_times(before)):
            heappush(self._unsettled, time)

    def _as_records(self, segments: Sequence[Segment]) -> lay.Records:
        rows = []
        for stretch, standing in segments:
            low, high = self._numbers, self._numbers
            if self._coded:
                low, high = stretch.start.place, stretch.stop.place - 1
            self._numbers += 1
            rows.append((low, high, standing.flags, standing.ts, standing.touched, writing(stretch)))
        return np.array(rows, self.records.dtype)


def _tell(told: list[Told], more: Told) -> None:
    """Neighbours are told together."""
    if told and told[-1].stretch.stop.place == more.stretch.start.place:
        before = told.pop()
        more = Told(Stretch(before.stretch.start, more.stretch.stop), max(before.ts, more.ts))
    told.append(more)


def _times(segments: Sequence[Segment]) -> Iterator[tuple[int, Any]]:
    for stretch, standing in segments:
        yield from ((ts, stretch.start.place) for ts in standing.ts if ts != lay.NEVER)


def _surroundings(positions: Set[int], n: int) -> list[tuple[int, int]]:
    """These positions with their neighbours, as disjoint ascending intervals."""
    intervals: list[tuple[int, int]] = []
    for at in sorted(positions):
        first, stop = max(0, at - 1), min(n, at + 2)
        if intervals and first <= intervals[-1][1]:
            first = intervals.pop()[0]
        intervals.append((first, stop))
    return intervals
