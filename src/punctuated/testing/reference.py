"""The oracle: slow, obvious Python that defines what a correct join is.

It is `docs/semantics.md` in executable form, method by heading, and shares no code with the operators. It keeps every
accepted tuple in plain lists and asks the same questions again and again; nothing here is meant to be fast.

The law behind it: a tuple may be forgotten once no future tuple can match it; windows (PW-10) and punctuations (PW-01)
are two proofs of that.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from punctuated.errors import PromiseBroken
from punctuated.model.algorithm import Propagation
from punctuated.model.pattern import WILDCARD, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.spec import JoinSpec, JoinType, OnViolation
from punctuated.model.tuples import Row
from punctuated.model.window import CountWindow
from punctuated.testing.reference_groups import groups
from punctuated.testing.reference_memory import forget_punctuations
from punctuated.testing.reference_patterns import Patterns, listed, matches_all
from punctuated.testing.reference_ranges import cover, end_time, glue, settle
from punctuated.testing.reference_state import (
    MEANINGS,
    Accepted,
    Arrival,
    BatchOutput,
    Covered,
    EndedValue,
    Ending,
    Key,
    OutputPunctuation,
    Promise,
    RangeEnding,
    Rejected,
    Stream,
    Unmatched,
)

__all__ = ["BatchOutput", "OutputPunctuation", "Reference", "Rejected", "Unmatched", "groups", "join"]

Where = Callable[[Row, Row], bool]

PRESERVED = {
    LEFT: (JoinType.LEFT, JoinType.FULL, JoinType.ANTI),
    RIGHT: (JoinType.RIGHT, JoinType.FULL),
}


class Reference:
    """The join of two punctuated streams, batch by batch."""

    def __init__(self, spec: JoinSpec, where: Where | None = None, integer_key: bool | None = None) -> None:
        self.spec, self.where, self.integer_key = spec, where, integer_key
        self.streams = Stream(LEFT, spec.left), Stream(RIGHT, spec.right)
        self.values: dict[Key, EndedValue] = {}
        self.covered: list[Covered] = []  # values under ranges in effect
        self.due_purges: list[tuple[Side, Key]] = []
        self.n_effects = 0  # endings that took effect since the last purge
        self.batch = 0
        self.touch = 0  # number of the object that is processed
        self.n_arrivals = 0
        self.now = -math.inf  # the clock of the batch
        self.out = BatchOutput()
        self.output_wm_at_start = -math.inf

    def process(self, left: Sequence[Row | Punctuation], right: Sequence[Row | Punctuation]) -> BatchOutput:
        """One batch: what it brings."""
        self._start_batch()
        arrivals = self._sort_out([*self._arrivals(LEFT, left), *self._arrivals(RIGHT, right)])
        for arrival in arrivals:
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
        """A final batch with nothing but the end of both streams."""
        newest = [stream.newest for stream in self.streams]
        ends: list[list[Row | Punctuation]] = []
        for stream in self.streams:
            known = [ts for ts in (newest[stream.side], newest[stream.side.other], 0) if ts is not None]
            ends.append([Punctuation(known[0], (WILDCARD,) * len(stream.spec.columns))])
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
        self.out.stored = len(self.streams[LEFT].stored), len(self.streams[RIGHT].stored)
        return self.out

    def _output_watermark(self) -> float:
        return min(stream.wm for stream in self.streams)

    def _other(self, ours: Stream) -> Stream:
        return self.streams[ours.side.other]

    def _preserves(self, ours: Stream) -> bool:
        return self.spec.how in PRESERVED[ours.side]

    # Objects and their order

    def _arrivals(self, side: Side, objects: Sequence[Row | Punctuation]) -> Iterator[Arrival]:
        stream = self.streams[side]
        for number, each in enumerate(objects):
            if isinstance(each, Punctuation):
                yield from (Arrival(side, p.ts, number, punctuation=p) for p in self._one_by_one(stream, each))
                continue
            ts = stream.time_of(each)
            yield Arrival(side, ts, number, row=each)
            flag = stream.spec.flag
            flagged = flag is not None and each.values[stream.spec.columns.index(flag)]
            key = stream.key_of(each.values)
            if flagged and None not in key:
                yield Arrival(side, ts, number, punctuation=stream.ending(ts, key), flagged=True)

    def _one_by_one(self, ours: Stream, p: Punctuation) -> list[Punctuation]:
        """A punctuation that names values, as one for each of them."""
        if ours.meaning(p) != "values":
            return [p]
        keys = product(*(listed(pattern) for pattern in ours.key_of(p.patterns)))
        return [ours.ending(p.ts, key, p.in_band) for key in keys]

    def _order(self, arrival: Arrival) -> tuple[Any, ...]:
        stream = self.streams[arrival.side]
        if arrival.punctuation is not None:
            meaning = stream.meaning(arrival.punctuation)
            patterns = stream.key_of(arrival.punctuation.patterns)
            content = [listed(pattern) for pattern in patterns] if meaning == "values" else repr(patterns)
            return arrival.ts, 1, arrival.side, MEANINGS.index(meaning), not arrival.punctuation.in_band, content
        assert arrival.row is not None
        spec = stream.spec
        first = [*([spec.order] if spec.order is not None else []), *spec.key]
        columns = first + [column for column in spec.columns if column not in first]
        values = [arrival.row.values[spec.columns.index(column)] for column in columns]
        return arrival.ts, 0, arrival.side, [(value is None, value) for value in values]

    # Watermarks

    def _sort_out(self, arrivals: Sequence[Arrival]) -> list[Arrival]:
        kept = []
        newest = [stream.newest for stream in self.streams]
        ahead = set()
        in_order = sorted(arrivals, key=self._order)
        first_of_value = self._first_of_values(in_order)
        for arrival in in_order:
            side, row = arrival.side, arrival.row
            if row is not None and self._is_ahead(side, arrival.ts, newest[side]):
                self.out.rejected.append(Rejected(side, row, "ahead"))
                ahead.add((side, arrival.number))
                continue
            if arrival.flagged and (side, arrival.number) in ahead:
                continue
            if arrival.punctuation is None or arrival.punctuation.in_band:
                newest[side] = _later(newest[side], arrival.ts)
                self.streams[side].batch_newest = _later(self.streams[side].batch_newest, arrival.ts)
            if row is not None and arrival in first_of_value:
                self.streams[side].note_boundary(arrival)
            if row is not None and arrival.ts < self.streams[side].wm_at_start:
                self.out.rejected.append(Rejected(side, row, "late"))
                continue
            kept.append(arrival)
        return kept

    def _first_of_values(self, in_order: Sequence[Arrival]) -> set[Arrival]:
        """The first tuple of each value that a stream brings in this batch, whatever becomes of it.

        A key with a null in it equals no other one: each such tuple is the first of its value.
        """
        first: dict[tuple[Side, Key], Arrival] = {}
        nulls = set()
        for arrival in in_order:
            if arrival.row is not None:
                key = self.streams[arrival.side].key_of(arrival.row.values)
                if None in key:
                    nulls.add(arrival)
                else:
                    first.setdefault((arrival.side, key), arrival)
        return nulls | set(first.values())

    def _is_ahead(self, side: Side, ts: int, newest: int | None) -> bool:
        max_ahead = self.streams[side].spec.max_ahead_us
        return max_ahead is not None and newest is not None and ts > newest + max_ahead

    def _grow_floor(self, ours: Stream, floor: float) -> None:
        before = ours.wm
        ours.floor = max(ours.floor, floor)
        self._advance(ours, before)

    def _advance(self, ours: Stream, before: float) -> None:
        """Whatever `ours`'s watermark leaves behind as it moves on from `before`."""
        other = self._other(ours)
        if self.spec.algorithm.by_window:
            for kept in other.stored:
                if ours.wm > kept.end:
                    self.out.invalidated += 1
                    self._drop(other, kept)
        for key in sorted(self.values):
            if key in other.last and before <= other.last_end[key] < ours.wm:
                self._may_be_punctuated(key, last_gone=other)

    # The clock of a batch

    def _clock_runs_to(self, time: float) -> None:
        """Whatever falls due on the way happens at its own moment; the effects of a moment follow its objects."""
        if time > self.now:
            self._pending_take_effect()
            while (moment := min(self._moments_to_come(), default=math.inf)) < time:
                self._clock_reaches(moment)
                self._pending_take_effect()
            self._clock_reaches(time)

    def _times_of_batch(self) -> list[int]:
        return [stream.batch_newest for stream in self.streams if stream.batch_newest is not None]

    def _moments_to_come(self) -> list[float]:
        """When an ending may take effect, or the last tuple of an ended value may leave its window."""
        moments: list[float] = []
        for ours in self.streams:
            lateness, other = ours.spec.lateness_us, self._other(ours)
            endings = [value.endings[ours.side] for value in self.values.values() if ours.side in value.endings]
            moments += [ending.effect_ts + lateness for ending in [*endings, *ours.ranges] if not ending.in_effect]
            moments += [ours.left_at(key) for key in ours.open]
            moments += [other.last_end[key] + 1 + lateness for key in self.values if key in other.last]
        return [moment for moment in moments if moment > self.now]

    def _clock_reaches(self, moment: float) -> None:
        self.now = moment
        for stream in self.streams:
            if stream.batch_newest is not None:
                before = stream.wm
                stream.newest = _later(stream.newest, int(min(moment, stream.batch_newest)))
                self._advance(stream, before)

    def _pending_take_effect(self) -> None:
        for ours in self.streams:
            if ours.spec.clustered:
                self._end_clusters(ours)
            while (pending := self._next_pending(ours)) is not None:
                if isinstance(pending, RangeEnding):
                    self._range_takes_effect(ours, pending)
                else:
                    self._value_takes_effect(ours, pending)
                    self._may_be_punctuated(pending, ended_by=ours)

    def _next_pending(self, ours: Stream) -> Key | RangeEnding | None:
        pending: list[tuple[int, int, Key | RangeEnding]] = []
        for key, value in self.values.items():
            if ours.side in value.endings and not value.endings[ours.side].in_effect:
                pending.append((value.endings[ours.side].effect_ts, value.endings[ours.side].arrival, key))
        pending += [(ending.effect_ts, ending.arrival, ending) for ending in ours.ranges]
        ready = [each for each in pending if each[0] <= ours.wm]
        return min(ready, key=lambda each: each[:2])[2] if ready else None

    # A tuple

    def _tuple(self, ours: Stream, row: Row, ts: int) -> None:
        new = Accepted(row, ts, ours.key_of(row.values), ours.window_end(row))
        if self._breaks_promise(ours, new) and self._turned_away(ours, new):
            return
        ours.accepted.append(new)
        if new.has_null:
            self._unmatched(ours, new, ts)
        else:
            ours.last_end[new.key] = max(new.end, ours.last_end[new.key] if new.key in ours.last else new.end)
            ours.last[new.key] = _later(ours.last.get(new.key), ts)
            if self._is_punctuated(new.key):
                self.out.dropped += 1
                self._unmatched(ours, new, ts)
            else:
                self._probe(ours, new)
                self._store(ours, new)
                if self._settles_left and ours.side is RIGHT:
                    self._may_be_punctuated(new.key, last_gone=self._other(ours), gone_at=ts)
        self._evict(ours, new)
        if ours.spec.unique and not new.has_null:
            self._end_value(ours, new.key, ts, at_once=True)
        if ours.spec.clustered and not new.has_null:
            ours.open.add(new.key)

    def _breaks_promise(self, ours: Stream, new: Accepted) -> bool:
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

    def _turned_away(self, ours: Stream, new: Accepted) -> bool:
        """What `on_violation` says about a tuple that breaks a promise."""
        if ours.spec.on_violation is OnViolation.FAIL:
            raise PromiseBroken(f"stream {ours.spec.name!r}: {new.row.values} comes after it was punctuated")
        if ours.spec.on_violation is OnViolation.REJECT:
            self.out.rejected.append(Rejected(ours.side, new.row, "promise"))
            return True
        if new.ts < ours.floor or self._is_punctuated(new.key):
            self.out.rejected.append(Rejected(ours.side, new.row, "after_output"))
            return True
        return False

    def _probe(self, ours: Stream, new: Accepted) -> None:
        other = self._other(ours)
        for kept in other.stored:
            if kept.key == new.key and self._within_windows(ours, new, other, kept):
                pair = (new, kept) if ours.side is LEFT else (kept, new)
                if self.where is None or self.where(pair[LEFT].row, pair[RIGHT].row):
                    self._match(*pair)

    def _within_windows(self, ours: Stream, new: Accepted, other: Stream, kept: Accepted) -> bool:
        if kept.ts < new.ts:
            return other.admits(kept, new.ts)
        if new.ts < kept.ts:
            return ours.admits(new, kept.ts)
        return ours.admits(new, kept.ts) and other.admits(kept, new.ts)

    @property
    def _settles_left(self) -> bool:
        """Whether a left tuple is done with after its first match."""
        return self.spec.how in (JoinType.SEMI, JoinType.ANTI)

    def _match(self, left: Accepted, right: Accepted) -> None:
        ts = max(left.ts, right.ts)
        if self.spec.how is JoinType.SEMI and not left.matched:
            self._result(left.row, None, ts)
        if self._settles_left:
            self.streams[LEFT].forget(left)
        else:
            self._result(left.row, right.row, ts)
        left.matched = right.matched = True

    def _result(self, left: Row, right: Row | None, ts: int) -> None:
        self.out.results.append((left, right))
        self.out.result_ts.append(ts)

    def _store(self, ours: Stream, new: Accepted) -> None:
        other = self._other(ours)
        proofs = self._proofs(ours, new)
        new.has_place = not proofs
        if new.matched and ours.side is LEFT and self._settles_left:
            return
        if not proofs:
            ours.stored.append(new)
            return
        if self._proved_over(other, new.key) is not None:
            self.out.discarded += 1
        self._unmatched(ours, new, min(proofs))

    def _evict(self, ours: Stream, new: Accepted) -> None:
        window = ours.spec.window
        if not isinstance(window, CountWindow):
            return
        queue = ours.accepted
        if window.per_key:
            queue = [each for each in ours.accepted if each.key == new.key and each.has_place]
        if (window.per_key and not new.has_place) or len(queue) <= window.n:
            return
        evicted = queue[-window.n - 1]
        if evicted in ours.stored:
            self.out.evicted += 1
            ours.forget(evicted)
            self._unmatched(ours, evicted, new.ts)
        if evicted.has_place:
            evicted.has_place = False
            self._may_be_punctuated(evicted.key, last_gone=ours, gone_at=new.ts)

    # Forgetting

    def _proved_over(self, stream: Stream, key: Key) -> int | None:
        """The `p.ts` by which `stream` proves that no more tuples of this value come, if the algorithm listens."""
        return self._ended_with_effect(stream, key) if self.spec.algorithm.by_punctuation else stream.ended_at

    def _proofs(self, ours: Stream, kept: Accepted) -> list[int]:
        """The times at which it was proved that nothing will match this tuple any more."""
        proofs = []
        other = self._other(ours)
        if self.spec.algorithm.by_window and other.wm > kept.end:
            proofs.append(int(kept.end))
        over = self._proved_over(other, kept.key)
        if over is not None:
            proofs.append(max(kept.ts, over))
        return proofs

    def _drop(self, ours: Stream, kept: Accepted) -> None:
        ours.forget(kept)
        self._unmatched(ours, kept, min(self._proofs(ours, kept)))

    def _unmatched(self, ours: Stream, kept: Accepted, ts: int) -> None:
        if self._preserves(ours) and not kept.matched:
            self.out.unmatched.append(Unmatched(ours.side, kept.row, int(max(ts, kept.ts, self.output_wm_at_start))))

    def _purge_or_wait(self, ours: Stream, key: Key) -> None:
        """Eager for a threshold of one, lazy above (PJ-07)."""
        self.due_purges.append((ours.side, key))
        self.n_effects += 1
        if self.n_effects >= self.spec.purge_threshold:
            for side, due in self.due_purges:
                self._purge(self.streams[side], due)
            self.due_purges, self.n_effects = [], 0

    def _purge(self, ours: Stream, key: Key) -> None:
        """`ours` has ended the value: `other`'s tuples wait for nothing any more."""
        other = self._other(ours)
        if self._proved_over(ours, key) is None:
            return
        for kept in other.stored:
            if kept.key == key:
                self.out.purged += 1
                self._drop(other, kept)
        other.give_up_places(key)

    # A punctuation

    def _punctuation(self, ours: Stream, p: Punctuation) -> None:
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
            ours.promises.append(Promise(p, self._next_arrival(), self.touch, self.batch))
        elif meaning == "values":
            key = tuple(listed(pattern)[0] for pattern in ours.key_of(p.patterns))
            self._end_value(ours, key, p.ts, announced=not p.in_band)
        else:
            self._end_range(ours, p)

    def _next_arrival(self) -> int:
        self.n_arrivals += 1
        return self.n_arrivals

    # Ending a value

    def _endings(self, ours: Stream, key: Key) -> list[Ending]:
        """What `ours` has said about the end of this value, by name or by a pending range."""
        by_name = self.values[key].endings if key in self.values else {}
        named = [by_name[ours.side]] if ours.side in by_name else []
        return named + [ending for ending in ours.ranges if matches_all(ending.patterns, key)]

    def _covering(self, ours: Stream, key: Key) -> list[Covered]:
        """Where the value lies under ranges in effect."""
        return [each for each in self.covered if ours.side in each.ends and matches_all(each.patterns, key)]

    def _ended_with_effect(self, ours: Stream, key: Key) -> int | None:
        """The `p.ts` of the ending in effect, if there is one: by name, else by range, else by the stream's end."""
        punctuated = self._punctuated_with_effect(ours, key)
        return ours.ended_at if punctuated is None else punctuated

    def _punctuated_with_effect(self, ours: Stream, key: Key) -> int | None:
        named = [ending.ts for ending in self._endings(ours, key) if ending.in_effect]
        by_range = [int(end_time(self, each, ours.side)) for each in self._covering(ours, key)]
        return next(iter(named + by_range), None)

    def _end_value(self, ours: Stream, key: Key, ts: int, at_once: bool = False, announced: bool = False) -> None:
        if self._put_in_effect(ours, key, ts, at_once, announced):
            self._may_be_punctuated(key, ended_by=ours)

    def _put_in_effect(self, ours: Stream, key: Key, ts: int, at_once: bool = False, announced: bool = False) -> bool:
        """Ends the value; if that takes effect now, purges what waited for it."""
        if self._ended_with_effect(ours, key) is not None:
            return False
        value = self.values.setdefault(key, EndedValue(self.touch, self._is_punctuated(key)))
        is_repeated = ours.side in value.endings
        value.touched = value.touched if is_repeated else self.touch
        said = Ending(ts, self._next_arrival(), announced=announced)
        ending = value.endings.setdefault(ours.side, said)
        if (said.ts, said.announced) < (ending.ts, ending.announced):
            ending = value.endings[ours.side] = said
        if at_once or (not is_repeated and ours.wm >= ending.effect_ts):
            self._value_takes_effect(ours, key)
        return ending.in_effect

    def _value_takes_effect(self, ours: Stream, key: Key) -> None:
        self.values[key].endings[ours.side].in_effect = True
        if self.spec.algorithm.by_punctuation:
            self._purge_or_wait(ours, key)

    def _end_clusters(self, ours: Stream) -> None:
        """`clustered()`: a value that the stream has left by now is ended, at the time of the tuple that shows it."""
        newest = -math.inf if ours.newest is None else ours.newest
        left = [(ours.left_at(key), ours.last.get(key), key) for key in ours.open if ours.left_at(key) <= newest]
        for left_at, _, key in sorted(left):
            ours.open.remove(key)
            self._end_value(ours, key, int(left_at))

    def _end_stream(self, ours: Stream, ts: int) -> None:
        pending = [k for k, v in self.values.items() if ours.side in v.endings and not v.endings[ours.side].in_effect]
        before = ours.wm
        ours.floor = math.inf
        ours.open = set()
        ended = [key for key in sorted(pending) if self._put_in_effect(ours, key, ts, at_once=True)]
        ours.ended_at = ts
        other = self._other(ours)
        for kept in other.stored:
            self.out.purged += 1
            self._drop(other, kept)
        for key in sorted(self.values):
            if key in ended or self._punctuated_with_effect(other, key) is not None:
                self._may_be_punctuated(key, ended_by=ours if key in ended else None)
        self._advance(ours, before)

    # Range endings

    def _end_range(self, ours: Stream, p: Punctuation) -> None:
        ending = RangeEnding(p.ts, self._next_arrival(), announced=not p.in_band)
        ending.patterns, ending.touched = ours.key_of(p.patterns), self.touch
        ours.ranges.append(ending)
        if ours.wm >= ending.effect_ts:
            self._range_takes_effect(ours, ending)

    def _range_takes_effect(self, ours: Stream, ending: RangeEnding) -> None:
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
            self._purge_both(key)
        # The range is remembered in the place of its values; those that were punctuated before stay.
        self.values = {k: v for k, v in self.values.items() if v.punctuated or not matches_all(patterns, k)}
        self.out.punctuations.append(OutputPunctuation(None, ts, "both", patterns))

    # Output punctuations

    def _is_punctuated(self, key: Key) -> bool:
        named = key in self.values and self.values[key].punctuated
        return named or any(each.punctuated and matches_all(each.patterns, key) for each in self.covered)

    def _may_be_punctuated(
        self,
        key: Key,
        ended_by: Stream | None = None,
        last_gone: Stream | None = None,
        gone_at: int | None = None,
    ) -> None:
        """Applies the rules in their order.

        Either an ending of `ended_by` has just taken effect, or the last tuple of `last_gone` may just have gone: by
        its window, or at `gone_at`, the time of a tuple that has matched or evicted it.
        """
        if key not in self.values or self.values[key].punctuated:
            return
        early = self._early(key, ended_by, last_gone)
        rule = self._regular(key) or early or self._own_state(key, ended_by or last_gone, gone_at)
        if rule is not None:
            ts, reason = rule
            self._purge_both(key)
            self._mark_punctuated(key)
            self.out.punctuations.append(OutputPunctuation(key, ts, reason))

    def _purge_both(self, key: Key) -> None:
        for stream in self.streams:
            self._purge(stream, key)

    def _mark_punctuated(self, key: Key) -> None:
        value = self.values[key]
        value.punctuated, value.touched = True, self.touch
        for stream in self.streams:
            ts = self._ended_with_effect(stream, key)
            if ts is not None:
                value.endings[stream.side] = Ending(ts, self._next_arrival(), in_effect=True)

    def _regular(self, key: Key) -> tuple[int, str] | None:
        """PW-08: both streams have ended it."""
        if self.spec.algorithm.propagation is Propagation.NONE:
            return None
        left, right = (self._ended_with_effect(stream, key) for stream in self.streams)
        return None if left is None or right is None else (max(left, right), "both")

    def _early(self, key: Key, ended_by: Stream | None, last_gone: Stream | None) -> tuple[int, str] | None:
        """PW-32, Theorem 4.1: one stream has ended it, and its last tuple cannot be met any more."""
        if self.spec.algorithm.propagation is not Propagation.EARLY:
            return None
        for ours in (stream for stream in self.streams if stream in (ended_by, last_gone)):
            ending = self.values[key].endings.get(ours.side)
            p_ts = ending.ts if ending is not None and ending.in_effect else None
            if p_ts is not None and not self._preserves(self._other(ours)):
                gone = self._gone_since(ours, key, just_ended=ours is ended_by)
                if gone is not None:
                    return int(max(p_ts, gone)), "early"
        return None

    def _gone_since(self, ours: Stream, key: Key, just_ended: bool) -> float | None:
        """Since when no tuple of `ours` with this value can be met; minus infinity if there never was one."""
        last, window = ours.last.get(key), ours.spec.window
        if last is None:
            return -math.inf
        if isinstance(window, CountWindow):
            if any(each.has_place for each in ours.accepted if each.key == key):
                return None
            return -math.inf if just_ended else max(last, ours.accepted[-1].ts)
        end = ours.last_end[key]
        if self._other(ours).wm <= end:
            return None
        return -math.inf if just_ended and ours.wm > end + 1 else end + 1

    def _own_state(self, key: Key, ours: Stream | None, gone_at: int | None) -> tuple[int, str] | None:
        """PJ-09: one stream has ended it and stores no tuple of it, since its effect or since one at `gone_at`."""
        if self.spec.algorithm.propagation is not Propagation.OWN_STATE or ours is None:
            return None
        ending = self.values[key].endings.get(ours.side)
        if ending is None or not ending.in_effect or self._preserves(self._other(ours)):
            return None
        if any(kept.key == key for kept in ours.stored):
            return None
        return ending.ts if gone_at is None else max(ending.ts, gone_at), "own-state"


def join(
    spec: JoinSpec,
    batches: Sequence[tuple[Sequence[Row | Punctuation], Sequence[Row | Punctuation]]],
    where: Where | None = None,
    end: bool = True,
) -> list[BatchOutput]:
    """What each batch brings, and the end of both streams as a last batch unless `end` is false."""
    reference = Reference(spec, where)
    outputs = [reference.process(left, right) for left, right in batches]
    return [*outputs, reference.end()] if end else outputs


def _later(one: int | None, two: int) -> int:
    return two if one is None else max(one, two)
