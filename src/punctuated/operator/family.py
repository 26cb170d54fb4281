"""The seam for algorithms: a family says what its algorithms can do, what a driver is made of, how a plan explains it.

`model.algorithm` has the names: each with its switches, and with the folder beside this file that carries it out. The
folder is loaded when the first join names one of its algorithms; its module `tactic` has the tactic, and `FAMILY`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from punctuated.expressions.nodes import Expression
from punctuated.keys.codec import KeyCodec
from punctuated.model.spec import JoinSpec
from punctuated.operator.tactic import Tactic
from punctuated.output.collector import Collector
from punctuated.spill.policy import SpillPolicy, Stored
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import TableStore

Allow = Callable[[int], None]  # is asked before so many bytes more are taken, and may raise


class Explained(NamedTuple):
    """A line of a plan: what it is about, what it says, and the same for machines."""

    what: str
    text: str
    data: Mapping[str, Any] = MappingProxyType({})


class Family(Protocol):
    """Algorithms that are carried out by one tactic."""

    def check(self, spec: JoinSpec, where: Expression | None, schemas: Sequence[pa.Schema]) -> None:
        """Raise if a join asks for what its algorithm cannot do; `where` is its extra predicate."""

    def build(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], allow: Allow
    ) -> tuple[Tactic, Collector]:
        """What keeps and finds the tuples of a driver, and what makes results of them."""

    def spill(self, stored: Stored, store: TableStore) -> SpillPolicy:
        """What goes to disk, and when, if a join is given `memory=`."""

    def explain(self, spec: JoinSpec) -> Iterator[Explained]:
        """The lines of a plan about the algorithm."""


def family_of(spec: JoinSpec) -> Family:
    """The family that carries out a join; loaded if it is the first one of its kind."""
    family: Family = import_module(f"punctuated.operator.{spec.family}.tactic").FAMILY
    return family
