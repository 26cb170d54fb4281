"""Groups over the results of a join, each emitted once: when an output punctuation says that it is final (PW-40).

Between batches only the open groups are kept, numbered from 0, and what their aggregates or estimates need of them.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from punctuated.errors import SnapshotError
from punctuated.join.exchange.bundle import from_ipc, pack_bundle, to_ipc, unpack_bundle
from punctuated.join.intake.keys import key_codec
from punctuated.join.intake.pattern_match import match_columns
from punctuated.join.output.aggregates.accumulator import TIME, Mask
from punctuated.join.output.aggregates.strategies import Aggregates
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.group_numbers import number_groups
from punctuated.join.output.grouping import check_grouping
from punctuated.join.shedding.estimates import GroupEstimates
from punctuated.model.aggregate import Aggregate

_GROUPS = "groups"


class GroupBy:
    """Accumulates results batch by batch and gives out groups that are final."""

    def __init__(
        self,
        schema: pa.Schema,
        by: Sequence[str],
        key: Sequence[str],
        aggregates: Mapping[str, Aggregate],
        *,
        sheds: bool = False,
    ) -> None:
        """`schema` is that of the results, `key` names the join key's columns among them.

        Where the join sheds, results have the columns of `PAIR_SCHEMA` too, and an aggregate becomes an estimate and
        its standard error.
        """
        check_grouping(schema, by, aggregates, sheds=sheds)
        self._key = list(key)
        self._finishes = set(key) <= set(by)
        self._ordered = any(each.is_ordered for each in aggregates.values())
        self._groups = pa.schema([schema.field(name) for name in by]).empty_table()
        self._estimates = GroupEstimates(aggregates, by) if sheds else None
        self._values = self._estimates or Aggregates(schema, aggregates)
        self._nothing = self._finish(np.zeros(0, np.bool_))

    def process(self, batch: BatchResult) -> pa.Table:
        """Take in what a batch brought; returns the groups that are final now."""
        if batch.results:
            self._accumulate(batch)
        if self._estimates is not None:
            self._estimates.fold(batch.watermark)
        final = np.ones(len(self._groups), np.bool_) if batch.ended else self._covered(batch)
        if not final.any():
            return self._nothing
        groups = self._finish(final)
        self._groups = self._groups.filter(pa.array(~final)).combine_chunks()
        self._values.keep(~final)
        return groups

    @property
    def schema(self) -> pa.Schema:
        """The columns of the groups."""
        return self._nothing.schema

    def save(self) -> bytes:
        """The open groups as bytes."""
        kept = {_GROUPS: self._groups, **self._values.save()}
        return pack_bundle({name: to_ipc(table) for name, table in kept.items()})

    def load(self, saved: bytes) -> None:
        """Go on with the groups of `save`; the results may have gained columns meanwhile."""
        kept = {name: from_ipc(data) for name, data in unpack_bundle(saved).items()}
        try:
            self._groups = kept.pop(_GROUPS).select(self._groups.column_names)
            self._values.load(kept)
        except KeyError:
            raise SnapshotError("the saved groups are of another version; start with a new checkpoint") from None

    def _accumulate(self, batch: BatchResult) -> None:
        rows = pa.concat_tables(batch.results)
        if self._ordered:
            rows = rows.append_column(TIME, pa.array(np.concatenate(batch.result_ts)))
        numbers, self._groups = number_groups(self._groups, rows)
        self._values.add(numbers, len(self._groups), rows)

    def _covered(self, batch: BatchResult) -> Mask:
        """Open groups whose join value an output punctuation of this batch has ended."""
        covered = np.zeros(len(self._groups), np.bool_)
        if not self._finishes:
            return covered
        columns = [self._groups[name] for name in self._key]
        if batch.punctuations:
            told = pa.concat_tables([table.select(self._key) for table in batch.punctuations])
            codec = key_codec([column.type for column in columns])
            ended, single = codec.encode(told.columns)
            codes, valid = codec.encode(columns)
            covered |= np.isin(codes, ended[single]) & valid
        for patterns in batch.ranges:
            covered |= match_columns(patterns, columns)
        return covered

    def _finish(self, final: Mask) -> pa.Table:
        groups = self._groups.filter(pa.array(final))
        return pa.table({**dict(zip(groups.column_names, groups.columns, strict=True)), **self._values.finish(final)})
