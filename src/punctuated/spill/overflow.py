"""What a join does if its state does not fit into memory: the driver asks before and after each stretch of objects."""

from collections.abc import Sequence
from typing import Protocol

from punctuated.kernels.layout import Objects
from punctuated.snapshot.parts import Ints, Part


class Overflow(Protocol):
    """Sees to it that what the next objects need is in memory, and that not much more is."""

    parts: dict[str, Part]  # what outlives a batch

    @property
    def nbytes(self) -> int:
        """Bytes in memory that know what is not there."""

    def begin(self, order: Ints, inputs: Sequence[Objects]) -> None:
        """A batch begins: its objects, in the order of processing."""

    def before(self, at: int, stop: int) -> int:
        """Make ready for the objects from `at` on; returns up to where, at most `stop`."""

    def after(self, at: int) -> None:
        """The objects before `at` have been processed: make room, do what has become due."""

    def finish(self) -> None:
        """The batch is over; called before its rows are committed."""


class InMemory:
    """Everything is in memory."""

    def __init__(self) -> None:
        self.parts: dict[str, Part] = {}

    @property
    def nbytes(self) -> int:
        """Nothing is elsewhere."""
        return 0

    def begin(self, order: Ints, inputs: Sequence[Objects]) -> None:
        """Nothing to prepare."""

    def before(self, at: int, stop: int) -> int:
        """All objects may come."""
        return stop

    def after(self, at: int) -> None:
        """There is room."""

    def finish(self) -> None:
        """Nothing to put away."""
