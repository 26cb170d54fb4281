"""What a join does if its state does not fit into memory: the driver asks before and after each part of a batch.

There are two policies: whole values that were not touched for long (`spill.values`), and partitions, which are joined
later in stages (`operator.staged`). The driver does not know which one it has.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from punctuated.kernels.layout import Objects
from punctuated.keys.codec import KeyCodec
from punctuated.model.pattern import Pattern
from punctuated.output.collector import Collector
from punctuated.punctuations.memory import PunctuationState
from punctuated.punctuations.pending_ranges import PendingRange
from punctuated.snapshot.parts import Ints, SavedPart
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup


@dataclass(frozen=True)
class Stored:
    """The parts of a driver that a policy works on."""

    setup: DriverSetup
    codec: KeyCodec
    state: JoinState
    rows: tuple[RowStore, ...]
    punctuations: PunctuationState
    collector: Collector
    node_codes: Callable[[int, pa.Table], Ints]  # the codes of the values that hold such tuples of a side


class SpillPolicy(Protocol):
    """Decides what goes to disk, and sees to it that what the next objects need is in memory."""

    @property
    def parts(self) -> Mapping[str, SavedPart]:
        """What outlives a batch, by the names that saved states have for it."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory that describe what is on disk."""

    def begin(self, order: Ints, inputs: Sequence[Objects]) -> None:
        """A batch begins: its objects, in the order of processing."""

    def before(self, at: int, stop: int) -> int:
        """Make ready for the objects from `at` on; returns up to where, at most `stop`."""

    def after(self, at: int) -> None:
        """The objects before `at` have been processed: make room, do what has become due."""

    def finish(self) -> None:
        """The batch is over; called before its rows are committed."""

    def before_range(self, patterns: tuple[Pattern, ...]) -> None:
        """A range is about to take effect: its values must be in memory, unless the policy catches up later."""

    def after_range(self, side: int, ending: PendingRange) -> None:
        """A range of this side has taken effect."""
