"""The memory budget of a driver: it fails before it allocates more, rather than be killed while it does."""

from collections.abc import Callable
from dataclasses import dataclass

from punctuated.errors import MemoryBudgetError
from punctuated.model.memory import Memory, show_size
from punctuated.state.arrays import JoinState


@dataclass(frozen=True)
class Budget:
    """What `owner` may hold at most; `held` says what it holds."""

    largest: int | None
    owner: str
    held: Callable[[], int]

    def allow(self, more: int) -> None:
        """Raise if there is no room for so many bytes more."""
        if self.largest is None:
            return
        held = self.held()
        if held + more > self.largest:
            raise MemoryBudgetError(
                f"{self.owner} holds {show_size(held)} and needs {show_size(more)} more, beyond its budget of "
                f"{show_size(self.largest)}; give pt.join a larger bucket_memory, more buckets (and a new checkpoint), "
                "narrower windows, or streams that say earlier when a value is over"
            )


# How many tuples so much memory holds.


def tuples_within(memory: Memory, state: JoinState, row_bytes: float) -> int:
    """As many as were given, or as bytes suffice for with rows of that width; at least one."""
    if memory.tuples is not None:
        return memory.tuples
    assert memory.nbytes is not None
    return max(1, int(memory.nbytes / (row_bytes + state.bytes_per_tuple)))
