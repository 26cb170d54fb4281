"""The oracle: slow, obvious Python that defines what a correct join of two streams is.

One law explains it: a tuple may be forgotten once no future tuple can match it. Windows (PW-10) and punctuations
(PW-01) are two proofs of that.

Together with `reference_streams` this is `docs/semantics.md` in executable form: each method belongs to a heading. The
oracle shares no code with the operators. It keeps each accepted tuple in plain lists and answers each question by
looking through them; nothing here is meant to be fast.
"""

import math
from collections.abc import Callable, Sequence

from punctuated.model.algorithm import Propagation
from punctuated.model.batch import Row
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType
from punctuated.model.window import CountWindow
from punctuated.testing.multiway_reference import MultiwayReference
from punctuated.testing.reference_groups import groups
from punctuated.testing.reference_state import (
    Accepted,
    BatchOutput,
    Key,
    OracleStream,
    OutputPunctuation,
    Rejected,
    Unmatched,
)
from punctuated.testing.reference_streams import StreamsReference

__all__ = ["BatchOutput", "OutputPunctuation", "Reference", "Rejected", "Unmatched", "groups", "join", "oracle"]

Where = Callable[[Row, Row], bool]

# Unmatched tuples of these sides come out.
PRESERVED: dict[int, tuple[JoinType, ...]] = {
    LEFT: (JoinType.LEFT, JoinType.FULL, JoinType.ANTI),
    RIGHT: (JoinType.RIGHT, JoinType.FULL),
}


class Reference(StreamsReference):
    """The join of two punctuated streams, batch by batch."""

    def __init__(self, spec: JoinSpec, where: Where | None = None, integer_key: bool | None = None) -> None:
        super().__init__(spec, integer_key)
        self.where = where
        self.due_purges: list[tuple[int, Key]] = []
        self.n_effects = 0  # endings that took effect since the last purge

    def _other(self, ours: OracleStream) -> OracleStream:
        return self.streams[1 - ours.side]

    def _preserves(self, ours: OracleStream) -> bool:
        return self.spec.how in PRESERVED[ours.side]

    # Watermarks

    def _advance(self, ours: OracleStream, before: float) -> None:
        other = self._other(ours)
        if self.spec.algorithm.by_window:
            for kept in other.stored:
                if ours.wm > kept.end:
                    self.out.invalidated += 1
                    self._drop(other, kept)
        for key in sorted(self.values):
            if key in other.last and before <= other.last_end[key] < ours.wm:
                self._may_be_punctuated(key, last_gone=other)

    def _deadlines(self) -> list[float]:
        deadlines = []
        for ours in self.streams:
            other = self._other(ours)
            ends = [other.last_end[key] for key in self.values if key in other.last]
            deadlines += [end + 1 + ours.spec.lateness_us for end in ends]
        return deadlines

    # A tuple

    def _join(self, ours: OracleStream, new: Accepted) -> None:
        if new.has_null:
            self._unmatched(ours, new, new.ts)
        elif self._is_punctuated(new.key):
            self.out.dropped += 1
            self._unmatched(ours, new, new.ts)
        else:
            self._probe(ours, new)
            self._store(ours, new)
            if self._matches_left_once and ours.side == RIGHT:
                self._may_be_punctuated(new.key, last_gone=self._other(ours), gone_at=new.ts)
        self._evict(ours, new)

    def _probe(self, ours: OracleStream, new: Accepted) -> None:
        other = self._other(ours)
        for kept in other.stored:
            if kept.key == new.key and self._within_windows(ours, new, other, kept):
                pair = (new, kept) if ours.side == LEFT else (kept, new)
                if self.where is None or self.where(pair[LEFT].row, pair[RIGHT].row):
                    self._match(*pair)

    def _within_windows(self, ours: OracleStream, new: Accepted, other: OracleStream, kept: Accepted) -> bool:
        if kept.ts < new.ts:
            return other.admits(kept, new.ts)
        if new.ts < kept.ts:
            return ours.admits(new, kept.ts)
        return ours.admits(new, kept.ts) and other.admits(kept, new.ts)

    @property
    def _matches_left_once(self) -> bool:
        """Whether a left tuple is finished after its first match, as in semi and anti joins."""
        return self.spec.how in (JoinType.SEMI, JoinType.ANTI)

    def _match(self, left: Accepted, right: Accepted) -> None:
        ts = max(left.ts, right.ts)
        if self.spec.how is JoinType.SEMI and not left.matched:
            self._result(left.row, None, ts)
        if self._matches_left_once:
            self.streams[LEFT].forget(left)
        else:
            self._result(left.row, right.row, ts)
        left.matched = right.matched = True

    def _result(self, left: Row, right: Row | None, ts: int) -> None:
        self.out.results.append((left, right))
        self.out.result_ts.append(ts)

    def _store(self, ours: OracleStream, new: Accepted) -> None:
        other = self._other(ours)
        proofs = self._proofs(ours, new)
        new.is_counted = not proofs
        if new.matched and ours.side == LEFT and self._matches_left_once:
            return
        if not proofs:
            ours.stored.append(new)
            return
        if self._proved_over(other, new.key) is not None:
            self.out.discarded += 1
        self._unmatched(ours, new, min(proofs))

    def _evict(self, ours: OracleStream, new: Accepted) -> None:
        window = ours.spec.window
        if not isinstance(window, CountWindow):
            return
        queue = ours.accepted
        if window.per_key:
            queue = [each for each in ours.accepted if each.key == new.key and each.is_counted]
        if (window.per_key and not new.is_counted) or len(queue) <= window.n:
            return
        evicted = queue[-window.n - 1]
        if evicted in ours.stored:
            self.out.evicted += 1
            ours.forget(evicted)
            self._unmatched(ours, evicted, new.ts)
        if evicted.is_counted:
            evicted.is_counted = False
            self._may_be_punctuated(evicted.key, last_gone=ours, gone_at=new.ts)

    # Forgetting

    def _proofs(self, ours: OracleStream, kept: Accepted) -> list[int]:
        """The times at which windows and punctuations have proved that no later tuple can match this one."""
        proofs = []
        other = self._other(ours)
        if self.spec.algorithm.by_window and other.wm > kept.end:
            proofs.append(int(kept.end))
        over = self._proved_over(other, kept.key)
        if over is not None:
            proofs.append(max(kept.ts, over))
        return proofs

    def _drop(self, ours: OracleStream, kept: Accepted) -> None:
        ours.forget(kept)
        self._unmatched(ours, kept, min(self._proofs(ours, kept)))

    def _unmatched(self, ours: OracleStream, kept: Accepted, ts: int) -> None:
        if self._preserves(ours) and not kept.matched:
            self.out.unmatched.append(Unmatched(ours.side, kept.row, int(max(ts, kept.ts, self.output_wm_at_start))))

    def _purge_for(self, ours: OracleStream, key: Key) -> None:
        """Purge at once with a threshold of one, later and together with a larger one (PJ-07)."""
        self.due_purges.append((ours.side, key))
        self.n_effects += 1
        if self.n_effects >= self.spec.purge_threshold:
            for side, due in self.due_purges:
                self._purge(self.streams[side], due)
            self.due_purges, self.n_effects = [], 0

    def _purge(self, ours: OracleStream, key: Key) -> None:
        """Purge the tuples of the other stream that waited for this value, which `ours` has ended."""
        other = self._other(ours)
        if self._proved_over(ours, key) is None:
            return
        for kept in other.stored:
            if kept.key == key:
                self.out.purged += 1
                self._drop(other, kept)
        other.stop_counting(key)

    def _purge_after_end_of(self, ours: OracleStream) -> None:
        other = self._other(ours)
        for kept in other.stored:
            self.out.purged += 1
            self._drop(other, kept)

    # Output punctuations

    def _may_be_punctuated(
        self,
        key: Key,
        ended_by: OracleStream | None = None,
        last_gone: OracleStream | None = None,
        gone_at: int | None = None,
    ) -> None:
        """Punctuate the output if this value is over, by the first rule that holds.

        Either an ending of `ended_by` has just taken effect, or the last tuple of `last_gone` may just have left: by
        its window, or at `gone_at`, the time of a tuple that has matched or evicted it.
        """
        if key not in self.values or self.values[key].punctuated:
            return
        early = self._early(key, ended_by, last_gone)
        rule = self._regular(key) or early or self._own_state(key, ended_by or last_gone, gone_at)
        if rule is not None:
            ts, reason = rule
            self._purge_everywhere(key)
            self._mark_punctuated(key)
            self.out.punctuations.append(OutputPunctuation(key, ts, reason))

    def _purge_everywhere(self, key: Key) -> None:
        for stream in self.streams:
            self._purge(stream, key)

    def _early(self, key: Key, ended_by: OracleStream | None, last_gone: OracleStream | None) -> tuple[int, str] | None:
        """PW-32, Theorem 4.1: one stream has ended the value, and its last tuple cannot be met any more."""
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

    def _gone_since(self, ours: OracleStream, key: Key, just_ended: bool) -> float | None:
        """The time since which no tuple of `ours` with this value can be met; minus infinity if there never was one."""
        last, window = ours.last.get(key), ours.spec.window
        if last is None:
            return -math.inf
        if isinstance(window, CountWindow):
            if any(each.is_counted for each in ours.accepted if each.key == key):
                return None
            return -math.inf if just_ended else max(last, ours.accepted[-1].ts)
        end = ours.last_end[key]
        if self._other(ours).wm <= end:
            return None
        return -math.inf if just_ended and ours.wm > end + 1 else end + 1

    def _own_state(self, key: Key, ours: OracleStream | None, gone_at: int | None) -> tuple[int, str] | None:
        """PJ-09: one stream has ended the value and stores no tuple of it, since its effect or since `gone_at`."""
        if self.spec.algorithm.propagation is not Propagation.OWN_STATE or ours is None:
            return None
        ending = self.values[key].endings.get(ours.side)
        if ending is None or not ending.in_effect or self._preserves(self._other(ours)):
            return None
        if any(kept.key == key for kept in ours.stored):
            return None
        return ending.ts if gone_at is None else max(ending.ts, gone_at), "own-state"


# Unions


class UnionReference(StreamsReference):
    """The union of punctuated streams with the same columns, or one stream by itself, batch by batch.

    Each accepted tuple comes out at once, so nothing is ever stored. A value is over when all streams have ended it.
    """

    def _join(self, ours: OracleStream, new: Accepted) -> None:
        self.out.results.append((new.row,))
        self.out.result_ts.append(new.ts)

    def _advance(self, ours: OracleStream, before: float) -> None:
        """No tuple waits for a watermark."""

    def _deadlines(self) -> list[float]:
        return []

    def _purge_for(self, ours: OracleStream, key: Key) -> None:
        """No tuple waits for an ending."""

    def _purge_everywhere(self, key: Key) -> None:
        """Nothing is left of a value."""

    def _purge_after_end_of(self, ours: OracleStream) -> None:
        """No tuple waits for the end."""

    def _may_be_punctuated(self, key: Key, ended_by: OracleStream | None = None) -> None:
        if key not in self.values or self.values[key].punctuated:
            return
        rule = self._regular(key)
        if rule is not None:
            self._mark_punctuated(key)
            self.out.punctuations.append(OutputPunctuation(key, *rule))


# Which oracle judges a join


def oracle(spec: JoinSpec, where: Callable[..., bool] | None = None) -> StreamsReference:
    """A new oracle for this join: of two streams, of many streams, or of a union."""
    if spec.how is JoinType.UNION:
        return UnionReference(spec)
    return MultiwayReference(spec, where) if spec.reaches else Reference(spec, where)


def join(
    spec: JoinSpec,
    batches: Sequence[Sequence[Sequence[Row | Punctuation]]],
    where: Callable[..., bool] | None = None,
    end: bool = True,
) -> list[BatchOutput]:
    """What each batch brings, by the oracle; unless `end` is false, the end of all streams is a last batch.

        time    0    2    4    6    8    10   12
        A       7─────── its window ─────┤
        B                 7                 7         the first one is a result, the second one comes too late

    >>> from punctuated.model.spec import StreamSpec
    >>> from punctuated.model.window import TimeWindow
    >>> a = StreamSpec("A", columns=("k", "ts"), key=("k",), time="ts", window=TimeWindow(10))
    >>> b = StreamSpec("B", columns=("k", "at"), key=("k",), time="at")
    >>> batch, end = join(JoinSpec((a, b)), [([Row((7, 0))], [Row((7, 4)), Row((7, 11))])])
    >>> [(left.values, right.values) for left, right in batch.results]
    [((7, 0), (7, 4))]
    >>> batch.invalidated, batch.stored  # the tuple of A is forgotten; those of B have no window that could end
    (1, (0, 2))
    """
    reference = oracle(spec, where)
    outputs = [reference.process(*batch) for batch in batches]
    return [*outputs, reference.end()] if end else outputs
