"""Range endings: punctuations over many join values at once. They are rare: the driver handles them, not the loop.

A range ending waits for its effect; then its values are ended, and what all streams have ended is over in the output.
What ranges have ended is kept as `OrderedRanges` or `NumberedRanges`, as the key asks for.
"""

from collections.abc import Sequence, Set
from typing import Protocol

import numpy as np
import numpy.typing as npt

from punctuated.intake.prepare import PreparedBatch, RangeEnding
from punctuated.kernels import layout as lay
from punctuated.kernels.ranges import cover_values, end_values, forget_last, mark_stored, propagate_values
from punctuated.kernels.value_index import inherit_some
from punctuated.keys.codec import KeyCodec, NumberedKeys
from punctuated.model.pattern import Pattern
from punctuated.punctuations.numbered_ranges import NumberedRanges
from punctuated.punctuations.ordered_ranges import OrderedRanges
from punctuated.punctuations.pending_ranges import OutputRange, PendingRange, PendingRanges
from punctuated.punctuations.segments import named_by
from punctuated.snapshot.parts import Content, Loaded
from punctuated.state.arrays import JoinState

Ints = npt.NDArray[np.int64]


class RangeListener(Protocol):
    """Whoever keeps values elsewhere: it is told when a range takes effect."""

    def before_range(self, patterns: tuple[Pattern, ...]) -> None:
        """A range is about to take effect: its values must be in memory."""

    def after_range(self, side: int, ending: PendingRange) -> None:
        """A stream's range has taken effect."""


class RangeEndings:
    """The range endings of all streams and what follows from them."""

    def __init__(self, codec: KeyCodec, n_streams: int, propagates: bool) -> None:
        self._types, self._propagates = codec.types, propagates
        self._next_order = 0  # of arrival; later ones are not smaller
        self._pending = tuple(PendingRanges() for _ in range(n_streams))
        self._sides = range(n_streams)
        self._covered: OrderedRanges | NumberedRanges = (
            NumberedRanges(codec, self._pending) if isinstance(codec, NumberedKeys) else OrderedRanges(codec, n_streams)
        )

    def __bool__(self) -> bool:
        return len(self) > 0

    def __len__(self) -> int:
        return len(self._covered) + sum(map(len, self._pending))

    @property
    def nbytes(self) -> int:
        """Bytes beside what the loop sees."""
        return self._covered.nbytes + sum(each.records.nbytes for each in self._pending)

    def broken(self, side: int, intake: PreparedBatch, key: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Tuples that break a range ending of their own stream, as far as the loop does not see it by itself."""
        return self._covered.broken(side, self._pending[side], intake, key)

    def show(self, state: JoinState) -> None:
        """Let the loop see what ranges have ended; new keys may fall under old ranges."""
        self.note_keys()
        state.show_ranges(self._covered.lookup)

    def meet(self, side: int, ending: RangeEnding, state: JoinState, spill: RangeListener | None) -> list[OutputRange]:
        """A range ending has arrived: it takes effect now or waits."""
        if state.sides["end_ts"][side] != lay.FOREVER:
            return []
        common = state.common
        common["timers"] += 1
        order, seq = int(common[0]["timers"]), int(common[0]["seq"])
        self._next_order = order + 1
        low, high = self._covered.codes(ending.patterns)
        pending = PendingRange(ending.patterns, ending.ts, order, seq, low, high, ending.announced)
        if state.sides["watermark"][side] >= pending.effect_ts:
            return self._take_effect(side, pending, state, spill)
        self._pending[side].add(pending)
        self._covered.await_effect(side, pending)
        self._announce(side, state)
        return []

    def fire(self, state: JoinState, spill: RangeListener | None) -> list[OutputRange]:
        """Put the first pending range ending that is due into effect, side by side."""
        for side in self._sides:
            if state.sides["range_time"][side] <= state.sides["watermark"][side]:
                first = self._pending[side].pop()
                self._announce(side, state)
                return self._take_effect(side, first, state, spill)
        return []

    def _announce(self, side: int, state: JoinState) -> None:
        """Tell the loop when to come back."""
        state.sides["range_time"][side], state.sides["range_order"][side] = self._pending[side].first_turn
        state.common["due"] = lay.NEVER  # it is looked at when time goes on

    def _take_effect(
        self, side: int, ending: PendingRange, state: JoinState, spill: RangeListener | None
    ) -> list[OutputRange]:
        if spill is not None:
            spill.before_range(ending.patterns)
        inside = self._covered.values(state.arrays, ending.patterns)
        named = _affected(inside, state)
        state.make_room(deadlines=named.size)
        fresh = named[state.arrays.values["flags"][named] & (lay.EFFECT << side) == 0]
        if state.sides["end_ts"][side] != lay.FOREVER:  # the stream has ended every value already
            fresh = fresh[:0]
        end_values(state.arrays, side, named, ending.ts)
        settled = state.sides["settled"].tolist()
        seq = int(state.common[0]["seq"])
        ranges = self._covered.cover(side, ending, seq, settled, self._propagates)
        for each in ranges:
            cover_values(state.arrays, _affected(self._covered.values(state.arrays, each.patterns), state))
        propagate_values(state.arrays, side, fresh)
        state.show_ranges(self._covered.lookup)
        inherit_some(state.arrays, inside)
        if spill is not None:
            spill.after_range(side, ending)
        return ranges

    def settle(self, state: JoinState, watermark: int) -> None:
        """The batch is over: times that the output watermark has reached no longer matter."""
        if not len(self._covered):
            return
        values, latest = self._covered.settle(state.arrays, watermark)
        state.sides["settled"] = np.maximum(state.sides["settled"], latest[: state.n_streams])
        state.show_ranges(self._covered.lookup)
        inherit_some(state.arrays, values)

    # The memory's cap

    def ages(self) -> tuple[Ints, list[PendingRange]]:
        """When each range in effect was last touched, and the ranges that wait."""
        return self._covered.records["touched"].copy(), [each for pending in self._pending for each in pending]

    def forget(self, covered: Sequence[int], orders: Set[int], state: JoinState) -> None:
        """Forget ranges in effect by their ascending positions, and ranges that wait by their order of arrival."""
        for side in self._sides:
            self._pending[side].forget([at for at, each in enumerate(self._pending[side]) if each.order in orders])
            self._announce(side, state)
        forget_last(state.arrays, self._covered.forget(state.arrays, covered))

    # Keys, and what is saved

    def note_keys(self) -> None:
        """Keys may have come: they fall under the ranges that are known."""
        self._covered.note_keys()

    def renumber(self, moved: Ints) -> None:
        """Keys were numbered anew; all had been noted."""
        self._covered.renumber(moved)

    def save(self) -> Content:
        """Ranges in effect as records, with their patterns where the codes do not tell; those that wait as logs."""
        covered = self._covered.records
        pending = {f"pending.{side}": self._pending[side].log(self._types, self._next_order) for side in self._sides}
        return Content(
            records={"covered": covered[np.argsort(covered["low"], kind="stable")]},
            logs={"texts": self._covered.texts(), **pending},
        )

    def load(self, saved: Loaded) -> None:
        """Restore the ranges of a saved state."""
        self._covered.load(saved.records["covered"], saved.logs["texts"])
        for side in self._sides:
            log = saved.logs[f"pending.{side}"]
            self._pending[side].load(log, self._types)
            self._next_order = log.next_id

    def resume(self, state: JoinState) -> None:
        """All was loaded: the loop must know when to come back."""
        for side in self._sides:
            self._announce(side, state)


def _affected(indices: Ints, state: JoinState) -> Ints:
    """Which of these values are stored on any side, or have ended without an output punctuation so far."""
    flags = state.arrays.values["flags"][indices]
    waiting = (named_by(flags) != 0) & (flags & lay.OUT == 0)
    stored = np.zeros(indices.size, np.uint8)
    mark_stored(state.arrays, indices, stored)
    return np.asarray(indices[waiting | stored.astype(np.bool_)])
