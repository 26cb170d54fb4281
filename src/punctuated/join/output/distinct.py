"""Each combination of values of the results once, when it first appears.

A combination that came out is kept like an open group, so that it does not come out again. It is forgotten like a group
when an output punctuation or the end says that it cannot come again.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from punctuated.join.output.aggregates.accumulator import Ints
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.group_by import GroupBy
from punctuated.join.output.group_numbers import number_groups
from punctuated.kernels.layout import FOREVER


class Distinct(GroupBy):
    """Groups without aggregates that come out when they open."""

    def __init__(self, schema: pa.Schema, by: Sequence[str], key: Sequence[str]) -> None:
        """As of `GroupBy`."""
        super().__init__(schema, by, key, {}, is_distinct=True)

    def _process(self, batch: BatchResult) -> tuple[pa.Table, Ints]:
        """Combinations that are new, and if results have times, when they appeared."""
        n_told, ts = len(self._groups), np.empty(0, np.int64)
        if batch.results:
            numbers, self._groups = number_groups(self._groups, pa.concat_tables(batch.results))
            if batch.result_ts:
                ts = _first_times(numbers, len(self._groups), np.concatenate(batch.result_ts))[n_told:]
        fresh = self._groups.slice(n_told)
        is_open = self._ended_at(batch) == FOREVER
        if not is_open.all():
            self._groups = self._groups.filter(pa.array(is_open)).combine_chunks()
        return fresh, ts


def _first_times(groups: Ints, n_groups: int, ts: Ints) -> Ints:
    """The earliest of the times that belong to each group.

    >>> _first_times(np.array([1, 0, 1]), 2, np.array([5, 4, 3])).tolist()
    [4, 3]
    """
    first = np.full(n_groups, FOREVER)
    np.minimum.at(first, groups, ts)
    return first
