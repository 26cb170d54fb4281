"""The memory that a driver may take: a budget in bytes, on which it fails, and a limit of tuples, beyond which it
spills.

A driver that would allocate beyond its budget fails with what to change, rather than be killed.
"""

from collections.abc import Callable
from dataclasses import dataclass

from punctuated.errors import MemoryBudgetError
from punctuated.model.memory import Memory, show_size
from punctuated.state.arrays import JoinState


@dataclass(frozen=True)
class Budget:
    """What `owner` may hold at most; `held` says what it holds."""

    largest: int
    owner: str
    held: Callable[[], int]

    def allow(self, more: int) -> None:
        """Raise if there is no room for so many bytes more."""
        held = self.held()
        if held + more > self.largest:
            raise MemoryBudgetError(
                f"{self.owner} holds {show_size(held)} and needs {show_size(more)} more, beyond its budget of "
                f"{show_size(self.largest)}; give pt.join a larger bucket_memory, more buckets (and a new checkpoint), "
                "narrower windows, or streams that say earlier when a value is over"
            )


def tuples_within(memory: Memory, state: JoinState, row_bytes: float) -> int:
    """How many tuples fit into the memory: as many as it names, or as its bytes suffice for; at least one."""
    if memory.tuples is not None:
        return memory.tuples
    assert memory.nbytes is not None
    return max(1, int(memory.nbytes / (row_bytes + state.bytes_per_tuple)))
