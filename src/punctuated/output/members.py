"""Results of a join of any number of streams: turns row numbers into columns, and applies an extra predicate."""

import numpy as np
import pyarrow as pa

from punctuated.arrow.rows import take_rows
from punctuated.kernels import layout as lay
from punctuated.model.spec import LEFT
from punctuated.output.collector import Collector


class MultiwayCollector(Collector):
    """Makes columns of row numbers, one of each stream."""

    def _take_unmatched(self, unmatched: lay.Records) -> None:
        raise AssertionError("inner joins have no unmatched tuples")

    def _take_pairs(self, pairs: lay.Indices) -> None:
        if self._where is not None:
            hit = self._where(*(self._all(side, rows) for side, rows in enumerate(pairs)))
            pairs = pairs[:, hit]
        if pairs.shape[1]:
            self._emit(pairs)

    def _emit(self, members: lay.Indices) -> None:
        arrays: list[pa.ChunkedArray] = []
        for side, rows in enumerate(members):
            names = [*(self._columns.keys[LEFT] if side == LEFT else ()), *self._columns.payload[side]]
            arrays += self._rows[side].take(rows, names).columns
        self.batch.results.append(self._shaped(pa.table(arrays, schema=self._columns.schema)))
        if self._setup.timed:
            times = [times.of(rows) for times, rows in zip(self._times, members, strict=True)]
            self.batch.result_ts.append(np.maximum.reduce(times))


class UnionCollector(Collector):
    """Makes columns of row numbers, each of one of the streams."""

    def _take_unmatched(self, unmatched: lay.Records) -> None:
        raise AssertionError("tuples of a union come out as results")

    def _take_pairs(self, pairs: lay.Indices) -> None:
        """Results of which one stream has the row, and the others have none."""
        places = [np.flatnonzero(rows != lay.NONE) for rows in pairs]
        taken = [(side, pairs[side, ours], ours) for side, ours in enumerate(places) if ours.size]
        schema = self._columns.schema
        tables = [pa.table(self._rows[side].take(rows, schema.names).columns, schema) for side, rows, _ in taken]
        order = np.argsort(np.concatenate([ours for _, _, ours in taken]))
        self.batch.results.append(self._shaped(tables[0] if len(tables) == 1 else take_rows(tables, order)))
        if self._setup.timed:
            times = [self._times[side].of(rows) for side, rows, _ in taken]
            self.batch.result_ts.append(np.concatenate(times)[order])
