"""Propagation: which punctuations of the inputs the output may be told (PJ-08, PJ-09), and telling it."""

import numpy as np
import numpy.typing as npt

from punctuated.join.overflow.staged.parted_state import PartedState
from punctuated.join.state.range_output import OutputRange
from punctuated.join.state.statements import Statements
from punctuated.kernels import layout as lay
from punctuated.kernels.restore import find_values
from punctuated.kernels.staged import punctuate_values, purge_covered
from punctuated.model.algorithm import Propagation as Rule

Mask = npt.NDArray[np.bool_]
_ALL_SEEN = np.iinfo(np.int64).max


class Propagation:
    """Says what is over in the output.

    By Theorem 1 a punctuation may be said once no tuple of its own stream's state matches it. The both-sides rule also
    asks for the other stream's word.
    """

    def __init__(self, parted: PartedState, statements: Statements, rule: Rule, *, speaks_for_all: bool) -> None:
        self._parted, self._statements, self._rule = parted, statements, rule
        self._speaks_for_all = speaks_for_all

    def propagate(self) -> None:
        """All that the rule allows."""
        if self._rule is Rule.NONE:
            return
        for side in range(2):
            self._propagate(side)

    def _propagate(self, side: int) -> None:
        parted = self._parted
        waiting = parted.index.waiting(side)
        if not waiting.size:
            return
        ready = parted.index.propagable(side, self._indexed_to(side), parted.partitions.of(waiting["low"]))
        if self._rule is Rule.REGULAR:
            ready = ready[self._ended_by_other(1 - side, ready)]
        is_range = ready["is_range"] != 0
        self._say_values(side, ready[~is_range])
        self._say_ranges(1 - side, ready[is_range])
        parted.index.remove(ready["slot"])

    def _indexed_to(self, side: int) -> lay.Ints:
        """Up to which punctuation the disk part of each partition was compared."""
        seen = np.full(self._parted.partitions.n, _ALL_SEEN, np.int64)
        for chunk in self._parted.disk.chunks(side):
            seen[chunk.partition] = min(seen[chunk.partition], chunk.indexed_to)
        return seen

    def _ended_by_other(self, other: int, entries: lay.Records) -> Mask:
        ended = self._parted.ended(other, entries["low"])
        for at in np.flatnonzero(entries["is_range"]).tolist():
            ended[at] = self._parted.is_over(other) or self._covers(other, entries[at])
        return ended

    def _covers(self, other: int, ending: np.void) -> bool:
        """Whether the other stream has ended all of a range, by ranges that lie side by side."""
        low = int(ending["low"])
        for stretch in self._parted.state.arrays.ranges:
            if stretch["low"] <= low <= stretch["high"] and stretch["flags"] & (lay.EFFECT << other):
                if stretch["high"] >= ending["high"]:
                    return True
                low = int(stretch["high"]) + 1
        return False

    def _say_values(self, side: int, entries: lay.Records) -> None:
        """Tuples of the other stream that wait for these values wait in vain."""
        parted, codes = self._parted, np.ascontiguousarray(entries["low"])
        if not codes.size:
            return
        self._make_room(codes.size)
        arrays = parted.state.arrays
        indices = find_values(arrays, codes)
        known = indices[indices >= 0]
        purge_covered(arrays, 1 - side, known, np.zeros(known.size, np.uint8), parted.index.counts)
        both = parted.ended(1 - side, codes)
        reasons = np.where(both, lay.BOTH, lay.OWN_STATE)
        punctuate_values(arrays, side, codes, self._times(entries), reasons)

    def _times(self, entries: lay.Records) -> lay.Ints:
        """Not before any result so far."""
        return np.asarray(np.maximum(entries["ts"], int(self._parted.state.sides["newest"].max())))

    def _say_ranges(self, other: int, entries: lay.Records) -> None:
        times = self._times(entries).tolist()
        patterns = [self._parted.index.patterns[slot] for slot in entries["slot"].tolist()]
        reasons = np.where(self._ended_by_other(other, entries), lay.BOTH, lay.OWN_STATE).tolist()
        told = [OutputRange(*each) for each in zip(patterns, times, reasons, strict=True)]
        self._parted.collector.add_ranges(told)
        self._parted.state.common["punctuations_out"] += len(told) if self._speaks_for_all else 0

    def _make_room(self, n: int) -> None:
        state = self._parted.state
        before, state.quota = state.quota, max(state.quota, n)
        if state.lacks_values:
            self._statements.archive()
        state.make_room()
        state.quota = before
