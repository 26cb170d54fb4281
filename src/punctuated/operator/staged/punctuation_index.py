"""The punctuation index (PJ-10, PJ-11): each punctuation knows how many tuples of its own stream's state match it.

A punctuation has a number (pid), ascending in the order of effect, and a slot, which its tuples carry: a tuple takes
the first punctuation that matches it, and slot 0 means none so far. Tuples are compared with new punctuations only, and
only if they have none yet. Of two punctuations that overlap, the later one waits for the earlier one, which has counted
the tuples that match both.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from punctuated.arrow.ipc import from_json, to_json
from punctuated.kernels.layout import Records
from punctuated.kernels.staged import SLOT_SHIFT
from punctuated.keys.codec import KeyCodec, NumberedKeys
from punctuated.model.pattern import Pattern
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.operator.staged.memory import MemoryTuples
from punctuated.punctuations.pending_ranges import PendingRange
from punctuated.snapshot.parts import Content, Ints, Loaded
from punctuated.state.arrays import JoinState

T = TypeVar("T", bound=np.generic)
Mask = npt.NDArray[np.bool_]
_ENTRY = np.dtype([(name, "i8") for name in ("pid", "slot", "side", "low", "high", "ts", "is_range")])
_SAVED = np.dtype([*_ENTRY.descr, ("count", "i8")])
_SMALLEST = 64


class PunctuationIndex:
    """The punctuations that have not been propagated yet, with their counts."""

    def __init__(self, codec: KeyCodec) -> None:
        self._codec = codec
        self.entries: Records = np.zeros(_SMALLEST, _ENTRY)  # by slot; a free one has no number
        self.counts: Ints = np.zeros(_SMALLEST, np.int64)  # by slot
        self.patterns: dict[int, tuple[Pattern, ...]] = {}  # of ranges, by slot
        self.built_to = [0, 0]  # of each stream, the last punctuation that tuples in memory were compared with
        self.last_pid = 0

    def waiting(self, side: int, above: int = 0) -> Records:
        """A stream's punctuations with numbers above that, ascending."""
        ours = self.entries[(self.entries["side"] == side) & (self.entries["pid"] > above)]
        return np.asarray(ours[np.argsort(ours["pid"])])

    def add_values(self, side: int, codes: Ints, ts: Ints) -> None:
        """A stream has ended these values."""
        self._add(side, codes, codes, ts, is_range=False)

    def add_range(self, side: int, ending: PendingRange) -> None:
        """A stream has ended a range of values."""
        ends = (np.array([each], np.int64) for each in (ending.low, ending.high, ending.ts))
        (slot,) = self._add(side, *ends, is_range=True)
        self.patterns[int(slot)] = ending.patterns

    def _add(self, side: int, low: Ints, high: Ints, ts: Ints, *, is_range: bool) -> Ints:
        free = np.flatnonzero(self.entries["pid"][1:] == 0) + 1
        if free.size < low.size:
            room = 2 * (self.entries.size + low.size)
            self.entries, self.counts = _longer(self.entries, room), _longer(self.counts, room)
            return self._add(side, low, high, ts, is_range=is_range)
        slots = free[: low.size]
        fresh = np.zeros(slots.size, _ENTRY)
        fresh["pid"] = self.last_pid + 1 + np.arange(slots.size)
        fresh["slot"], fresh["side"], fresh["is_range"] = slots, side, is_range
        fresh["low"], fresh["high"], fresh["ts"] = low, high, ts
        self.entries[slots], self.counts[slots] = fresh, 0
        self.last_pid += slots.size
        return slots

    def remove(self, slots: Ints) -> None:
        """Forget punctuations that were propagated; no tuple carries their slots any more."""
        self.entries[slots] = np.zeros(1, _ENTRY)
        for slot in slots.tolist() if self.patterns else ():
            self.patterns.pop(slot, None)

    # Building

    def build(self, state: JoinState, in_memory: Sequence[MemoryTuples]) -> None:
        """Compare the tuples in memory that have no punctuation yet with the new punctuations of their stream."""
        for side, tuples in enumerate(in_memory):
            marks = state.arrays.nodes["mark"]
            bare = tuples.positions[marks[tuples.positions] >> SLOT_SHIFT == 0]
            codes = state.arrays.values["code"][state.arrays.nodes["value"][bare]]
            slots = self.take(side, codes, self.built_to[side])
            marks[bare] |= (slots << SLOT_SHIFT).astype(np.int32)
            self.built_to[side] = self.last_pid

    def is_built(self, side: int) -> bool:
        """Whether all tuples in memory were compared with all punctuations of their stream."""
        return not (self.entries["pid"][self.entries["side"] == side] > self.built_to[side]).any()

    def take(self, side: int, codes: Ints, above: int) -> Ints:
        """For each tuple the slot of the first punctuation above a number that matches it; the counts go up."""
        slots = np.zeros(codes.size, np.int64)
        new = self.waiting(side, above)
        if not new.size or not codes.size:
            return slots
        named = new[new["is_range"] == 0]
        named = named[np.argsort(named["low"], kind="stable")]
        if named.size:
            at = np.minimum(np.searchsorted(named["low"], codes), named.size - 1)
            hit = named["low"][at] == codes
            slots[hit] = named["slot"][at[hit]]
        for ending in new[new["is_range"] != 0]:
            first = (slots == 0) | (self.entries["pid"][slots] > ending["pid"])
            slots[first & self._inside(ending, codes)] = ending["slot"]
        self.counts += np.bincount(slots, minlength=self.counts.size)
        return slots

    def _inside(self, ending: np.void, codes: Ints) -> Mask:
        if not isinstance(self._codec, NumberedKeys):
            return np.asarray((codes >= ending["low"]) & (codes <= ending["high"]))
        intervals = self._codec.intervals(self.patterns[int(ending["slot"])])
        return np.isin(codes, [low for low, _ in intervals])

    def drop(self, slots: Ints) -> None:
        """Count down: tuples with these slots have left the state."""
        self.counts -= np.bincount(slots, minlength=self.counts.size)

    def forget_tuples(self, side: int) -> None:
        """All tuples of a stream have left the state."""
        self.counts[(self.entries["side"] == side) & (self.entries["pid"] > 0)] = 0

    # Propagation

    def propagable(self, side: int, indexed_to: Ints, partition_of: Ints) -> Records:
        """A stream's punctuations that are indexed and match no tuple of its own state (PJ-09).

        `indexed_to` says for each partition up to which number its disk part was compared; `partition_of` has the
        partition of each entry's value, in the order of `waiting`.
        """
        entries = self.waiting(side)
        seen = np.where(entries["is_range"] != 0, indexed_to.min(), indexed_to[partition_of])
        ready = (self.counts[entries["slot"]] == 0) & (entries["pid"] <= np.minimum(seen, self.built_to[side]))
        if (entries["is_range"] != 0).any():
            self._hold_back(entries, ready)
        return np.asarray(entries[ready])

    def _hold_back(self, entries: Records, ready: Mask) -> None:
        """A punctuation that overlaps an earlier one that has to wait has to wait, too."""
        for at in range(entries.size):
            ours, earlier = entries[at], entries[:at]
            if not ours["is_range"]:
                earlier = earlier[earlier["is_range"] != 0] if at else earlier
            waiting = ~ready[:at] if ours["is_range"] else ~ready[:at][entries[:at]["is_range"] != 0]
            overlap = (earlier["low"] <= ours["high"]) & (earlier["high"] >= ours["low"])
            if (waiting & (overlap | isinstance(self._codec, NumberedKeys))).any():
                ready[at] = False

    # What outlives a batch

    def save(self) -> Content:
        """The punctuations by their numbers, with their counts."""
        known = self.entries[self.entries["pid"] > 0]
        known = known[np.argsort(known["pid"])]
        saved = np.zeros(known.size, _SAVED)
        for name in _ENTRY.names or ():
            saved[name] = known[name]
        saved["count"] = self.counts[known["slot"]]
        texts = {slot: print_patterns(patterns, self._codec.types) for slot, patterns in self.patterns.items()}
        return Content({"built": to_json([self.built_to, self.last_pid, list(texts.items())])}, {"entries": saved})

    def load(self, saved: Loaded) -> None:
        """Put each punctuation into its slot again."""
        entries = saved.records["entries"]
        room = int(entries["slot"].max(initial=0)) + _SMALLEST
        self.entries, self.counts = np.zeros(room, _ENTRY), np.zeros(room, np.int64)
        for name in _ENTRY.names or ():
            self.entries[name][entries["slot"]] = entries[name]
        self.counts[entries["slot"]] = entries["count"]
        self.built_to, self.last_pid, texts = from_json(saved.plain["built"])
        self.patterns = {slot: parse_punctuation(text, self._codec.types) for slot, text in texts}


def _longer(array: npt.NDArray[T], room: int) -> npt.NDArray[T]:
    fresh = np.zeros(room, array.dtype)
    fresh[: array.size] = array
    return fresh
