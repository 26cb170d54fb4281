"""PWJoin: one index of values for both states, used by windows and punctuations to forget (PW-06, PW-15 … PW-21).

WJoin, PJoin and the symmetric hash join are the same tactic with proofs switched off (PW-57); the switches are fields
of the state (see `state.arrays`).
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from punctuated.errors import AlgorithmError
from punctuated.expressions.nodes import Expression
from punctuated.intake.prepare import TupleKeys
from punctuated.kernels.layout import Objects
from punctuated.kernels.process import process_batch
from punctuated.keys.codec import KeyCodec, NumberedKeys
from punctuated.model.spec import JoinSpec
from punctuated.operator.family import Allow, Explained
from punctuated.operator.tactic import Tactic
from punctuated.output.collector import Collector
from punctuated.output.pairs import PairCollector
from punctuated.punctuations.memory import PunctuationState
from punctuated.snapshot.parts import Ints, SavedPart
from punctuated.spill.policy import SpillPolicy, Stored
from punctuated.spill.values import check_spilling, spill_values
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import TableStore


class PWJoin:
    """Tuples are kept by their value."""

    structures = None

    def __init__(self, spec: JoinSpec, codec: KeyCodec, state: JoinState) -> None:
        self._spec, self._codec, self.state = spec, codec, state
        self.parts: dict[str, SavedPart] = {}

    def encode(self, side: int, rows: pa.Table) -> TupleKeys:
        """The codes of the keys of these rows."""
        return TupleKeys(*self._codec.encode([rows[name] for name in self._spec.streams[side].key]))

    def expect(self, objects: Sequence[Objects]) -> None:
        """Nothing to prepare: nothing depends on the next batch."""

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        """Process objects from `at` to `stop` by the loop of PWJoin (PW-22)."""
        left, right = inputs
        return int(process_batch(order, at, stop, left, right, self.state.arrays))

    def node_codes(self, side: int, rows: pa.Table) -> Ints:
        """The codes of the keys of these rows."""
        return self.encode(side, rows).code

    def forget_keys(self, punctuations: PunctuationState) -> None:
        """Forget numbered keys that neither a value nor the memory of punctuations needs any more."""
        if not isinstance(self._codec, NumberedKeys):
            return
        known, runs = self.state.arrays.values["code"][: self.state.n_values], punctuations.memory.runs
        punctuations.note_keys()
        if not self._codec.may_shrink(max(known.size, runs.size)):  # each of them has its own key
            return
        boundaries = self.state.boundary_codes()
        moved = self._codec.keep_only(np.unique(np.concatenate([known, runs["low"], boundaries])))
        if moved is None:
            return
        known[:] = moved[known]
        self.state.recode_boundaries(moved[boundaries])
        punctuations.renumber(moved)
        self.state.collect_values()
        punctuations.remember()

    def adapt(self) -> None:
        """Nothing to choose: there is only one way to keep values."""

    def resume(self, rows: tuple[RowStore, ...]) -> None:
        """Nothing to do: values are already linked with their tuples."""


# The family


class ValueJoins:
    """PWJoin and the same with proofs switched off: WJoin, PJoin, the symmetric hash join."""

    def check(self, spec: JoinSpec, where: Expression | None, schemas: Sequence[pa.Schema]) -> None:
        """Raise if there is no key to find tuples by, or if a part of the state cannot go to disk as `memory=` asks."""
        if not spec.left.key:
            raise AlgorithmError(
                f"algorithm={spec.algorithm.name!r} needs a key; without one use 'auto' or a pair of structures "
                "such as 'TT', 'BN' or 'NN'"
            )
        check_spilling(spec)

    def build(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], allow: Allow
    ) -> tuple[Tactic, Collector]:
        """An index of values for both sides, and a collector of pairs."""
        return joined_by_value(setup, codec, rows, allow)

    def spill(self, stored: Stored, store: TableStore) -> SpillPolicy:
        """The policy that puts values on disk that were not touched for long."""
        return spill_values(stored, store)

    def explain(self, spec: JoinSpec) -> Iterator[Explained]:
        """When it purges."""
        yield purge_line(spec)


def joined_by_value(
    setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], allow: Allow, kind: type[PWJoin] = PWJoin
) -> tuple[PWJoin, PairCollector]:
    """A tactic over one index of values for both sides, and a collector that decides the extra predicate on pairs."""
    state = JoinState(setup.spec, allow, filtered=setup.where is not None, hash_bits=setup.hash_bits)
    return kind(setup.spec, codec, state), PairCollector(setup, codec, rows, setup.where)


def purge_line(spec: JoinSpec) -> Explained:
    """The name of the algorithm, and when it purges (PW-25, PW-26)."""
    name = spec.algorithm.name
    return Explained("algorithm", f"{name}, purge {_purge(spec)}", {"name": name, "adaptive": spec.adaptive})


def _purge(spec: JoinSpec) -> str:
    if not spec.algorithm.by_punctuation:
        return "by window only" if spec.algorithm.by_window else "never"
    threshold = spec.purge_threshold if spec.policy is None else spec.policy.threshold
    return "at every punctuation" if threshold == 1 else f"at every {threshold} punctuations"


FAMILY = ValueJoins()
