"""A union: streams that are not joined. The loop is that of many streams, in which no tuple waits for another one."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from punctuated.expressions.nodes import Expression
from punctuated.keys.codec import KeyCodec
from punctuated.model.spec import JoinSpec
from punctuated.operator.family import Allow, Explained
from punctuated.operator.multiway.tactic import multiway
from punctuated.operator.tactic import Tactic
from punctuated.output.collector import Collector
from punctuated.output.members import UnionCollector
from punctuated.spill.policy import SpillPolicy, Stored
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import TableStore


class Unions:
    """All tuples of several streams, or of one by itself."""

    def check(self, spec: JoinSpec, where: Expression | None, schemas: Sequence[pa.Schema]) -> None:
        """Any streams with the same columns can be united; that was checked where they were bound."""

    def build(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], allow: Allow
    ) -> tuple[Tactic, Collector]:
        """The loop of many streams, and a collector of single tuples."""
        return multiway(setup, codec, allow), UnionCollector(setup, codec, rows)

    def spill(self, stored: Stored, store: TableStore) -> SpillPolicy:
        """Never asked for: nothing but the endings of values is stored."""
        raise AssertionError("a union has no memory=")

    def explain(self, spec: JoinSpec) -> Iterator[Explained]:
        """Nothing: there is only one way to do it."""
        yield from ()


FAMILY = Unions()
