"""Ranges over keys that are numbered as they come: what is known of each number is kept beside the ranges themselves.

A batch costs what its new keys and new ranges need: a new key is looked up among the ranges, a new range is compared
with the known keys, and nothing else is done again.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.intake.prepare import PreparedBatch, RangeEnding
from punctuated.kernels import layout as lay
from punctuated.kernels.rebuild import find_values
from punctuated.keys.codec import NumberedKeys
from punctuated.keys.pattern_match import match_columns
from punctuated.model.pattern import Pattern
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.punctuations.in_effect import ColumnRanges, PatternRanges
from punctuated.punctuations.pending_ranges import TEXTS, OutputRange, PendingRange, PendingRanges
from punctuated.punctuations.segments import ENDED, no_times, over
from punctuated.snapshot.parts import LoadedRowLog, RowLog

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
_NO_INTS = np.empty(0, np.int64)


class NumberedRanges:
    """Values under ranges, by the numbers of their keys."""

    def __init__(self, codec: NumberedKeys, pending: tuple[PendingRanges, ...]) -> None:
        """`pending` are the ranges of each stream that wait for their effect."""
        self._codec, self._pending, self._n_streams = codec, pending, len(pending)
        in_effect = ColumnRanges if len(codec.types) == 1 else PatternRanges
        self._in_effect: ColumnRanges | PatternRanges = in_effect(self._n_streams)
        self._known = self._unknown(0)
        self._lookup: lay.Records | None = np.empty(0, self.records.dtype)

    def __len__(self) -> int:
        return len(self._in_effect)

    @property
    def records(self) -> lay.Records:
        """How the ranges stand, for the journal."""
        return self._in_effect.records.view

    @property
    def lookup(self) -> lay.Records:
        """How the values stand, for the kernels."""
        if self._lookup is None:
            codes = np.flatnonzero(self._known["flags"])
            self._lookup = np.zeros(codes.size, self.records.dtype)
            self._lookup["low"] = self._lookup["high"] = codes
            for name in ("flags", "ts"):
                self._lookup[name] = self._known[name][codes]
        return self._lookup

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept beside the records that the kernels see."""
        return self._in_effect.records.nbytes + int(self._known.nbytes)

    def codes(self, patterns: Sequence[Pattern]) -> tuple[int, int]:
        """Numbers are no interval."""
        return 0, -1

    def values(self, arrays: lay.AnyState, patterns: Sequence[Pattern]) -> Ints:
        """The values in a range."""
        return self._values_of(arrays, np.flatnonzero(self._match(patterns)))

    def _values_of(self, arrays: lay.AnyState, codes: Ints) -> Ints:
        indices = find_values(arrays, codes)
        return np.asarray(indices[indices >= 0])

    def _match(self, patterns: Sequence[Pattern]) -> Mask:
        self.note_keys()
        return match_columns(patterns, self._codec.known_keys().columns)

    def cover(
        self, side: int, ending: PendingRange, touched: int, settled: Sequence[int], emits: bool
    ) -> list[OutputRange]:
        """Note that a stream has ended a range; returns what is over in the output because of that."""
        self.note_keys()
        ended = self._in_effect.cover(side, ending.patterns, ending.ts, touched, settled, emits=emits)
        fresh = self._match(ending.patterns) & (self._known["flags"] & (ENDED << side) == 0)
        self._known["flags"][fresh] |= ENDED << side
        self._known["ts"][fresh, side] = ending.ts
        for patterns, _ in ended:
            hit = self._match(patterns)
            self._known["flags"][hit], self._known["ts"][hit] = over(self._n_streams), lay.NEVER
        self._lookup = None
        return [OutputRange(patterns, ts) for patterns, ts in ended]

    def settle(self, arrays: lay.AnyState, watermark: int) -> tuple[Ints, tuple[int, ...]]:
        """Forget the times up to a watermark; returns the values of which that was known, and the latest times."""
        latest = no_times(self._n_streams)
        for status in self._in_effect.settle(watermark):
            latest = status.latest_settled(watermark, latest)
        times = self._known["ts"]
        due = (times != lay.NEVER) & (times <= watermark)
        if not due.any():
            return _NO_INTS, latest
        times[due] = lay.NEVER
        self._lookup = None
        return self._values_of(arrays, np.flatnonzero(due.any(axis=1))), latest

    def forget(self, arrays: lay.AnyState, positions: Sequence[int]) -> Ints:
        """Forget the ranges in effect at these positions; returns the values that were over because of them.

        Pending ranges may be gone too.
        """
        gone = [self._match(self._in_effect.patterns(position)) for position in positions]
        were_over = [codes for codes, at in zip(gone, positions, strict=True) if self.records["flags"][at] & lay.OUT]
        self._in_effect.forget(positions)
        for codes in gone:
            self._look_up(np.flatnonzero(codes))
        self._known["waiting"] = lay.FOREVER
        for side in range(self._n_streams):
            for at in range(len(self._pending[side])):
                self.await_effect(side, self._pending[side][at])
        return self._values_of(arrays, np.concatenate([_NO_INTS, *map(np.flatnonzero, were_over)]))

    # Promises

    def await_effect(self, side: int, ending: PendingRange) -> None:
        """A range ending waits: tuples that come after its time break it."""
        self._note_waiting(side, ending, np.flatnonzero(self._match(ending.patterns)))

    def _note_waiting(self, side: int, ending: PendingRange, codes: Ints) -> None:
        waiting = self._known["waiting"][:, side]
        waiting[codes] = np.minimum(waiting[codes], ending.ts)

    def broken(self, side: int, pending: PendingRanges, intake: PreparedBatch, key: Sequence[str]) -> Mask:
        """Tuples that come after a range that waits or is fresh has ended their values.

        What is in effect the kernels see, but for keys with a null in them, which have no value.
        """
        self.note_keys()
        mask = np.zeros(len(intake.rows), np.bool_)
        codes, ts = intake.objects.code, intake.objects.ts
        is_null = intake.objects.status & lay.NULL_KEY != 0
        if len(pending) or intake.ranges:
            earliest = self._ended_at(side, intake.ranges)
            mask[~is_null] = ts[~is_null] > earliest[codes[~is_null]]
        if is_null.any() and len(self._codec.types) > 1:
            rows = intake.rows.filter(is_null)
            columns = [rows[name] for name in key]
            mask[is_null] = self._broken_by_nulls(side, [*pending, *intake.ranges], columns, ts[is_null])
        return mask

    def _ended_at(self, side: int, fresh: Sequence[RangeEnding]) -> Ints:
        """When each key is ended by the first range that waits or is fresh, those in effect aside."""
        earliest = self._known["waiting"][:, side].copy()
        for ending in fresh:
            hit = self._match(ending.patterns)
            earliest[hit] = np.minimum(earliest[hit], ending.ts)
        return earliest

    def _broken_by_nulls(
        self, side: int, waiting: Sequence[PendingRange | RangeEnding], columns: Sequence[pa.ChunkedArray], ts: Ints
    ) -> Mask:
        """Which keys with a null in them come after their end, where only `*` matches the null."""
        endings = [(each.patterns, each.ts) for each in waiting]
        endings += [(patterns, lay.NEVER) for patterns, status in self._in_effect if status.has_ended(side)]
        mask = np.zeros(ts.size, np.bool_)
        for patterns, time in endings:
            mask |= (ts > time) & match_columns(patterns, columns)
        return mask

    # Keys and the journal

    def _unknown(self, n: int) -> lay.Records:
        """What is known of so many new numbers; `waiting`: the time of the first pending range, if that still waits."""
        width = lay.width_for(self._n_streams)
        known = np.zeros(n, [("flags", "i8"), ("ts", "i8", (width,)), ("waiting", "i8", (width,))])
        known["ts"], known["waiting"] = lay.NEVER, lay.FOREVER
        return known

    def note_keys(self) -> None:
        """Look up the keys that have come since the last time."""
        known = self._known.size
        if known == len(self._codec):
            return
        self._known = np.concatenate([self._known, self._unknown(len(self._codec) - known)])
        fresh = np.arange(known, len(self._codec))
        if len(self._in_effect):
            self._look_up(fresh)
        keys = self._codec.keys_from(known)
        for side in range(self._n_streams):
            for ending in self._pending[side]:
                self._note_waiting(side, ending, fresh[match_columns(ending.patterns, keys.columns)])

    def _look_up(self, codes: Ints) -> None:
        if codes.size:
            first = int(codes[0])
            found = self._in_effect.locate(self._codec.keys_from(first).take(codes - first))
            self._known["flags"][codes], self._known["ts"][codes] = found["flags"], found["ts"]
            self._lookup = None

    def renumber(self, moved: Ints) -> None:
        """Keys were numbered anew."""
        kept = np.flatnonzero(moved >= 0)
        known = self._unknown(len(self._codec))
        known[moved[kept]] = self._known[kept]
        self._known, self._lookup = known, None

    def texts(self) -> RowLog:
        """The ranges by their numbers, as text."""
        order = np.argsort(self.records["low"], kind="stable")

        def at(places: Ints) -> pa.Table:
            patterns = (self._in_effect.patterns(place) for place in order[places].tolist())
            return pa.table([[print_patterns(each, self._codec.types) for each in patterns]], schema=TEXTS)

        return RowLog(self.records["low"][order], self._in_effect.next_number, at)

    def load(self, records: lay.Records, texts: LoadedRowLog) -> None:
        """Restore the ranges of a saved state; records and texts both ascend by number."""
        patterns = [parse_punctuation(text, self._codec.types) for text in texts.rows["pattern"].to_pylist()]
        self._in_effect.load(records, patterns, texts.next_id)
        self._known, self._lookup = self._unknown(0), None
