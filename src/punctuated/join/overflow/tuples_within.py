"""How many tuples so much memory holds."""

from punctuated.join.state.arrays import JoinState
from punctuated.model.memory import Memory


def tuples_within(memory: Memory, state: JoinState, row_bytes: float) -> int:
    """As many as were given, or as bytes suffice for with rows of that width; at least one."""
    if memory.tuples is not None:
        return memory.tuples
    assert memory.nbytes is not None
    return max(1, int(memory.nbytes / (row_bytes + state.bytes_per_tuple)))
