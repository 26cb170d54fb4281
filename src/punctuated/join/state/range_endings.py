"""Range endings: punctuations over many join values at once. They are rare: the driver handles them, not the loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.intake.keys import KeyCodec
from punctuated.join.intake.promises import Promise
from punctuated.join.intake.take_in import RangeEnding
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.memory import is_named
from punctuated.join.state.ordered_index import OrderedIndex
from punctuated.join.state.saved import Content, Loaded
from punctuated.kernels import layout as lay
from punctuated.kernels.ranges import cover_values, end_values, mark_stored, propagate_values
from punctuated.model.pattern import Empty, Pattern, combine, subsumes
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.model.side import LEFT, RIGHT, Side

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Known:
    """A range ending of a stream, pending or in effect, or a range that was punctuated in the output."""

    patterns: tuple[Pattern, ...]
    ts: int
    order: int  # of arrival
    touched: int
    announced: bool = False  # apart from the stream: in effect only beyond `ts`

    @property
    def effect_ts(self) -> int:
        """The watermark from which it is in effect."""
        return self.ts + self.announced


@dataclass(frozen=True)
class OutputRange:
    """A range punctuation for the output."""

    patterns: tuple[Pattern, ...]
    ts: int


class RangeEndings:
    """The range endings of both streams and what follows from them."""

    def __init__(self, codec: KeyCodec, propagates: bool) -> None:
        self._codec, self._propagates = codec, propagates
        self._index = OrderedIndex()
        self.pending: tuple[list[Known], list[Known]] = ([], [])
        self.in_effect: tuple[list[Known], list[Known]] = ([], [])
        self.out: list[Known] = []

    def __bool__(self) -> bool:
        return any(self.pending) or any(self.in_effect) or bool(self.out)

    def promises(self, side: Side, columns: tuple[str, ...]) -> list[Promise]:
        """What the stream has promised by ranges, for the check of its tuples."""
        known = [*self.pending[side], *self.in_effect[side]]
        return [Promise(columns, each.patterns, each.ts, announced=each.announced) for each in known]

    def meet(self, side: Side, ending: RangeEnding, state: JoinState) -> list[OutputRange]:
        """A range ending has arrived: it takes effect now or waits."""
        if state.sides["end_ts"][side] != lay.FOREVER:
            return []
        common = state.common
        common["timers"] += 1
        order, touched = int(common[0]["timers"]), int(common[0]["seq"])
        known = Known(ending.patterns, ending.ts, order, touched, ending.announced)
        if state.sides["watermark"][side] >= known.effect_ts:
            return self._take_effect(side, known, state)
        self.pending[side].append(known)
        self._announce(side, state)
        return []

    def fire(self, state: JoinState) -> list[OutputRange]:
        """Put the first pending range ending that is due into effect; left before right."""
        for side in Side:
            if state.sides["range_time"][side] <= state.sides["watermark"][side]:
                first = min(self.pending[side], key=lambda each: (each.effect_ts, each.order))
                self.pending[side].remove(first)
                self._announce(side, state)
                return self._take_effect(side, first, state)
        return []

    def _announce(self, side: Side, state: JoinState) -> None:
        """Tell the loop when to come back."""
        time, order = min(((each.effect_ts, each.order) for each in self.pending[side]), default=(lay.NOT_SET, 0))
        state.sides["range_time"][side] = time
        state.sides["range_order"][side] = order
        state.common["due"] = lay.NEVER  # it is looked at when time goes on

    def _take_effect(self, side: Side, ending: Known, state: JoinState) -> list[OutputRange]:
        named = self._affected(ending.patterns, state)
        state.make_room(deadlines=named.size)
        fresh = named[state.arrays.values["flags"][named] & (lay.EFFECT << side) == 0]
        if state.sides["end_ts"][side] != lay.FOREVER:  # the stream has ended every value already
            fresh = fresh[:0]
        end_values(state.arrays, int(side), named, ending.ts)
        self.in_effect[side].append(ending)
        ranges = self._output_ranges(side, ending, state)
        for covered in ranges:
            cover_values(state.arrays, self._affected(covered.patterns, state))
        propagate_values(state.arrays, int(side), fresh)
        return ranges

    def _affected(self, patterns: Sequence[Pattern], state: JoinState) -> Indices:
        """Values in the range that are stored on either side, or ended without an output punctuation so far."""
        intervals = self._codec.intervals(patterns)
        found = [self._index.find(state.arrays, low, high) for low, high in intervals]
        indices = np.concatenate([np.empty(0, np.int64), *found])
        values = state.arrays.values[indices]
        waiting = is_named(values["flags"]) & (values["flags"] & lay.OUT == 0)
        stored = np.zeros(indices.size, np.uint8)
        mark_stored(state.arrays, indices, stored)
        return np.asarray(indices[waiting | stored.astype(np.bool_)])

    def _output_ranges(self, side: Side, ending: Known, state: JoinState) -> list[OutputRange]:
        """Where both streams have ended a range, the output ends it too (PW-08), unless an earlier one covers it."""
        ranges: list[OutputRange] = []
        for theirs in self.in_effect[side.other] if self._propagates else ():
            common = tuple(combine(p, q) for p, q in zip(ending.patterns, theirs.patterns, strict=True))
            if any(isinstance(p, Empty) for p in common) or self._is_covered(common):
                continue
            ts = max(ending.ts, theirs.ts)
            state.common["timers"] += 1
            self.out.append(Known(common, ts, int(state.common[0]["timers"]), int(state.common[0]["seq"])))
            ranges.append(OutputRange(common, ts))
        return ranges

    def _is_covered(self, patterns: tuple[Pattern, ...]) -> bool:
        return any(
            all(subsumes(wide, narrow) for wide, narrow in zip(earlier.patterns, patterns, strict=True))
            for earlier in self.out
        )

    def segments(self) -> lay.Records:
        """What the loop must know of values that it meets: who has ended them by a range, and when."""
        ended = lay.ENDED | lay.EFFECT
        parts = [
            *((ended << side, side, known) for side in Side for known in self.in_effect[side]),
            *((lay.OUT, None, known) for known in self.out),
        ]
        covers = [
            Cover(low, high, flags, side, known.ts)
            for flags, side, known in parts
            for low, high in self._codec.intervals(known.patterns)
        ]
        return cut_into_segments(covers)

    def named_lists(self) -> dict[str, list[Known]]:
        """All that is remembered, by what it is."""
        lists = [self.out, *self.pending, *self.in_effect]
        return dict(zip(("out", "pending left", "pending right", "left", "right"), lists, strict=True))

    def save(self) -> Content:
        """Ranges as text."""
        types = self._codec.types
        kept = {
            name: [
                [print_patterns(each.patterns, types), each.ts, each.order, each.touched, each.announced]
                for each in ranges
            ]
            for name, ranges in self.named_lists().items()
        }
        return Content({"kept": to_json(kept)})

    def load(self, saved: Loaded) -> None:
        """Go on with the ranges of `save`."""
        for name, written in from_json(saved.plain["kept"]).items():
            ranges = [Known(parse_punctuation(text, self._codec.types), *rest) for text, *rest in written]
            self.named_lists()[name][:] = ranges

    def entries(self) -> list[tuple[list[Known], Known]]:
        """All that is remembered, each with the list that holds it, for the memory's cap."""
        return [(each, known) for each in self.named_lists().values() for known in each]

    def refresh(self, state: JoinState) -> None:
        """Entries were forgotten: the loop must not wait for them."""
        for side in Side:
            self._announce(side, state)


class Cover(NamedTuple):
    """Codes that one range covers."""

    low: int
    high: int
    flags: int
    side: Side | None
    ts: int


def cut_into_segments(covers: Sequence[Cover]) -> lay.Records:
    """Overlapping covers as disjoint runs, each with all flags and the earliest time per side."""
    starts = sorted({cover.low for cover in covers} | {cover.high + 1 for cover in covers})
    opening: dict[int, list[Cover]] = {}
    for cover in covers:
        opening.setdefault(cover.low, []).append(cover)
    runs: list[tuple[int, int, int, tuple[int, int]]] = []
    covering: list[Cover] = []
    for low, following in pairwise(starts):
        covering = [cover for cover in covering if cover.high >= low] + opening.get(low, [])
        if covering:
            flags = reduce(or_, (cover.flags for cover in covering))
            ts = [min((p.ts for p in covering if p.side == side), default=lay.FOREVER) for side in Side]
            runs.append((low, following - 1, flags, (ts[LEFT], ts[RIGHT])))
    return np.array(runs, lay.RANGE)
