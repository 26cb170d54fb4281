"""What all oracles share: batches, watermarks, the clock of a batch, promises and endings.

It is `docs/semantics.md` in executable form: each method belongs to a heading. Three questions stay open, because their
answers depend on the other streams: which tuples a tuple meets, what may be forgotten, and when a value is over in the
output. `reference` answers them for two streams and for unions, `multiway_reference` for any number of streams.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from punctuated.errors import PromiseBroken
from punctuated.model.algorithm import Propagation
from punctuated.model.batch import Row
from punctuated.model.pattern import WILDCARD, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import OnViolation
from punctuated.testing.reference_memory import forget_punctuations
from punctuated.testing.reference_order import later, sort_batch
from punctuated.testing.reference_patterns import Patterns, listed, matches_all
from punctuated.testing.reference_ranges import cover, end_time, glue, settle
from punctuated.testing.reference_state import (
    Accepted,
    BatchOutput,
    Covered,
    EndedValue,
    Ending,
    Key,
    OraclePromise,
    OracleState,
    OracleStream,
    OutputPunctuation,
    PatternEnding,
    Rejected,
)


class StreamsReference(OracleState, ABC):
    """A join of punctuated streams, batch by batch."""

    # Questions that depend on the other streams

    @abstractmethod
    def _join(self, ours: OracleStream, new: Accepted) -> None:
        """Take an accepted tuple: join it with the tuples that it meets, and store it if a later one may meet it."""

    @abstractmethod
    def _advance(self, ours: OracleStream, before: float) -> None:
        """Handle everything that the watermark of `ours` has passed since it was `before`."""

    @abstractmethod
    def _deadlines(self) -> list[float]:
        """The times at which the last tuple of an ended value may leave its window."""

    @abstractmethod
    def _purge_for(self, ours: OracleStream, key: Key) -> None:
        """Purge what waited for this value of `ours`: its ending has taken effect."""

    @abstractmethod
    def _purge_everywhere(self, key: Key) -> None:
        """Purge all tuples of this value: it is about to be over in the output."""

    @abstractmethod
    def _purge_after_end_of(self, ours: OracleStream) -> None:
        """Purge what waited for this stream: it has ended."""

    @abstractmethod
    def _may_be_punctuated(self, key: Key, ended_by: OracleStream | None = None) -> None:
        """Punctuate the output if this value is over; it may be that an ending of `ended_by` has just taken effect."""

    # A batch

    def process(self, *batches: Sequence[Row | Punctuation]) -> BatchOutput:
        """Process a batch of each stream, and return what they bring."""
        self._start_batch()
        for arrival in sort_batch(self, batches):
            self.touch += 1
            self._clock_runs_to(arrival.ts)
            if arrival.row is not None:
                self._tuple(self.streams[arrival.side], arrival.row, arrival.ts)
            elif arrival.punctuation is not None:
                self._punctuation(self.streams[arrival.side], arrival.punctuation)
        self.touch += 1
        self._clock_runs_to(max([self.now, *self._times_of_batch()]))
        self._pending_take_effect()
        settle(self, self._output_watermark())
        self.out.forgotten += forget_punctuations(self)
        return self._end_batch()

    def end(self) -> BatchOutput:
        """Process a last batch that has nothing but the end of all streams."""
        known = [stream.newest for stream in self.streams if stream.newest is not None]
        ends: list[list[Row | Punctuation]] = []
        for stream in self.streams:
            ts = max(known, default=0) if stream.newest is None else stream.newest
            ends.append([Punctuation(ts, (WILDCARD,) * len(stream.spec.columns))])
        return self.process(*ends)

    def _start_batch(self) -> None:
        self.batch += 1
        self.out = BatchOutput(
            forgotten=self.out.forgotten,
            purged=self.out.purged,
            invalidated=self.out.invalidated,
            evicted=self.out.evicted,
            discarded=self.out.discarded,
            dropped=self.out.dropped,
        )
        self.output_wm_at_start = self._output_watermark()
        self.now = -math.inf
        for stream in self.streams:
            stream.wm_at_start = stream.wm
            stream.batch_newest = None

    def _end_batch(self) -> BatchOutput:
        watermark = self._output_watermark()
        self.out.watermark = None if watermark == -math.inf else watermark
        self.out.stored = tuple(len(stream.stored) for stream in self.streams)
        return self.out

    def _output_watermark(self) -> float:
        return min(stream.wm for stream in self.streams)

    # Watermarks

    def _grow_floor(self, ours: OracleStream, floor: float) -> None:
        before = ours.wm
        ours.floor = max(ours.floor, floor)
        self._advance(ours, before)

    # The clock of a batch

    def _clock_runs_to(self, time: float) -> None:
        """Advance the clock. What is due before `time` happens at its own moment, after the objects of that moment."""
        if time > self.now:
            self._pending_take_effect()
            while (moment := min(self._moments_to_come(), default=math.inf)) < time:
                self._clock_reaches(moment)
                self._pending_take_effect()
            self._clock_reaches(time)

    def _times_of_batch(self) -> list[int]:
        return [stream.batch_newest for stream in self.streams if stream.batch_newest is not None]

    def _moments_to_come(self) -> list[float]:
        """The later times at which an ending may take effect, or the last tuple of an ended value may go."""
        moments = self._deadlines()
        for ours in self.streams:
            lateness = ours.spec.lateness_us
            endings = [value.endings[ours.side] for value in self.values.values() if ours.side in value.endings]
            moments += [ending.effect_ts + lateness for ending in [*endings, *ours.ranges] if not ending.in_effect]
            moments += [ours.left_at(key) for key in ours.open]
        return [moment for moment in moments if moment > self.now]

    def _clock_reaches(self, moment: float) -> None:
        self.now = moment
        for stream in self.streams:
            if stream.batch_newest is not None:
                before = stream.wm
                stream.newest = later(stream.newest, int(min(moment, stream.batch_newest)))
                self._advance(stream, before)

    def _pending_take_effect(self) -> None:
        for ours in self.streams:
            if ours.spec.clustered:
                self._end_clusters(ours)
            while (pending := self._next_pending(ours)) is not None:
                if isinstance(pending, PatternEnding):
                    self._range_takes_effect(ours, pending)
                else:
                    self._value_takes_effect(ours, pending)
                    self._may_be_punctuated(pending, ended_by=ours)

    def _next_pending(self, ours: OracleStream) -> Key | PatternEnding | None:
        pending: list[tuple[int, int, Key | PatternEnding]] = []
        for key, value in self.values.items():
            if ours.side in value.endings and not value.endings[ours.side].in_effect:
                pending.append((value.endings[ours.side].effect_ts, value.endings[ours.side].arrival, key))
        pending += [(ending.effect_ts, ending.arrival, ending) for ending in ours.ranges]
        ready = [each for each in pending if each[0] <= ours.wm]
        return min(ready, key=lambda each: each[:2])[2] if ready else None

    # A tuple

    def _tuple(self, ours: OracleStream, row: Row, ts: int) -> None:
        new = Accepted(row, ts, ours.key_of(row.values), ours.window_end(row))
        if self._breaks_promise(ours, new) and self._is_rejected(ours, new):
            return
        ours.accepted.append(new)
        if not new.has_null:
            ours.last_end[new.key] = max(new.end, ours.last_end[new.key] if new.key in ours.last else new.end)
            ours.last[new.key] = later(ours.last.get(new.key), ts)
        self._join(ours, new)
        if ours.spec.unique and not new.has_null:
            self._end_value(ours, new.key, ts, at_once=True)
        if ours.spec.clustered and not new.has_null:
            ours.open.add(new.key)

    def _breaks_promise(self, ours: OracleStream, new: Accepted) -> bool:
        if new.ts < ours.floor:
            return True
        for promise in ours.promises:
            p = promise.punctuation
            since_before = promise.batch < self.batch and p.ts + (not p.in_band) <= ours.wm_at_start
            if (since_before or p.ts < new.ts) and matches_all(p.patterns, new.row.values):
                return True
        if self._covering(ours, new.key):
            return True
        return any(ending.in_effect or ending.ts < new.ts for ending in self._endings(ours, new.key))

    def _is_rejected(self, ours: OracleStream, new: Accepted) -> bool:
        """Whether a tuple that breaks a promise is rejected, as `on_violation` says (or as the output requires)."""
        if ours.spec.on_violation is OnViolation.FAIL:
            raise PromiseBroken(f"stream {ours.spec.name!r}: {new.row.values} comes after it was punctuated")
        if ours.spec.on_violation is OnViolation.REJECT:
            self.out.rejected.append(Rejected(ours.side, new.row, "promise"))
            return True
        if new.ts < ours.floor or self._is_punctuated(new.key):
            self.out.rejected.append(Rejected(ours.side, new.row, "after_output"))
            return True
        return False

    # A punctuation

    def _punctuation(self, ours: OracleStream, p: Punctuation) -> None:
        meaning = ours.meaning(p)
        if ours.ended_at is not None or meaning == "nothing":
            return
        if meaning == "end":
            self._end_stream(ours, p.ts)
        elif meaning == "time":
            bound = p.patterns[ours.spec.columns.index(ours.spec.time)]
            assert isinstance(bound, Range)
            self._grow_floor(ours, bound.high + 1 if bound.high_closed else bound.high)
        elif meaning == "promise":
            ours.promises.append(OraclePromise(p, self._next_arrival(), self.touch, self.batch))
        elif meaning == "values":
            key = tuple(listed(pattern)[0] for pattern in ours.key_of(p.patterns))
            self._end_value(ours, key, p.ts, announced=not p.in_band)
        else:
            self._end_range(ours, p)

    def _next_arrival(self) -> int:
        self.n_arrivals += 1
        return self.n_arrivals

    # Ending a value

    def _endings(self, ours: OracleStream, key: Key) -> list[Ending]:
        """The endings by which `ours` has ended this value: by name, and by pending ranges."""
        by_name = self.values[key].endings if key in self.values else {}
        named = [by_name[ours.side]] if ours.side in by_name else []
        return named + [ending for ending in ours.ranges if matches_all(ending.patterns, key)]

    def _covering(self, ours: OracleStream, key: Key) -> list[Covered]:
        """The values under ranges of `ours` in effect, where these include this value."""
        return [each for each in self.covered if ours.side in each.ends and matches_all(each.patterns, key)]

    def _ended_with_effect(self, ours: OracleStream, key: Key) -> int | None:
        """The `p.ts` of the ending in effect of this value: by name, else by range, else by the end of the stream."""
        punctuated = self._punctuated_with_effect(ours, key)
        return ours.ended_at if punctuated is None else punctuated

    def _punctuated_with_effect(self, ours: OracleStream, key: Key) -> int | None:
        named = [ending.ts for ending in self._endings(ours, key) if ending.in_effect]
        by_range = [int(end_time(self, each, ours.side)) for each in self._covering(ours, key)]
        return next(iter(named + by_range), None)

    def _proved_over(self, stream: OracleStream, key: Key) -> int | None:
        """The `p.ts` by which `stream` proves that this value is over; any algorithm uses the end of a stream."""
        return self._ended_with_effect(stream, key) if self.spec.algorithm.by_punctuation else stream.ended_at

    def _end_value(self, ours: OracleStream, key: Key, ts: int, at_once: bool = False, announced: bool = False) -> None:
        if self._put_in_effect(ours, key, ts, at_once, announced):
            self._may_be_punctuated(key, ended_by=ours)

    def _put_in_effect(
        self, ours: OracleStream, key: Key, ts: int, at_once: bool = False, announced: bool = False
    ) -> bool:
        """End the value; if that takes effect now, purge the tuples that waited for it and return True."""
        if self._ended_with_effect(ours, key) is not None:
            return False
        value = self.values.setdefault(key, EndedValue(self.touch, self._is_punctuated(key)))
        is_repeated = ours.side in value.endings
        value.touched = value.touched if is_repeated else self.touch
        new = Ending(ts, self._next_arrival(), announced=announced)
        ending = value.endings.setdefault(ours.side, new)
        if (new.ts, new.announced) < (ending.ts, ending.announced):
            ending = value.endings[ours.side] = new
        if at_once or (not is_repeated and ours.wm >= ending.effect_ts):
            self._value_takes_effect(ours, key)
        return ending.in_effect

    def _value_takes_effect(self, ours: OracleStream, key: Key) -> None:
        self.values[key].endings[ours.side].in_effect = True
        if self.spec.algorithm.by_punctuation:
            self._purge_for(ours, key)

    def _end_clusters(self, ours: OracleStream) -> None:
        """End each value that a clustered stream has left, at the time of the tuple that shows it."""
        newest = -math.inf if ours.newest is None else ours.newest
        left = [(ours.left_at(key), ours.last.get(key), key) for key in ours.open if ours.left_at(key) <= newest]
        for left_at, _, key in sorted(left):
            ours.open.remove(key)
            self._end_value(ours, key, int(left_at))

    def _end_stream(self, ours: OracleStream, ts: int) -> None:
        pending = [k for k, v in self.values.items() if ours.side in v.endings and not v.endings[ours.side].in_effect]
        before = ours.wm
        ours.floor = math.inf
        ours.open = set()
        ended = [key for key in sorted(pending) if self._put_in_effect(ours, key, ts, at_once=True)]
        ours.ended_at = ts
        self._purge_after_end_of(ours)
        others = [stream for stream in self.streams if stream is not ours]
        for key in sorted(self.values):
            if key in ended or any(self._punctuated_with_effect(other, key) is not None for other in others):
                self._may_be_punctuated(key, ended_by=ours if key in ended else None)
        self._advance(ours, before)

    # Range endings

    def _end_range(self, ours: OracleStream, p: Punctuation) -> None:
        ending = PatternEnding(p.ts, self._next_arrival(), announced=not p.in_band)
        ending.patterns, ending.touched = ours.key_of(p.patterns), self.touch
        ours.ranges.append(ending)
        if ours.wm >= ending.effect_ts:
            self._range_takes_effect(ours, ending)

    def _range_takes_effect(self, ours: OracleStream, ending: PatternEnding) -> None:
        ours.ranges.remove(ending)
        stored = {kept.key for stream in self.streams for kept in stream.stored}
        waiting = {key for key, value in self.values.items() if not value.punctuated}
        named = sorted(key for key in stored | waiting if matches_all(ending.patterns, key))
        ended = [key for key in named if self._put_in_effect(ours, key, ending.ts, at_once=True)]
        for patterns, ts in cover(self, ours.side, ending):
            self._punctuate_range(patterns, ts)
        glue(self)
        for key in ended:
            self._may_be_punctuated(key, ended_by=ours)

    def _punctuate_range(self, patterns: Patterns, ts: int) -> None:
        stored = {kept.key for stream in self.streams for kept in stream.stored}
        for key in sorted(key for key in stored if matches_all(patterns, key)):
            self._purge_everywhere(key)
        # The range is remembered instead of its values; values that were punctuated before stay.
        self.values = {k: v for k, v in self.values.items() if v.punctuated or not matches_all(patterns, k)}
        self.out.punctuations.append(OutputPunctuation(None, ts, self._by_all, patterns))

    # Output punctuations

    def _is_punctuated(self, key: Key) -> bool:
        named = key in self.values and self.values[key].punctuated
        return named or any(each.punctuated and matches_all(each.patterns, key) for each in self.covered)

    def _mark_punctuated(self, key: Key) -> None:
        value = self.values[key]
        value.punctuated, value.touched = True, self.touch
        for stream in self.streams:
            ts = self._ended_with_effect(stream, key)
            if ts is not None:
                value.endings[stream.side] = Ending(ts, self._next_arrival(), in_effect=True)

    def _regular(self, key: Key) -> tuple[int, str] | None:
        """PW-08: a value is over in the output when all streams have ended it."""
        if self.spec.algorithm.propagation is Propagation.NONE:
            return None
        ended = [self._ended_with_effect(stream, key) for stream in self.streams]
        known = [ts for ts in ended if ts is not None]
        return (max(known), self._by_all) if len(known) == len(ended) else None

    @property
    def _by_all(self) -> str:
        """The reason of a regular output punctuation."""
        return "both" if len(self.streams) == 2 else "all"
