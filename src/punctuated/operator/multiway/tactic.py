"""Joins of any number of streams: a new tuple is completed by stored ones (WJ-11 … WJ-27)."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from punctuated.errors import AlgorithmError
from punctuated.expressions.nodes import Expression
from punctuated.intake.prepare import TupleKeys
from punctuated.kernels.layout import Objects
from punctuated.kernels.multiway.process import process_many
from punctuated.keys.codec import KeyCodec
from punctuated.model.algorithm import HW, MULTIWAY
from punctuated.model.spec import JoinSpec, JoinType
from punctuated.operator.family import Allow, Explained
from punctuated.operator.pwjoin.tactic import PWJoin
from punctuated.operator.tactic import Tactic
from punctuated.output.collector import Collector
from punctuated.output.members import MultiwayCollector
from punctuated.snapshot.parts import Ints
from punctuated.spill.policy import SpillPolicy, Stored
from punctuated.spill.values import check_spilling, spill_values
from punctuated.state.multiway import MultiwayState, walk_of
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import TableStore


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


# The family

_FOUND = {"value": "an index of values", "scan": "a scan of all tuples", "time": "a scan of the tuples in time"}
_LOOKED = {
    "exact": "",
    "global": ", in the widest window of all, and a second look",
    "local": ", in the widest windows of each stream, and a second look",
    "none": ", and a look at the windows afterwards",
}


class ManyStreams:
    """The algorithms of the W-join report, for two streams and more."""

    def check(self, spec: JoinSpec, where: Expression | None, schemas: Sequence[pa.Schema]) -> None:
        """Raise if a join of any number of streams is asked for what only joins of two can do."""
        if spec.how is not JoinType.INNER:
            raise AlgorithmError(
                f"how={spec.how.value!r}: a join of more than two streams, or by {spec.algorithm.name!r}, is always "
                "inner; for other kinds join two at a time"
            )
        if spec.algorithm.structures is not None:
            raise AlgorithmError(
                f"algorithm={spec.algorithm.name!r} has a structure for each of two windows; use 'auto' or one of "
                f"{', '.join(MULTIWAY)}"
            )
        if spec.purge_threshold != 1:
            raise AlgorithmError("purge_threshold is for joins of two streams; leave it out")
        if spec.shed is not None:
            raise AlgorithmError("shed= is for joins of two streams; leave it out, or join two at a time")
        check_spilling(spec, looks_through_windows=spec.algorithm.walk not in (None, HW.walk))

    def build(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], allow: Allow
    ) -> tuple[Tactic, Collector]:
        """One index of values for all streams, and a collector of their members."""
        return multiway(setup, codec, allow), MultiwayCollector(setup, codec, rows, setup.where)

    def spill(self, stored: Stored, store: TableStore) -> SpillPolicy:
        """The policy that puts values on disk that were not touched for long."""
        return spill_values(stored, store)

    def explain(self, spec: JoinSpec) -> Iterator[Explained]:
        """How partners are found, and in which order of streams."""
        walk, name = walk_of(spec), spec.algorithm.name
        cleaned = f", cleaned up every {walk.cleans_every:,} tuples" if walk.cleans_every else ""
        partners = f"partners by {_FOUND[walk.finds]}{_LOOKED[walk.periods]}{cleaned}"
        yield Explained("algorithm", f"{name}, {partners}", {"name": name})
        yield Explained("order", "for each tuple, streams with the fewest candidates first")
        if len(spec.reaches) > 1:
            yield Explained("path", f"along {' then '.join(stream.name for stream in spec.streams)}, or back")


def multiway(setup: DriverSetup, codec: KeyCodec, allow: Allow) -> Multiway:
    """The tactic over the arrays of any number of streams; the collector decides the extra predicate."""
    state = MultiwayState(setup.spec, allow, filtered=setup.where is not None, hash_bits=setup.hash_bits)
    return Multiway(setup.spec, codec, state)


FAMILY = ManyStreams()
