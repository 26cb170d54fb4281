"""What ranges in effect have ended where keys are numbered: ranges that look keys up, not codes.

One column of text or the like has an order: what ranges have ended is kept as disjoint segments between its values.
Several columns have no order in common: ranges are kept as they came, without being cut and put together. A range that
adds nothing is not kept, and once a range is over in the output, that stands for the endings of all streams.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from punctuated.kernels import layout as lay
from punctuated.keys.pattern_match import match_columns
from punctuated.model.pattern import Empty, Pattern, combine, subsumes
from punctuated.punctuations.pending_ranges import GrowingRecords
from punctuated.punctuations.segments import (
    ENDED,
    RangeStatus,
    Segments,
    ValueLine,
    ended_by_all,
    no_times,
    over,
    value_position,
)

Patterns = tuple[Pattern, ...]


class PatternRanges:
    """Ranges in the order of effect; `records` say how each one stands, under a number of its own."""

    def __init__(self, n_streams: int) -> None:
        self._n_streams, self._numbers = n_streams, 0
        self._patterns: list[Patterns] = []
        self.records = GrowingRecords(lay.range_type(lay.width_for(n_streams)))

    def __len__(self) -> int:
        return len(self._patterns)

    def __iter__(self) -> Iterator[tuple[Patterns, RangeStatus]]:
        for patterns, record in zip(self._patterns, self.records.view, strict=True):
            yield patterns, RangeStatus.of(record)

    def patterns(self, at: int) -> Patterns:
        """The range of a piece."""
        return self._patterns[at]

    def locate(self, keys: pa.Table) -> lay.Records:
        """How these keys stand, as records of `layout.range_type`; flags are 0 where no range covers a key."""
        found = np.zeros(len(keys), self.records.dtype)
        found["ts"] = lay.NEVER
        for patterns, status in self if len(keys) else ():
            hit = match_columns(patterns, keys.columns)
            for side in range(self._n_streams):  # the first to take effect gives the time
                fresh = hit & (found["flags"] & (ENDED << side) == 0) & status.has_ended(side)
                found["ts"][fresh, side] = status.ts[side]
            found["flags"][hit] |= status.flags
        return found

    def cover(
        self, side: int, patterns: Patterns, ts: int, touched: int, settled: Sequence[int], *, emits: bool
    ) -> list[tuple[Patterns, int]]:
        """Note that a stream has ended a range; returns what is over in the output because of that, with times."""
        known = list(self)
        if any(status.has_ended(side) and covers(wide, patterns) for wide, status in known):
            return []
        n = self._n_streams
        over_by = ended_by_all(n) if emits else None
        self._append(patterns, RangeStatus.unknown(n).ended_by(side, ts, touched, over_by))
        ended: list[tuple[Patterns, int]] = []
        others = [other for other in range(n) if other != side]
        for common, time in _in_common(patterns, ts, known, others, settled) if emits else ():
            if not self._is_over(common):
                self._keep([not covers(common, each) for each in self._patterns])
                self._append(common, RangeStatus(over(n), no_times(n), touched))
                ended.append((common, time))
        return ended

    def settle(self, watermark: int) -> Iterator[RangeStatus]:
        """Forget the times up to a watermark; gives the status of each piece with such a time as it was."""
        times = self.records.view["ts"]
        due = np.flatnonzero(((times != lay.NEVER) & (times <= watermark)).any(axis=1)).tolist()
        for at in due:
            before = RangeStatus.of(self.records.view[at])
            self.records.view["ts"][at] = before.settled(watermark).ts
            yield before
        superfluous = {narrow for at in due for narrow in self._superfluous(at)}
        if superfluous:
            self._keep([at not in superfluous for at in range(len(self))])

    def _superfluous(self, fresh: int) -> Iterator[int]:
        """Settled in_effect that a wider one makes superfluous, now that a fresh one is settled too."""
        alike = np.flatnonzero(
            (self.records.view["flags"] == self.records.view["flags"][fresh])
            & (self.records.view["ts"] == lay.NEVER).all(axis=1)
        )
        for at in alike[alike != fresh].tolist() if fresh in alike else ():
            if covers(self._patterns[fresh], self._patterns[at]):
                yield at
            elif covers(self._patterns[at], self._patterns[fresh]):
                yield fresh

    def forget(self, positions: Sequence[int]) -> None:
        """Remove these positions."""
        self._keep([at not in positions for at in range(len(self))])

    @property
    def next_number(self) -> int:
        """The number that the next range gets; numbers are not used again."""
        return self._numbers

    def load(self, records: lay.Records, patterns: Sequence[Patterns], next_number: int) -> None:
        """Restore these records, by ascending number, each with its range."""
        self.records.exchange(0, len(self), records)
        self._patterns = list(patterns)
        self._numbers = next_number

    def _is_over(self, patterns: Patterns) -> bool:
        return any(status.flags & lay.OUT and covers(wide, patterns) for wide, status in self)

    def _append(self, patterns: Patterns, status: RangeStatus) -> None:
        n = len(self)
        row = (self._numbers, self._numbers, status.flags, status.ts, status.touched, 0)
        self.records.exchange(n, n, np.array([row], self.records.dtype))
        self._patterns.append(patterns)
        self._numbers += 1

    def _keep(self, kept: Sequence[bool]) -> None:
        self.records.keep(np.array(kept, np.bool_))
        self._patterns = [patterns for patterns, stays in zip(self._patterns, kept, strict=True) if stays]


def _in_common(
    patterns: Patterns,
    ts: int,
    known: Sequence[tuple[Patterns, RangeStatus]],
    others: Sequence[int],
    settled: Sequence[int],
) -> Iterator[tuple[Patterns, int]]:
    """What a range has in common with a known one of each of the other streams, and the time of the latest ending."""
    if not others:
        yield patterns, ts
        return
    first, *rest = others
    for theirs, status in known:
        common = tuple(combine(p, q) for p, q in zip(patterns, theirs, strict=True))
        if status.has_ended(first) and not any(isinstance(p, Empty) for p in common):
            yield from _in_common(common, max(ts, status.ended_ts(first, settled)), known, rest, settled)


def covers(wide: Patterns, narrow: Patterns) -> bool:
    """Whether everything that `narrow` matches is matched by `wide` too."""
    return all(subsumes(one, two) for one, two in zip(wide, narrow, strict=True))


# One column


class ColumnRanges:
    """Segments by their patterns; `records` say how each one stands, under a number of its own."""

    def __init__(self, n_streams: int) -> None:
        self._line, self._segments = ValueLine(), Segments(n_streams, coded=False)

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def records(self) -> GrowingRecords:
        return self._segments.records

    def __iter__(self) -> Iterator[tuple[Patterns, RangeStatus]]:
        for at, record in enumerate(self.records.view):
            yield self.patterns(at), RangeStatus.of(record)

    def patterns(self, at: int) -> Patterns:
        """The range of a piece."""
        return self._line.patterns(self._segments.interval(at))

    def locate(self, keys: pa.Table) -> lay.Records:
        """How these keys stand, as records of `layout.range_type`; flags are 0 where no range covers a key."""
        places = np.array(
            [self._segments.find(value_position(value)) for value in keys.column(0).to_pylist()], np.int64
        )
        found = np.zeros(len(keys), self.records.dtype)
        found["ts"] = lay.NEVER
        found[places >= 0] = self.records.view[places[places >= 0]]
        return found

    def cover(
        self, side: int, patterns: Patterns, ts: int, touched: int, settled: Sequence[int], *, emits: bool
    ) -> list[tuple[Patterns, int]]:
        """Note that a stream has ended a range; returns what is over in the output because of that, with times."""
        interval = self._line.interval(patterns)
        if interval is None:
            return []
        ended = self._segments.cover(side, interval, ts, touched, settled, emits=emits)
        return [(self._line.patterns(each.interval), each.ts) for each in ended]

    def settle(self, watermark: int) -> Iterator[RangeStatus]:
        """Forget the times up to a watermark; gives the status of each piece with such a time as it was."""
        return iter([segment.status for segment in self._segments.settle(watermark)])

    def forget(self, positions: Sequence[int]) -> None:
        """Remove these ascending positions."""
        self._segments.forget(positions)

    @property
    def next_number(self) -> int:
        """The number that the next segment gets; numbers are not used again."""
        return self._segments.next_number

    def load(self, records: lay.Records, patterns: Sequence[Patterns], next_number: int) -> None:
        """Restore these records, each with its range."""
        intervals = [self._line.interval(each) for each in patterns]
        self._segments.load(records, [each for each in intervals if each is not None], next_number)
