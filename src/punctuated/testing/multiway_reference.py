"""The oracle of a join of any number of streams: the law of `reference`, applied to whole results.

A result has one tuple of each stream; keys are equal, and every pair is within reach. A tuple may be forgotten once no
later result can contain it. There are two proofs:

- *complete*: no other stream can bring a further partner of it, because that stream has ended the value or its
  watermark is beyond the tuple's reach. So all results with this tuple are out;
- *no partner*: some other stream has no stored partner of it and can bring none, whatever the others do.

Both are applied until nothing changes any more: a forgotten tuple may leave another one without a partner.
"""

import math
from collections.abc import Callable, Sequence
from itertools import product

from punctuated.model.algorithm import Propagation
from punctuated.model.spec import JoinSpec
from punctuated.testing.reference_state import Accepted, Key, OracleStream, OutputPunctuation
from punctuated.testing.reference_streams import StreamsReference

Where = Callable[..., bool]  # of one row of each stream


class MultiwayReference(StreamsReference):
    """The inner join of punctuated streams, batch by batch."""

    def __init__(
        self,
        spec: JoinSpec,
        where: Where | None = None,
        integer_key: bool | None = None,
        *,
        by_value: bool = False,
    ) -> None:
        """`by_value`: look for partners by value only, whatever their times, as operators do."""
        super().__init__(spec, integer_key)
        self.where, self.by_value = where, by_value

    def _others(self, ours: OracleStream) -> list[OracleStream]:
        return [stream for stream in self.streams if stream is not ours]

    def _reach(self, ours: OracleStream, other: OracleStream) -> int:
        """How much later than a tuple of `ours` a tuple of `other` may be, by the widest of the reaches."""
        return max(reach[ours.side][other.side] for reach in self.spec.reaches)

    # Results

    def _join(self, ours: OracleStream, new: Accepted) -> None:
        if new.has_null:
            return
        if self._is_punctuated(new.key):
            self.out.dropped += 1
            return
        self._probe(ours, new)
        if not self._is_needless(ours, new):
            ours.stored.append(new)
            return
        if any(self._proved_over(other, new.key) is not None for other in self._others(ours)):
            self.out.discarded += 1

    def _probe(self, ours: OracleStream, new: Accepted) -> None:
        """Put out all results that the new tuple completes; its partners came before it in the order of processing."""
        alike = [[kept for kept in stream.stored if kept.key == new.key] for stream in self.streams]
        alike[ours.side] = [new]
        for members in product(*alike):
            rows = [member.row for member in members]
            if self._are_within_reach(members) and (self.where is None or self.where(*rows)):
                self.out.results.append(tuple(rows))
                self.out.result_ts.append(max(member.ts for member in members))

    def _are_within_reach(self, members: Sequence[Accepted]) -> bool:
        """Whether every pair of members is within reach, all by the same of the reaches."""
        times = [member.ts for member in members]
        pairs = list(product(range(len(times)), repeat=2))
        return any(all(times[j] - times[i] <= reach[i][j] for i, j in pairs) for reach in self.spec.reaches)

    # Forgetting

    def _is_beyond(self, other: OracleStream, ours: OracleStream, kept: Accepted) -> bool:
        """Whether the watermark of `other` is beyond the reach of this tuple."""
        return self.spec.algorithm.by_window and other.wm > kept.ts + self._reach(ours, other)

    def _can_bring(self, other: OracleStream, ours: OracleStream, kept: Accepted) -> bool:
        """Whether `other` may still bring a partner of this tuple."""
        return self._proved_over(other, kept.key) is None and not self._is_beyond(other, ours, kept)

    def _is_complete(self, ours: OracleStream, kept: Accepted) -> bool:
        return not any(self._can_bring(other, ours, kept) for other in self._others(ours))

    def _has_no_partner(self, ours: OracleStream, kept: Accepted) -> bool:
        return any(self._lacks_partner(other, ours, kept) for other in self._others(ours))

    def _lacks_partner(self, other: OracleStream, ours: OracleStream, kept: Accepted) -> bool:
        alike = [each for each in other.stored if each.key == kept.key]
        if self.by_value:
            return self._proved_over(other, kept.key) is not None and not alike
        partners = [each for each in alike if self._is_pair_within_reach(ours, kept, other, each)]
        return not partners and not self._can_bring(other, ours, kept)

    def _is_pair_within_reach(self, ours: OracleStream, one: Accepted, other: OracleStream, two: Accepted) -> bool:
        later = two.ts - one.ts
        i, j = ours.side, other.side
        return any(later <= reach[i][j] and -later <= reach[j][i] for reach in self.spec.reaches)

    def _is_needless(self, ours: OracleStream, kept: Accepted) -> bool:
        return self._is_complete(ours, kept) or self._has_no_partner(ours, kept)

    def _forget(self) -> int:
        """Forget by both proofs until nothing changes any more; returns how many tuples were forgotten."""
        n_stored = sum(len(stream.stored) for stream in self.streams)
        while needless := [(by, kept) for by in self.streams for kept in by.stored if self._is_needless(by, kept)]:
            for stream, kept in needless:
                stream.forget(kept)
        return n_stored - sum(len(stream.stored) for stream in self.streams)

    def _purge_for(self, ours: OracleStream, key: Key) -> None:
        self.out.purged += self._forget()

    def _purge_after_end_of(self, ours: OracleStream) -> None:
        self.out.purged += self._forget()

    def _purge_everywhere(self, key: Key) -> None:
        for stream in self.streams:
            for kept in [each for each in stream.stored if each.key == key]:
                stream.forget(kept)
                self.out.purged += 1

    # Watermarks

    def _advance(self, ours: OracleStream, before: float) -> None:
        self.out.invalidated += self._forget()
        for key in sorted(self.values):
            if any(before <= end < ours.wm for end in self._last_ends(key, ours)):
                self._may_be_punctuated(key)

    def _deadlines(self) -> list[float]:
        return [
            end + 1 + ours.spec.lateness_us
            for ours in self.streams
            for key in self.values
            for end in self._last_ends(key, ours)
        ]

    def _last_ends(self, key: Key, ours: OracleStream) -> list[int]:
        """The latest times at which `ours` can bring a partner of the last tuple of this value in each other stream."""
        known = [other for other in self._others(ours) if key in other.last]
        return [other.last[key] + self._reach(other, ours) for other in known]

    # Output punctuations

    def _may_be_punctuated(self, key: Key, ended_by: OracleStream | None = None) -> None:
        if key not in self.values or self.values[key].punctuated:
            return
        rule = self._regular(key) or self._early(key, ended_by)
        if rule is not None:
            ts, reason = rule
            self._purge_everywhere(key)
            self._mark_punctuated(key)
            self.out.punctuations.append(OutputPunctuation(key, ts, reason))

    def _early(self, key: Key, ended_by: OracleStream | None) -> tuple[int, str] | None:
        """The early rule: a stream has ended the value by name, and no partner of its last tuple can come.

        The earliest such proof counts, so nothing depends on the order in which the streams are given.
        """
        if self.spec.algorithm.propagation is not Propagation.EARLY:
            return None
        proved = []
        for ours in self.streams:
            ending = self.values[key].endings.get(ours.side)
            if ending is not None and ending.in_effect:
                gone = self._gone_since(ours, key, just_ended=ours is ended_by)
                if gone is not None:
                    proved.append(int(max(ending.ts, gone)))
        return (min(proved), "early") if proved else None

    def _gone_since(self, ours: OracleStream, key: Key, just_ended: bool) -> float | None:
        """The time since which no tuple of `ours` with this value can be met; minus infinity if there never was one."""
        if key not in ours.last:
            return -math.inf
        proofs, long_ago = [-math.inf], just_ended
        for other in self._others(ours):
            end = ours.last[key] + self._reach(ours, other)
            over = self._ended_with_effect(other, key)
            if over is None and other.wm <= end:
                return None
            proofs.append(min(end + 1 if other.wm > end else math.inf, math.inf if over is None else over))
            long_ago = long_ago and other.wm > end and ours.wm > end + 1
        return -math.inf if long_ago else max(proofs)
