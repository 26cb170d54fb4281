"""How many tuples may be in memory: as given, or as many as so many bytes hold."""

from collections.abc import Sequence

from punctuated.join.overflow.tuples_within import tuples_within
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.rows import RowStore
from punctuated.model.memory import Memory

_FEWEST = 4096  # of the disk, read at a time
_ROW_BYTES = 64  # as long as no row is known


class MemoryLimit:
    """A limit of tuples; rows of other widths change what fits into bytes."""

    def __init__(self, memory: Memory | None, state: JoinState) -> None:
        self._memory, self._state = memory, state
        self._row_bytes = _ROW_BYTES
        self._last: int | None = None

    def tuples(self, rows: Sequence[RowStore]) -> int | None:
        """The most that may be in memory; a batch brings the `rows` at hand."""
        if self._memory is None:
            return None
        self._row_bytes = max([self._row_bytes, *(int(each.bytes_per_row) for each in rows)])
        self._last = tuples_within(self._memory, self._state, self._row_bytes)
        return self._last

    def portion(self) -> int:
        """How many tuples may be read from disk at a time, beside those in memory."""
        return _FEWEST if self._last is None else max(_FEWEST, self._last // 2)
