"""What leaves a join: its views, the columns of each, and the tables that a batch brings of it.

results        key, left columns, right columns
punctuations   key, ts, reason, pattern: values that are over in the output (ts_ and so on beside a key of that name)
rejected       stream, reason, ts, row: tuples that did not take part
groups         of the results, each once (see `group_by`); if they go on as a stream, their chain
all            everything in band: `_kind` says what a row is, other kinds' columns are null (see `in_band`)
chain          all, and what another join needs to go on: the output watermark, and the end
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.rows import widen
from punctuated.expressions.shape import Shape
from punctuated.kernels.layout import FOREVER, NEVER
from punctuated.model.arguments import free_names
from punctuated.model.times import from_known_microseconds, from_microseconds
from punctuated.output.batch_result import REJECTED_SCHEMA, BatchResult
from punctuated.output.in_band import END, PROGRESS, PUNCTUATION, REJECTED, RESULT, InBand
from punctuated.output.punctuations import LatestResults

Ints = npt.NDArray[np.int64]

_NOTHING = pa.schema([])
_EARLIEST = -(2**60)  # that a column of times can hold whatever its unit


class View(StrEnum):
    """Which part of a join's output is wanted."""

    RESULTS = "results"
    PUNCTUATIONS = "punctuations"
    REJECTED = "rejected"
    ALL = "all"
    GROUPS = "groups"
    CHAIN = "chain"
    FILES = "files"  # which files were written, if the step writes tables

    @property
    def is_timed(self) -> bool:
        """Whether it shows the time of each result."""
        return self in (View.ALL, View.CHAIN)


def punctuation_schema(names: Sequence[str], types: Sequence[pa.DataType]) -> pa.Schema:
    """Key columns (null for ranges), the time in microseconds, the reason, and the pattern as text."""
    keys = [pa.field(name, dtype) for name, dtype in zip(names, types, strict=True)]
    others = zip(free_names(("ts", "reason", "pattern"), names), (pa.int64(), pa.string(), pa.string()), strict=True)
    return pa.schema([*keys, *others])


@dataclass(frozen=True)
class Views:
    """The views of one join."""

    results: pa.Schema
    key: tuple[str, ...]  # the names of its columns, in punctuations too
    time_type: pa.DataType  # the type of output times
    unseen: pa.Schema = _NOTHING  # those of them that results do not have

    @staticmethod
    def of(results: pa.Schema, own_key: pa.Schema, shape: Shape | None, time_type: pa.DataType) -> "Views":
        """The views of results of this shape, of a join with this key."""
        if shape is None:
            return Views(results, tuple(own_key.names), time_type)
        taken = [*results.names, *InBand.beside(results.names)]
        hidden = [name for name in own_key.names if name not in shape.names]
        names = shape.names | dict(zip(hidden, free_names(hidden, taken), strict=True))
        unseen = pa.schema([pa.field(names[name], own_key.field(name).type) for name in hidden])
        return Views(results, tuple(names[name] for name in own_key.names), time_type, unseen)

    @property
    def shown_key(self) -> tuple[str, ...] | None:
        """The key as the results have it; empty if they do not."""
        return None if len(self.unseen) else self.key

    def _key_field(self, name: str) -> pa.Field:
        return self.unseen.field(name) if name in self.unseen.names else self.results.field(name)

    @cached_property
    def in_band(self) -> InBand:
        """Names of columns beside those of the results."""
        return InBand.beside(self.results.names)

    def schema(self, view: View) -> pa.Schema:
        """The columns of a view; those of groups depend on the grouping."""
        assert view is not View.GROUPS
        if view is View.RESULTS:
            return self.results
        if view is View.PUNCTUATIONS:
            types = [self._key_field(name).type for name in self.key]
            return self._in_own_time(punctuation_schema(self.key, types), len(self.key))
        if view is View.REJECTED:
            return self._in_own_time(REJECTED_SCHEMA, REJECTED_SCHEMA.get_field_index("ts"))
        ours = self.in_band
        if view is View.FILES:
            return pa.schema([(ours.kind, pa.string()), (ours.row, pa.string())])
        texts = [(name, pa.string()) for name in (ours.stream, ours.reason, ours.pattern, ours.row)]
        progress = [(ours.watermark, pa.int64())] if view is View.CHAIN else []
        first = [(ours.kind, pa.string()), (ours.time, self.time_type)]
        return pa.schema([*first, *self.results, *self.unseen, *texts, *progress])

    def _in_own_time(self, schema: pa.Schema, place: int) -> pa.Schema:
        return schema.set(place, schema.field(place).with_type(self.time_type))

    def tables(
        self, view: View, batch: BatchResult, is_primary: bool = True, latest: LatestResults | None = None
    ) -> list[pa.Table]:
        """What a batch brings for a view, in some of its columns; the others are null.

        `is_primary`: of what all buckets of a join have in common. `latest` knows the results of earlier parts of
        the batch, where it comes in parts and goes to another join.
        """
        if view is View.RESULTS:
            return batch.results
        if view is View.PUNCTUATIONS:
            names = self.schema(view).names
            return [self._timed(each.table.rename_columns(names), len(self.key)) for each in batch.punctuations]
        if view is View.REJECTED:
            return [self._timed(each.table, 2) for each in batch.rejected]
        chained, ours = view is View.CHAIN, self.in_band
        punctuations = self._after_results(batch, latest) if chained else [each.table for each in batch.punctuations]
        return [
            *(self._result(table, ts) for table, ts in zip(batch.results, batch.result_ts, strict=True)),
            *(self._labelled(PUNCTUATION, each, [*self.key, *ours.of_punctuations]) for each in punctuations),
            *(self._labelled(REJECTED, each.table, ours.of_rejected) for each in batch.rejected),
            *(self._progress(batch) if chained and is_primary else ()),
        ]

    def table(self, view: View, batches: Sequence[BatchResult]) -> pa.Table:
        """Everything that these batches bring for a view, with all its columns."""
        schema = self.schema(view)
        parts = [widen(table, schema) for batch in batches for table in self.tables(view, batch)]
        return pa.concat_tables([schema.empty_table(), *parts])

    def _timed(self, table: pa.Table, place: int) -> pa.Table:
        """The table with the times of one column in the type of output times."""
        times = from_known_microseconds(table.column(place), self.time_type)
        return table.set_column(place, table.schema.names[place], times)

    def _result(self, table: pa.Table, ts: Ints) -> pa.Table:
        times = from_microseconds(np.maximum(ts, _EARLIEST), self.time_type)
        return self._with_kind(RESULT, table.append_column(self.in_band.time, times))

    def _labelled(self, kind: str, table: pa.Table, names: Sequence[str]) -> pa.Table:
        renamed = table.rename_columns(list(names))
        return self._with_kind(kind, self._timed(renamed, names.index(self.in_band.time)))

    def _after_results(self, batch: BatchResult, latest: LatestResults | None) -> list[pa.Table]:
        """Punctuations in order of time, but none earlier than a result of its value."""
        if not self.key or len(self.unseen):
            return [each.for_joins for each in batch.punctuations]
        known = LatestResults([self.results.field(name).type for name in self.key]) if latest is None else latest
        for table, ts in zip(batch.results, batch.result_ts, strict=True):
            known.add([table[name] for name in self.key], ts)
        punctuations = batch.punctuations
        return [
            replace(each, ts=known.not_before(each.keys, each.ts, batch.latest_ts)).for_joins for each in punctuations
        ]

    def _progress(self, batch: BatchResult) -> list[pa.Table]:
        """The output watermark as a row of its own, or the end of the output."""
        if batch.watermark <= NEVER:
            return []
        ended = batch.watermark >= FOREVER // 2
        at = from_microseconds(np.array([batch.latest_ts if ended else batch.watermark]), self.time_type)
        reached = pa.array([None if ended else batch.watermark], pa.int64())
        names = [self.in_band.time, self.in_band.watermark]
        return [self._with_kind(END if ended else PROGRESS, pa.table([at, reached], names=names))]

    def _with_kind(self, kind: str, table: pa.Table) -> pa.Table:
        kinds = pa.array([kind], pa.string()).take(pa.array(np.zeros(len(table), np.int8)))
        return table.append_column(self.in_band.kind, kinds)
