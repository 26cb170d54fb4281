"""Cuts: the places between the values of a key column. A range of values lies between two of them.

Ranges as cuts need no distinction of open and closed bounds: what ends where something else begins has the same cut.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from punctuated.kernels import layout as lay
from punctuated.keys.codec import KeyCodec
from punctuated.model.pattern import Constant, Pattern, Range, interval, rank
from punctuated.model.times import key_microseconds
from punctuated.punctuations.pending_ranges import GrowingRecords

_RANGES = 256  # of which the codes are kept at hand
_LOWEST, _BEYOND = -(2**63), 2**63
_FIRST, _LAST = (0,), (2,)  # before and after every value
ENDED = lay.ENDED | lay.EFFECT


class Cut(NamedTuple):
    """A place in the order of the values, and how it is written: after one value, or before the next."""

    place: Any
    after: bool


class Stretch(NamedTuple):
    """Values between two cuts."""

    start: Cut
    stop: Cut


class CodeLine:
    """Values that are their own codes: a place is the first code behind it, so that neighbours touch."""

    def __init__(self, codec: KeyCodec) -> None:
        self._codec = codec
        self.codes = lru_cache(_RANGES)(self._find_codes)  # asked for several times while a range is handled

    def _find_codes(self, patterns: tuple[Pattern, ...]) -> tuple[int, int]:
        """The first and the last code of a range; none if the second is below the first."""
        return next(iter(self._codec.intervals(patterns)), (0, -1))

    def stretch(self, patterns: tuple[Pattern, ...]) -> Stretch | None:
        low, high = self.codes(patterns)
        if low > high:
            return None
        (bounds,) = patterns
        low_open = isinstance(bounds, Range) and not bounds.low_closed and bounds.low is not None
        high_closed = not isinstance(bounds, Range) or (bounds.high_closed and bounds.high is not None)
        return Stretch(Cut(low, low_open), Cut(high + 1, high_closed))

    def patterns(self, stretch: Stretch) -> tuple[Pattern, ...]:
        start, stop = stretch
        low = None if start.place == _LOWEST else self._value(start.place - start.after)
        high = None if stop.place == _BEYOND else self._value(stop.place - stop.after)
        return (interval(low, high, not start.after, stop.after),)

    def _value(self, code: int) -> Any:
        """As patterns hold it: times are microseconds."""
        (column,) = self._codec.decode(np.array([code], np.int64))
        if pa.types.is_timestamp(column.type):
            return key_microseconds(column)[0]
        return column[0].as_py()


class ValueLine:
    """Values that are compared by themselves: a place is right before or right after a value."""

    def stretch(self, patterns: tuple[Pattern, ...]) -> Stretch | None:
        (bounds,) = patterns
        if isinstance(bounds, Constant):
            return Stretch(_cut(bounds.value, False), _cut(bounds.value, True))
        assert isinstance(bounds, Range)
        start = Cut(_FIRST, False) if bounds.low is None else _cut(bounds.low, not bounds.low_closed)
        stop = Cut(_LAST, True) if bounds.high is None else _cut(bounds.high, bounds.high_closed)
        return Stretch(start, stop) if start.place < stop.place else None

    def patterns(self, stretch: Stretch) -> tuple[Pattern, ...]:
        start, stop = stretch
        low = None if start.place == _FIRST else start.place[1][1]
        high = None if stop.place == _LAST else stop.place[1][1]
        return (interval(low, high, not start.after, stop.after),)


def _cut(value: Any, after: bool) -> Cut:
    return Cut((1, rank(value), after), after)


def value_place(value: Any) -> tuple[Any, ...]:
    """A place within a value of a `ValueLine`, behind the cut before it and ahead of the cut after it."""
    return (1, rank(value), 0.5)


def writing(stretch: Stretch) -> int:
    """How both bounds are written, as one number."""
    return int(stretch.start.after) + 2 * int(stretch.stop.after)


def code_stretch(record: lay.Records) -> Stretch:
    """The stretch of codes that a record of `layout.range_type` holds."""
    low, high, how = int(record["low"]), int(record["high"]), int(record["writing"])
    return Stretch(Cut(low, bool(how & 1)), Cut(high + 1, bool(how & 2)))


# How the values of a range stand: which streams have ended them, when, and whether the output was told.


def ended_by_all(n_streams: int) -> int:
    """The flags of values that all streams have ended."""
    return ENDED * lay.all_sides(n_streams)


def over(n_streams: int) -> int:
    """The flags of values that are over in the output."""
    return ended_by_all(n_streams) | lay.OUT


def no_times(n_streams: int) -> tuple[int, ...]:
    """The times of values that are settled, or that nobody has ended; one for each place of a record."""
    return (lay.NEVER,) * lay.width_for(n_streams)


class Standing(NamedTuple):
    """What is known of values under ranges in effect.

    A stream's time is NEVER once it is settled: all settled ranges of a stream share the latest time among them.
    """

    flags: int
    ts: tuple[int, ...]
    touched: int

    @staticmethod
    def unknown(n_streams: int) -> "Standing":
        """That of values of which nothing is known."""
        return Standing(0, no_times(n_streams), 0)

    @staticmethod
    def of(record: lay.Records) -> "Standing":
        """As a record of `layout.range_type` holds it."""
        return Standing(int(record["flags"]), tuple(record["ts"].tolist()), int(record["touched"]))

    def is_like(self, other: "Standing") -> bool:
        """Whether nothing but their age tells them apart."""
        return self.flags == other.flags and self.ts == other.ts

    def has_ended(self, side: int) -> bool:
        """Whether the stream has ended the values."""
        return bool(self.flags & (ENDED << side))

    def ended_by(self, side: int, ts: int, touched: int, over_by: int | None) -> "Standing":
        """The same after the stream has ended the values.

        `over_by` are the flags of values that are over in the output by that, None if the output is not told.
        """
        if self.has_ended(side):
            return self
        flags = self.flags | ENDED << side
        if flags == over_by:
            return Standing(flags | lay.OUT, (lay.NEVER,) * len(self.ts), touched)
        return Standing(flags, (*self.ts[:side], ts, *self.ts[side + 1 :]), touched)

    def ended_ts(self, side: int, settled: Sequence[int]) -> int:
        """When the stream ended the values; `settled` is the time of each stream's settled ranges."""
        return self.ts[side] if self.ts[side] != lay.NEVER else settled[side]

    def settled(self, watermark: int) -> "Standing":
        """The same without the times that the output watermark has reached."""
        return self._replace(ts=tuple(lay.NEVER if ts <= watermark else ts for ts in self.ts))

    def latest_settled(self, watermark: int, earlier: tuple[int, ...]) -> tuple[int, ...]:
        """The latest time of each stream among earlier ones and those that are settled here."""
        both = zip(earlier, self.ts, strict=True)
        return tuple(max(last, ts) if ts <= watermark else last for last, ts in both)


class Segment(NamedTuple):
    """A stretch of values that stand alike."""

    stretch: Stretch
    standing: Standing


def cut_at(segments: list[Segment], stretch: Stretch, unknown: Standing) -> list[tuple[Segment, bool]]:
    """Ascending segments that overlap or touch a stretch, cut at its ends, its gaps filled; and what lies inside it."""
    start, stop = stretch
    parts: list[tuple[Segment, bool]] = []
    filled = start
    for (first, last), standing in segments:
        if filled.place < min(first.place, stop.place):
            parts.append((Segment(Stretch(filled, min(first, stop)), unknown), True))
        for low, high, is_inside in (
            (first, min(last, start), False),
            (max(first, start), min(last, stop), True),
            (max(first, stop), last, False),
        ):
            if low.place < high.place:
                parts.append((Segment(Stretch(low, high), standing), is_inside))
        filled = max(filled, last)
    if filled.place < stop.place:
        parts.append((Segment(Stretch(filled, stop), unknown), True))
    return parts


def glued(segments: list[Segment]) -> list[Segment]:
    """Neighbours that stand alike as one; it is as old as its youngest part."""
    together: list[Segment] = []
    for (start, stop), standing in segments:
        if together and together[-1].stretch.stop.place == start.place and together[-1].standing.is_like(standing):
            (start, _), before = together.pop()
            standing = standing._replace(touched=max(before.touched, standing.touched))
        together.append(Segment(Stretch(start, stop), standing))
    return together


# Segments: what ranges in effect have ended, as disjoint stretches of one key column in ascending order (PW-20).
#
# Neighbours that stand alike are one segment. So a stream that ends one range after the other leaves a single segment
# behind, once the times are settled. A change costs what it touches, however many segments there are.


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
