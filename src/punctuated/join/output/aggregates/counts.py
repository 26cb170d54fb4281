"""The number of rows of each group, or of those where a column is not null."""

import numpy as np
import pyarrow as pa

from punctuated.join.output.aggregates.accumulator import Ints, Mask, lengthen


class Counts:
    """One number per group."""

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
