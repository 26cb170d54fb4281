"""Ranges over keys that are their own codes: a range is an interval of codes, and kernels look values up in segments.

The values in a range are found by an ordered index over the I-Nodes (PW-20): a long sorted run, and a short one of what
has come since; when the short one has grown, both become one.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from punctuated.intake.prepare import PreparedBatch, RangeEnding
from punctuated.kernels import layout as lay
from punctuated.kernels.ranges import find_first_endings
from punctuated.keys.codec import KeyCodec
from punctuated.model.pattern import Pattern
from punctuated.punctuations.pending_ranges import TEXTS, OutputRange, PendingRange, PendingRanges
from punctuated.punctuations.segments import CodeLine, Segments, code_interval, no_times
from punctuated.snapshot.parts import LoadedRowLog, RowLog

_SHORT = 1 << 10  # values that are worth no merge
_PARTS = 1 << 6  # the short run holds at most this part of all
Ints = npt.NDArray[np.int64]
_NO_INTS = np.empty(0, np.int64)
Mask = npt.NDArray[np.bool_]
_HIGHEST = 2**63 - 1


class OrderedIndex:
    """Finds the values whose code lies in an interval."""

    def __init__(self) -> None:
        self._source: lay.Records | None = None
        self._codes, self._indices = _NO_INTS, _NO_INTS

    def find(self, arrays: lay.AnyState, low: int, high: int) -> Ints:
        """Indices of the values with `low <= code <= high`, by ascending code."""
        self._catch_up(arrays)
        first = np.searchsorted(self._codes, low)
        last = np.searchsorted(self._codes, high, side="right")
        recent = arrays.values["code"][self._codes.size : int(arrays.common[0]["n_values"])]
        hits = np.flatnonzero((recent >= low) & (recent <= high))
        if not hits.size:
            return self._indices[first:last]
        codes = np.concatenate([self._codes[first:last], recent[hits]])
        indices = np.concatenate([self._indices[first:last], hits + self._codes.size])
        return np.asarray(indices[np.argsort(codes, kind="stable")])

    def _catch_up(self, arrays: lay.AnyState) -> None:
        if self._source is not arrays.values:  # a rebuild has renumbered the values
            self._source = arrays.values
            self._codes, self._indices = _NO_INTS, _NO_INTS
        known, n_values = self._codes.size, int(arrays.common[0]["n_values"])
        if n_values - known <= max(_SHORT, known // _PARTS):
            return
        fresh = arrays.values["code"][known:n_values]
        order = np.argsort(fresh, kind="stable")
        places = np.searchsorted(self._codes, fresh[order])
        self._codes = np.insert(self._codes, places, fresh[order])
        self._indices = np.insert(self._indices, places, known + order)


# Ranges of codes


class OrderedRanges:
    """Values under ranges of codes."""

    def __init__(self, codec: KeyCodec, n_streams: int) -> None:
        self._line, self._n_streams = CodeLine(codec), n_streams
        self._segments = Segments(n_streams, coded=True)
        self._index = OrderedIndex()

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def records(self) -> lay.Records:
        """How the values stand, for the journal; so the kernels see them too."""
        return self._segments.records.view

    lookup = records

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept beside the records that the kernels see: none."""
        return 0

    def codes(self, patterns: tuple[Pattern, ...]) -> tuple[int, int]:
        """The codes of a range; none if the second is below the first."""
        return self._line.codes(patterns)

    def values(self, arrays: lay.AnyState, patterns: tuple[Pattern, ...]) -> Ints:
        """The values in a range, by ascending code."""
        low, high = self.codes(patterns)
        return self._index.find(arrays, low, high) if low <= high else _NO_INTS

    def cover(
        self, side: int, ending: PendingRange, touched: int, settled: Sequence[int], emits: bool
    ) -> list[OutputRange]:
        """Note that a stream has ended a range; returns what is over in the output because of that."""
        interval = self._line.interval(ending.patterns)
        if interval is None:
            return []
        ended = self._segments.cover(side, interval, ending.ts, touched, settled, emits=emits)
        return [OutputRange(self._line.patterns(each.interval), each.ts) for each in ended]

    def settle(self, arrays: lay.AnyState, watermark: int) -> tuple[Ints, tuple[int, ...]]:
        """Forget the times up to a watermark; returns the values of which that was known, and the latest times."""
        found, latest = [_NO_INTS], no_times(self._n_streams)
        for (start, stop), status in self._segments.settle(watermark):
            found.append(self._index.find(arrays, start.position, stop.position - 1))
            latest = status.latest_settled(watermark, latest)
        return np.concatenate(found), latest

    def forget(self, arrays: lay.AnyState, positions: Sequence[int]) -> Ints:
        """Forget the ranges in effect at these positions; returns the values that were over because of them."""
        over = [position for position in positions if self.records["flags"][position] & lay.OUT]
        intervals = [self._segments.interval(position) for position in over]
        self._segments.forget(positions)
        found = [self._index.find(arrays, start.position, stop.position - 1) for start, stop in intervals]
        return np.concatenate([_NO_INTS, *found])

    # Promises

    def await_effect(self, side: int, ending: PendingRange) -> None:
        """A range ending waits: the batch asks for it again."""

    def broken(self, side: int, pending: PendingRanges, intake: PreparedBatch, key: Sequence[str]) -> Mask:
        """Tuples that come after a range that waits or is fresh has ended their values.

        Those in effect the loop sees.
        """
        endings = self._by_time(pending, intake.ranges)
        if not endings.size:
            return np.zeros(len(intake.rows), np.bool_)
        behind = endings["high"][endings["high"] < _HIGHEST] + 1
        starts = np.unique(np.concatenate([endings["low"], behind]))  # between two of them all codes fare alike
        earliest = np.full(starts.size + 1, lay.FOREVER, np.int64)
        find_first_endings(endings, starts, np.empty(starts.size + 1, np.int64), earliest[1:])
        ended_at = earliest[np.searchsorted(starts, intake.objects.code, side="right")]
        is_null = intake.objects.status & lay.NULL_KEY != 0
        return np.asarray((intake.objects.ts > ended_at) & ~is_null)

    def _by_time(self, pending: PendingRanges, fresh: Sequence[RangeEnding]) -> lay.Records:
        rows = [(0, each.ts, 0, *self.codes(each.patterns)) for each in fresh]
        both = np.concatenate([pending.records.view, np.array(rows, lay.PENDING_RANGE)])
        return np.asarray(both[np.argsort(both["ts"], kind="stable")])

    # Keys and the journal

    def note_keys(self) -> None:
        """The codes of new keys lie under the segments by themselves."""

    def renumber(self, moved: Ints) -> None:
        """Codes of ordered keys do not change."""

    def texts(self) -> RowLog:
        """The records say all."""
        return RowLog(_NO_INTS, 0, lambda places: TEXTS.empty_table())

    def load(self, records: lay.Records, texts: LoadedRowLog) -> None:
        """Restore the ranges of a saved state."""
        self._segments.load(records, [code_interval(record) for record in records])
