"""Asymmetric window joins: each window has a structure of its own, which the other stream searches (KN-02, KN-06).

Two tuples match if their groups are equal and their intervals overlap. The group is the key's code, one for all if
there is no key; the interval comes from comparisons between one column of each side (KN-05).
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from punctuated.join.exchange.bundle import from_json, to_json
from punctuated.join.intake.keys import KeyCodec, NumberedKeys
from punctuated.join.intake.take_in import TupleKeys
from punctuated.join.state.rows import RowStore, ring_positions
from punctuated.join.state.saved import Content, Ints, Loaded, Part
from punctuated.join.state.statements import Statements
from punctuated.join.tactics.range_predicate import HIGHEST, LOWEST, RangePredicate
from punctuated.join.tactics.window_state import WindowState
from punctuated.join.tactics.window_statistics import Chooser, WindowStatistics
from punctuated.kernels.layout import Objects
from punctuated.kernels.process_pairs import process_pairs
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.spec import JoinSpec


class WindowPair:
    """Tuples are kept by windows; the structures may change between batches, if there is a `chooser`."""

    def __init__(
        self,
        spec: JoinSpec,
        codec: KeyCodec,
        state: WindowState,
        ranged: RangePredicate | None,
        chooser: Chooser | None,
    ) -> None:
        self._spec, self._codec, self._ranged, self._chooser = spec, codec, ranged, chooser
        self.state = state
        self._statistics = WindowStatistics()
        self.parts: dict[str, Part] = {"structures": self, "statistics": self._statistics}

    def encode(self, side: int, rows: pa.Table) -> TupleKeys:
        """Groups and intervals; one value holds all tuples. An interval that is empty matches nothing."""
        n, key = len(rows), self._spec.streams[side].key
        group, valid = np.zeros(n, np.int64), np.ones(n, np.bool_)
        if key:
            group, valid = self._codec.encode([rows[name] for name in key])
        low = high = np.zeros(n, np.int64)
        if self._ranged is not None:
            low, high, matches = self._ranged.intervals(side, rows)
            low, high = np.where(matches, low, HIGHEST), np.where(matches, high, LOWEST)
        return TupleKeys(self.node_codes(side, rows), valid, group, low, high)

    def expect(self, objects: Sequence[Objects]) -> None:
        """Count them, for the choice of structures."""
        if self._chooser is not None:
            self._statistics.count(objects)

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        """The loop over structures."""
        state, (left, right) = self.state, inputs
        return int(process_pairs(order, at, stop, left, right, state.arrays, state.indexes.arrays, state.found))

    def node_codes(self, side: int, rows: pa.Table) -> Ints:
        """One value holds all."""
        return np.zeros(len(rows), np.int64)

    def forget_keys(self, statements: Statements) -> None:
        """Numbered keys that no tuple in the windows has any more go."""
        if isinstance(self._codec, NumberedKeys):
            moved = self._codec.keep_only(np.unique(self.state.groups()))
            if moved is not None:
                self.state.regroup(moved)

    @property
    def structures(self) -> tuple[str, str]:
        """Of the windows, at present."""
        return self.state.indexes.structures

    def adapt(self) -> None:
        """Rates may have shifted: the windows get the structures that are cheapest now (KN-32)."""
        if self._chooser is None:
            return
        seen = self._statistics.observe(self.state)
        if seen is not None and (chosen := self._chooser(seen, self.structures)) != self.structures:
            self.state.restructure(chosen)

    def resume(self, rows: tuple[RowStore, ...]) -> None:
        """Stored tuples enter the structures of their windows anew."""
        positions = [ring_positions(self.state, side) for side in Side]
        keys = []
        for side in Side:
            numbers = self.state.arrays.nodes["row"][positions[side]]
            keys.append(self.encode(side, rows[side].take(numbers, list(self._spec.streams[side].columns))))
        group, low, high = (np.concatenate(both) for both in zip(*(each[2:] for each in keys), strict=True))
        self.state.index_nodes((positions[LEFT], positions[RIGHT]), group, low, high)

    def save(self) -> Content:
        """Which structures were chosen: a join that goes on elsewhere goes on with these."""
        return Content({"chosen": to_json(self.structures)})

    def load(self, saved: Loaded) -> None:
        """Go on with the structures of `save`."""
        if self._chooser is not None:
            self.state.indexes.structures = from_json(saved.plain["chosen"])
