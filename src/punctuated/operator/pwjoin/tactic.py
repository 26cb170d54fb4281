"""PWJoin: one index of values for both states, used by windows and punctuations to forget (PW-06, PW-15 … PW-21).

WJoin, PJoin and the symmetric hash join are the same tactic with proofs switched off (PW-57); the switches are fields
of the state (see `state.arrays`).
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from punctuated.intake.prepare import TupleKeys
from punctuated.kernels.layout import Objects
from punctuated.kernels.process import process_batch
from punctuated.keys.codec import KeyCodec, NumberedKeys
from punctuated.model.spec import JoinSpec
from punctuated.punctuations.statements import Statements
from punctuated.snapshot.parts import Ints, Part
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore


class PWJoin:
    """Tuples are kept by their value."""

    structures = None

    def __init__(self, spec: JoinSpec, codec: KeyCodec, state: JoinState) -> None:
        self._spec, self._codec, self.state = spec, codec, state
        self.parts: dict[str, Part] = {}

    def encode(self, side: int, rows: pa.Table) -> TupleKeys:
        """The codes of their keys."""
        return TupleKeys(*self._codec.encode([rows[name] for name in self._spec.streams[side].key]))

    def expect(self, objects: Sequence[Objects]) -> None:
        """Nothing to prepare: nothing depends on the next batch."""

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        """The loop of the paper."""
        left, right = inputs
        return int(process_batch(order, at, stop, left, right, self.state.arrays))

    def node_codes(self, side: int, rows: pa.Table) -> Ints:
        """The codes of their keys."""
        return self.encode(side, rows).code

    def forget_keys(self, statements: Statements) -> None:
        """Forget numbered keys that neither a value nor the memory of punctuations needs any more."""
        if not isinstance(self._codec, NumberedKeys):
            return
        known, runs = self.state.arrays.values["code"][: self.state.n_values], statements.memory.runs
        statements.ranges.note_keys()
        if not self._codec.may_shrink(max(known.size, runs.size)):  # each of them has its own key
            return
        boundaries = self.state.boundary_codes()
        moved = self._codec.keep_only(np.unique(np.concatenate([known, runs["low"], boundaries])))
        if moved is None:
            return
        known[:] = moved[known]
        self.state.recode_boundaries(moved[boundaries])
        statements.memory.renumber(moved)
        statements.ranges.renumber(moved)
        self.state.collect_values()
        statements.remember()

    def adapt(self) -> None:
        """Nothing to choose: there is only one way to keep values."""

    def resume(self, rows: tuple[RowStore, ...]) -> None:
        """Nothing to do: values are already linked with their tuples."""
