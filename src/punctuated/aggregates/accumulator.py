"""What a group keeps for an aggregate: the protocol of accumulators, and those of counts and of first and last rows.

Open groups are numbered from 0. New groups come last; when some are forgotten, the others move up.
"""

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.rows import widen
from punctuated.intake.prepare import sortable

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


# Counts


class Counts:
    """The number of rows of each group, or of those where a column is not null."""

    def __init__(self, column: str | None) -> None:
        self._column = column
        self._counts = np.zeros(0, np.int64)

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Count these rows."""
        if self._column is not None and rows[self._column].null_count:
            groups = groups[np.asarray(rows[self._column].is_valid())]
        self._counts = lengthen(self._counts, n_groups) + np.bincount(groups, minlength=n_groups)

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        self._counts = self._counts[kept]

    def finish(self, final: Mask) -> Ints:
        """The counts of these groups."""
        return self._counts[final]

    def save(self) -> pa.Table:
        """Everything as a table."""
        return pa.table({"count": self._counts})

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        self._counts = np.array(saved["count"])


# First and last rows


class Ends:
    """The first and the last row of each group, by (result time, columns from left to right).

    Rows are kept with all columns, because any column may decide which of two rows is the first.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema.append(pa.field(TIME, pa.int64()))
        self._earliest = self._latest = self._schema.empty_table()

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Compare these rows, which have their times, with those before."""
        before = np.arange(len(self._earliest))
        candidates = pa.concat_tables([self._earliest, self._latest, rows.select(self._schema.names)])
        order = _order_by_time(candidates)
        sorted_groups = np.concatenate([before, before, groups])[order]
        positions = np.arange(order.size)
        first, last = np.full(n_groups, order.size), np.zeros(n_groups, np.int64)
        np.minimum.at(first, sorted_groups, positions)
        np.maximum.at(last, sorted_groups, positions)
        self._earliest, self._latest = (candidates.take(pa.array(order[ends])) for ends in (first, last))

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        mask = pa.array(kept)
        self._earliest, self._latest = (ends.filter(mask).combine_chunks() for ends in (self._earliest, self._latest))

    def finish_first(self, final: Mask, column: str) -> pa.ChunkedArray:
        """The value of a column in the first rows of these groups."""
        return self._earliest[column].filter(pa.array(final))

    def finish_last(self, final: Mask, column: str) -> pa.ChunkedArray:
        """The value of a column in the last rows of these groups."""
        return self._latest[column].filter(pa.array(final))

    def save(self) -> pa.Table:
        """Everything as a table."""
        return pa.concat_tables([self._earliest, self._latest])

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave; the results may have gained columns meanwhile."""
        rows, n_groups = widen(saved, self._schema), len(saved) // 2
        self._earliest, self._latest = rows.slice(0, n_groups), rows.slice(n_groups)


def _order_by_time(rows: pa.Table) -> Ints:
    names = [TIME, *(name for name in rows.column_names if name != TIME)]
    keyed = pa.table([sortable(rows[name]) for name in names], names=[str(i) for i in range(len(names))])
    order = pc.sort_indices(keyed, sort_keys=[(name, "ascending") for name in keyed.column_names])
    return np.asarray(order).astype(np.int64)
