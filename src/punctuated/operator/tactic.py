"""The tactic of a join: it owns the work of one object after another; the driver owns time, batches and output."""

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from punctuated.intake.prepare import TupleKeys
from punctuated.kernels.layout import Objects
from punctuated.punctuations.memory import PunctuationState
from punctuated.snapshot.parts import Ints, SavedPart
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore


class Tactic(Protocol):
    """How tuples are kept and find each other."""

    parts: dict[str, SavedPart]  # what it remembers beside the state's arrays

    @property
    def state(self) -> JoinState:
        """The arrays it works on."""

    def encode(self, side: int, rows: pa.Table) -> TupleKeys:
        """What it knows these tuples by."""

    def expect(self, objects: Sequence[Objects]) -> None:
        """A batch begins: what the streams bring."""

    def run(self, order: Ints, at: int, stop: int, inputs: Sequence[Objects]) -> int:
        """Process objects from `at` on; returns where it came to, and in `stopped_by` of the state why."""

    def node_codes(self, side: int, rows: pa.Table) -> Ints:
        """The values that hold these tuples."""

    def forget_keys(self, punctuations: PunctuationState) -> None:
        """A batch is over: keys that nothing needs any more go."""

    def adapt(self) -> None:
        """A batch is over: what it showed may suggest another way to keep tuples."""

    def resume(self, rows: tuple[RowStore, ...]) -> None:
        """The state was loaded: stored tuples must be found again."""

    @property
    def structures(self) -> tuple[str, str] | None:
        """The structures on the left and the right window, if windows have any."""
