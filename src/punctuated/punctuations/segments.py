"""Segments: what ranges in effect have ended, as disjoint intervals of one key column in ascending order (PW-20).

A range of values lies between two cuts: places between the values of the column. So there is no distinction of open and
closed bounds: what ends where something else begins has the same cut. Neighbours with the same status are one segment:
a stream that ends one range after the other leaves a single segment behind, once the times are settled. A change costs
what it touches, however many segments there are.
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
from punctuated.model.pattern import Constant, Pattern, Range, rank
from punctuated.model.pattern import interval as range_of
from punctuated.model.times import key_microseconds
from punctuated.punctuations.pending_ranges import GrowingRecords

_RANGES = 256  # of which the codes are kept at hand
_LOWEST, _BEYOND = -(2**63), 2**63
_FIRST, _LAST = (0,), (2,)  # before and after every value
ENDED = lay.ENDED | lay.EFFECT


class Cut(NamedTuple):
    """A position between values, and how it is written: after one value, or before the next."""

    position: Any
    after: bool


class Interval(NamedTuple):
    """Values between two cuts."""

    start: Cut
    stop: Cut


class CodeLine:
    """Values that are their own codes: a position is the first code behind it, so that neighbours touch."""

    def __init__(self, codec: KeyCodec) -> None:
        self._codec = codec
        self.codes = lru_cache(_RANGES)(self._find_codes)  # asked for several times while a range is handled

    def _find_codes(self, patterns: tuple[Pattern, ...]) -> tuple[int, int]:
        """The first and the last code of a range; none if the second is below the first."""
        return next(iter(self._codec.intervals(patterns)), (0, -1))

    def interval(self, patterns: tuple[Pattern, ...]) -> Interval | None:
        low, high = self.codes(patterns)
        if low > high:
            return None
        (bounds,) = patterns
        low_open = isinstance(bounds, Range) and not bounds.low_closed and bounds.low is not None
        high_closed = not isinstance(bounds, Range) or (bounds.high_closed and bounds.high is not None)
        return Interval(Cut(low, low_open), Cut(high + 1, high_closed))

    def patterns(self, within: Interval) -> tuple[Pattern, ...]:
        start, stop = within
        low = None if start.position == _LOWEST else self._value(start.position - start.after)
        high = None if stop.position == _BEYOND else self._value(stop.position - stop.after)
        return (range_of(low, high, not start.after, stop.after),)

    def _value(self, code: int) -> Any:
        """The value of a code, as patterns hold it: times are microseconds."""
        (column,) = self._codec.decode(np.array([code], np.int64))
        if pa.types.is_timestamp(column.type):
            return key_microseconds(column)[0]
        return column[0].as_py()


class ValueLine:
    """Values that are compared by themselves: a position is right before or right after a value."""

    def interval(self, patterns: tuple[Pattern, ...]) -> Interval | None:
        (bounds,) = patterns
        if isinstance(bounds, Constant):
            return Interval(_cut(bounds.value, False), _cut(bounds.value, True))
        assert isinstance(bounds, Range)
        start = Cut(_FIRST, False) if bounds.low is None else _cut(bounds.low, not bounds.low_closed)
        stop = Cut(_LAST, True) if bounds.high is None else _cut(bounds.high, bounds.high_closed)
        return Interval(start, stop) if start.position < stop.position else None

    def patterns(self, within: Interval) -> tuple[Pattern, ...]:
        start, stop = within
        low = None if start.position == _FIRST else start.position[1][1]
        high = None if stop.position == _LAST else stop.position[1][1]
        return (range_of(low, high, not start.after, stop.after),)


def _cut(value: Any, after: bool) -> Cut:
    return Cut((1, rank(value), after), after)


def value_position(value: Any) -> tuple[Any, ...]:
    """The position of a value on a `ValueLine`: behind the cut before it, ahead of the cut after it."""
    return (1, rank(value), 0.5)


def writing(interval: Interval) -> int:
    """How both bounds are written, as one number."""
    return int(interval.start.after) + 2 * int(interval.stop.after)


def code_interval(record: lay.Records) -> Interval:
    """The interval of codes that a record of `layout.range_type` holds."""
    low, high, how = int(record["low"]), int(record["high"]), int(record["writing"])
    return Interval(Cut(low, bool(how & 1)), Cut(high + 1, bool(how & 2)))


# The status of the values in a range


def ended_by_all(n_streams: int) -> int:
    """The flags of values that all streams have ended."""
    return ENDED * lay.all_sides(n_streams)


def over(n_streams: int) -> int:
    """The flags of values that are over in the output."""
    return ended_by_all(n_streams) | lay.OUT


def no_times(n_streams: int) -> tuple[int, ...]:
    """The times of values that are settled, or that no stream has ended: one for each stream of a record."""
    return (lay.NEVER,) * lay.width_for(n_streams)


class RangeStatus(NamedTuple):
    """What is known of values under ranges in effect.

    A stream's time is NEVER once it is settled: all settled ranges of a stream share the latest time among them.
    """

    flags: int
    ts: tuple[int, ...]
    touched: int

    @staticmethod
    def unknown(n_streams: int) -> "RangeStatus":
        """The status of values that no stream has ended."""
        return RangeStatus(0, no_times(n_streams), 0)

    @staticmethod
    def of(record: lay.Records) -> "RangeStatus":
        """The status that a record of `layout.range_type` holds."""
        return RangeStatus(int(record["flags"]), tuple(record["ts"].tolist()), int(record["touched"]))

    def is_like(self, other: "RangeStatus") -> bool:
        """Whether two statuses differ in their age at most."""
        return self.flags == other.flags and self.ts == other.ts

    def has_ended(self, side: int) -> bool:
        """Whether the stream has ended the values."""
        return bool(self.flags & (ENDED << side))

    def ended_by(self, side: int, ts: int, touched: int, over_by: int | None) -> "RangeStatus":
        """The status after the stream has ended the values.

        `over_by` are the flags of values that are over in the output by that, None if the join does not punctuate its
        output.
        """
        if self.has_ended(side):
            return self
        flags = self.flags | ENDED << side
        if flags == over_by:
            return RangeStatus(flags | lay.OUT, (lay.NEVER,) * len(self.ts), touched)
        return RangeStatus(flags, (*self.ts[:side], ts, *self.ts[side + 1 :]), touched)

    def ended_ts(self, side: int, settled: Sequence[int]) -> int:
        """When the stream ended the values; `settled` is the time of each stream's settled ranges."""
        return self.ts[side] if self.ts[side] != lay.NEVER else settled[side]

    def settled(self, watermark: int) -> "RangeStatus":
        """The status without the times that the output watermark has reached."""
        return self._replace(ts=tuple(lay.NEVER if ts <= watermark else ts for ts in self.ts))

    def latest_settled(self, watermark: int, earlier: tuple[int, ...]) -> tuple[int, ...]:
        """The latest time of each stream among earlier ones and those that are settled here."""
        both = zip(earlier, self.ts, strict=True)
        return tuple(max(last, ts) if ts <= watermark else last for last, ts in both)


class Segment(NamedTuple):
    """An interval of values with one status."""

    interval: Interval
    status: RangeStatus


def cut_at(segments: list[Segment], interval: Interval, unknown: RangeStatus) -> list[tuple[Segment, bool]]:
    """Cut ascending segments at the ends of an interval that they overlap or touch, and fill its gaps.

    Returns the segments, each with whether it lies inside the interval.
    """
    start, stop = interval
    parts: list[tuple[Segment, bool]] = []
    filled = start
    for (first, last), status in segments:
        if filled.position < min(first.position, stop.position):
            parts.append((Segment(Interval(filled, min(first, stop)), unknown), True))
        for low, high, is_inside in (
            (first, min(last, start), False),
            (max(first, start), min(last, stop), True),
            (max(first, stop), last, False),
        ):
            if low.position < high.position:
                parts.append((Segment(Interval(low, high), status), is_inside))
        filled = max(filled, last)
    if filled.position < stop.position:
        parts.append((Segment(Interval(filled, stop), unknown), True))
    return parts


def merged(segments: list[Segment]) -> list[Segment]:
    """Merge neighbours of one status; a merged segment is as old as its youngest part."""
    together: list[Segment] = []
    for (start, stop), status in segments:
        if together and together[-1].interval.stop.position == start.position and together[-1].status.is_like(status):
            (start, _), before = together.pop()
            status = status._replace(touched=max(before.touched, status.touched))
        together.append(Segment(Interval(start, stop), status))
    return together


# Segments


class EndedInterval(NamedTuple):
    """An interval that is over in the output from now on, and the time of the later ending."""

    interval: Interval
    ts: int


class Segments:
    """All segments of a key column, in order; `records` are the same for the kernels and for the journal."""

    def __init__(self, n_streams: int, *, coded: bool) -> None:
        """`coded`: positions are codes, and the records hold them; else each record has a number of its own."""
        self._coded, self._numbers = coded, 0
        self._unknown, self._over_by = RangeStatus.unknown(n_streams), ended_by_all(n_streams)
        self._starts: list[Any] = []
        self._stops: list[Any] = []
        self._unsettled: list[tuple[int, Any]] = []  # a heap of times, each with a position where it holds
        self.records = GrowingRecords(lay.range_type(lay.width_for(n_streams)))

    def __len__(self) -> int:
        return len(self._starts)

    def interval(self, at: int) -> Interval:
        """The interval of a segment."""
        how = int(self.records.view[at]["writing"])
        return Interval(Cut(self._starts[at], bool(how & 1)), Cut(self._stops[at], bool(how & 2)))

    def find(self, position: Any) -> int:
        """Which segment holds the values right behind a position, or NONE."""
        at = bisect_right(self._starts, position) - 1
        return at if at >= 0 and position < self._stops[at] else lay.NONE

    def cover(
        self, side: int, interval: Interval, ts: int, touched: int, settled: Sequence[int], *, emits: bool
    ) -> list[EndedInterval]:
        """Note that a stream has ended an interval; returns what is over in the output because of that.

        A value that the stream had ended before keeps its time. `settled` is the time of each stream's settled ranges.
        """
        first, stop = (
            bisect_left(self._stops, interval.start.position),
            bisect_right(self._starts, interval.stop.position),
        )
        before = self._segments(first, stop)
        parts: list[Segment] = []
        ended: list[EndedInterval] = []
        over_by = self._over_by if emits else None
        for part, is_inside in cut_at(before, interval, self._unknown):
            was = part.status
            status = was.ended_by(side, ts, touched, over_by) if is_inside else was
            if status.flags & ~was.flags & lay.OUT:
                theirs = (was.ended_ts(other, settled) for other in range(len(settled)) if other != side)
                _append_ended(ended, EndedInterval(part.interval, max([ts, *theirs])))
            parts.append(Segment(part.interval, status))
        self._exchange(first, before, merged(parts))
        return ended

    def settle(self, watermark: int) -> list[Segment]:
        """Forget the times up to a watermark; returns the segments with such a time as they were."""
        due: set[int] = set()
        while self._unsettled and self._unsettled[0][0] <= watermark:
            due.add(self.find(heappop(self._unsettled)[1]))
        before: list[Segment] = []
        for first, stop in reversed(_surroundings(due - {lay.NONE}, len(self))):  # positions before it stay
            around = self._segments(first, stop)
            changed = [each for each in around if each.status.settled(watermark) != each.status]
            if changed:
                after = [each._replace(status=each.status.settled(watermark)) for each in around]
                self._exchange(first, around, merged(after))
            before += changed
        return before

    def forget(self, positions: Sequence[int]) -> None:
        """Remove these ascending segments."""
        for at in reversed(positions):
            self._exchange(at, self._segments(at, at + 1), [])

    @property
    def next_number(self) -> int:
        """The number that the next record gets, where each has its own; numbers are not used again."""
        return self._numbers

    def load(self, records: lay.Records, intervals: Sequence[Interval], next_number: int = 0) -> None:
        """Restore these records, each with its interval."""
        order = sorted(range(len(intervals)), key=lambda at: intervals[at].start.position)
        self.records.exchange(0, len(self), records[order])
        self._starts = [intervals[at].start.position for at in order]
        self._stops = [intervals[at].stop.position for at in order]
        self._numbers = next_number
        self._unsettled = list(_times(self._segments(0, len(self))))
        heapify(self._unsettled)

    def _segments(self, first: int, stop: int) -> list[Segment]:
        records = self.records.view
        return [Segment(self.interval(at), RangeStatus.of(records[at])) for at in range(first, stop)]

    def _exchange(self, first: int, before: Sequence[Segment], after: Sequence[Segment]) -> None:
        stop = first + len(before)
        self.records.exchange(first, stop, self._as_records(after))
        self._starts[first:stop] = [each.interval.start.position for each in after]
        self._stops[first:stop] = [each.interval.stop.position for each in after]
        for time in set(_times(after)) - set(_times(before)):
            heappush(self._unsettled, time)

    def _as_records(self, segments: Sequence[Segment]) -> lay.Records:
        rows = []
        for within, status in segments:
            low, high = self._numbers, self._numbers
            if self._coded:
                low, high = within.start.position, within.stop.position - 1
            self._numbers += 1
            rows.append((low, high, status.flags, status.ts, status.touched, writing(within)))
        return np.array(rows, self.records.dtype)


def _append_ended(ended: list[EndedInterval], more: EndedInterval) -> None:
    """Append an interval to ascending ones; neighbours become one."""
    if ended and ended[-1].interval.stop.position == more.interval.start.position:
        before = ended.pop()
        more = EndedInterval(Interval(before.interval.start, more.interval.stop), max(before.ts, more.ts))
    ended.append(more)


def _times(segments: Sequence[Segment]) -> Iterator[tuple[int, Any]]:
    for within, status in segments:
        yield from ((ts, within.start.position) for ts in status.ts if ts != lay.NEVER)


def _surroundings(positions: Set[int], n: int) -> list[tuple[int, int]]:
    """Positions and their neighbours, as disjoint ascending intervals."""
    intervals: list[tuple[int, int]] = []
    for at in sorted(positions):
        first, stop = max(0, at - 1), min(n, at + 2)
        if intervals and first <= intervals[-1][1]:
            first = intervals.pop()[0]
        intervals.append((first, stop))
    return intervals


def named_by(flags: lay.Ints) -> lay.Ints:
    """Masks of the sides that have ended values by name, rather than by a range or in what is remembered as a run."""
    return flags & lay.ENDED_ANY & ~(flags // lay.RECALLED)
