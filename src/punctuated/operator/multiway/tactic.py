"""Joins of any number of streams: a new tuple is completed by stored ones (WJ-11 … WJ-27)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from punctuated.intake.prepare import TupleKeys
from punctuated.kernels.layout import Objects
from punctuated.kernels.multiway.process import process_many
from punctuated.keys.codec import KeyCodec
from punctuated.model.spec import JoinSpec
from punctuated.operator.pwjoin.tactic import PWJoin
from punctuated.snapshot.parts import Ints
from punctuated.state.multiway import MultiwayState


class Multiway(PWJoin):
    """Tuples are kept by their value; those of all streams are one sequence."""

    state: MultiwayState

    def __init__(self, spec: JoinSpec, codec: KeyCodec, state: MultiwayState) -> None:
        super().__init__(spec, codec, state)
        self._all: tuple[Objects, Ints] | None = None  # of the batch at hand, and where those of each stream begin

    def encode(self, side: int, rows: pa.Table) -> TupleKeys:
        """The codes of their keys; without a key one value holds all tuples."""
        if self._spec.streams[side].key:
            return super().encode(side, rows)
        return TupleKeys(np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_))

    def expect(self, objects: Sequence[Objects]) -> None:
        """The objects of all streams one after the other."""
        sizes = [[each.ts.size for each in objects], [each.punctuation_ts.size for each in objects]]
        starts = np.cumsum(np.array([[0, *row[:-1]] for row in sizes], np.int64), axis=1)
        self._all = Objects(*(np.concatenate(arrays) for arrays in zip(*objects, strict=True))), starts

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        """The loop over all streams."""
        assert self._all is not None
        return int(process_many(order, at, stop, *self._all, self.state.many))
