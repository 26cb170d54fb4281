"""The protocol of accumulators, which keep something for every open group, by the group's number.

Open groups are numbered from 0. New groups come last; when some are forgotten, the others move up.
"""

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
T = TypeVar("T", bound=np.generic)

TIME = "\0ts"  # the column of result times, where they matter; cannot clash with a user's column


class Accumulator(Protocol):
    """What an aggregate needs of the values of each open group."""

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Add results, each with the number of its group; there are `n_groups` now."""

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""

    def save(self) -> pa.Table:
        """Everything as a table."""

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""


def lengthen(values: npt.NDArray[T], n_groups: int, fill: object = 0) -> npt.NDArray[T]:
    """A copy with room for more groups."""
    longer = np.full(n_groups, fill, values.dtype)
    longer[: values.size] = values
    return longer


def known_values(column: pa.ChunkedArray, groups: Ints) -> tuple[npt.NDArray[np.generic], Ints]:
    """The numbers of a column that are not null, and the groups beside them."""
    if column.null_count == 0:
        return column.to_numpy(), groups
    known = column.drop_null()
    return known.to_numpy(), groups[np.asarray(column.is_valid())]
