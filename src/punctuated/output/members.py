"""Results of a join of any number of streams: turns row numbers into columns, and applies an extra predicate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from punctuated.arrow.rows import take_rows
from punctuated.errors import ColumnError
from punctuated.expressions.evaluate import Where
from punctuated.kernels import layout as lay
from punctuated.keys.codec import KeyCodec
from punctuated.model.arguments import duplicates
from punctuated.model.spec import JoinSpec
from punctuated.output.collector import Collector
from punctuated.output.columns import check_selected, names_of_two, payload_of
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup


@dataclass(frozen=True)
class MultiwayColumns:
    """The columns of a result: the key once, then those of every stream.

    With more than two streams, a column has its stream's name before its own. Of two they are called as in any join of
    two, so that another algorithm changes no names.
    """

    schema: pa.Schema
    payload: tuple[tuple[str, ...], ...]  # non-key input columns that come out, per stream
    key: tuple[str, ...]

    @staticmethod
    def of(spec: JoinSpec, schemas: Sequence[pa.Schema], key_types: Sequence[pa.DataType]) -> "MultiwayColumns":
        key = spec.streams[0].key
        ours = [payload_of(stream) for stream in spec.streams]
        called = names_of_two(key, ours) if len(ours) == 2 else _by_stream(spec, ours)
        shown = [
            (shown, side, name) for side in spec.sides for shown, name in zip(called[side], ours[side], strict=True)
        ]
        names = [*key, *(name for name, _, _ in shown)]
        if twice := duplicates(names):
            raise ColumnError(f"the results would have two columns {twice[0]!r}; rename one in its input, or a stream")
        check_selected(spec.selected, names)
        kept = [each for each in shown if spec.selected is None or each[0] in spec.selected]
        fields = [pa.field(*each) for each in zip(key, key_types, strict=True)]
        fields += [pa.field(name, schemas[side].field(column).type) for name, side, column in kept]
        payload = tuple(tuple(column for _, at, column in kept if at == side) for side in spec.sides)
        return MultiwayColumns(pa.schema(fields), payload, key)

    def shown(self, side: int) -> list[str]:
        """Names in the result of a stream's payload columns."""
        start = len(self.key) + sum(map(len, self.payload[:side]))
        return list(self.schema.names[start : start + len(self.payload[side])])


def _by_stream(spec: JoinSpec, payload: Sequence[Sequence[str]]) -> list[list[str]]:
    streams = zip(spec.streams, payload, strict=True)
    return [[f"{stream.name}_{name}" for name in names] for stream, names in streams]


class MultiwayCollector(Collector):
    """Makes columns of row numbers, one of each stream."""

    def __init__(self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], where: Where | None) -> None:
        """`where` is an extra predicate on whole results."""
        super().__init__(setup, codec, rows)
        self._columns, self._where = MultiwayColumns.of(setup.spec, setup.schemas, codec.types), where

    @property
    def schema(self) -> pa.Schema:
        """The key once, then the columns of all streams."""
        return self._columns.schema

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
            names = [*(self._columns.key if side == 0 else ()), *self._columns.payload[side]]
            arrays += self._rows[side].take(rows, names).columns
        self.batch.results.append(self._shaped(pa.table(arrays, schema=self._columns.schema)))
        if self._setup.timed:
            times = [times.of(rows) for times, rows in zip(self._times, members, strict=True)]
            self.batch.result_ts.append(np.maximum.reduce(times))


# Results of a union: every accepted tuple of every stream comes out unchanged, in the order of processing.


@dataclass(frozen=True)
class UnionColumns:
    """The columns of a result: those of the streams, which all have the same columns, with the key first."""

    schema: pa.Schema
    payload: tuple[tuple[str, ...], ...]  # beside the key, per stream

    @staticmethod
    def of(spec: JoinSpec, schemas: Sequence[pa.Schema]) -> "UnionColumns":
        check_selected(spec.selected, [*spec.left.key, *payload_of(spec.left)])
        beside = tuple(name for name in payload_of(spec.left) if spec.selected is None or name in spec.selected)
        fields = [pa.field(name, schemas[0].field(name).type) for name in (*spec.left.key, *beside)]
        return UnionColumns(pa.schema(fields), (beside,) * len(spec.streams))

    def shown(self, side: int) -> list[str]:
        """Names in the result of a stream's columns beside the key."""
        return list(self.payload[side])


class UnionCollector(Collector):
    """Makes columns of row numbers, each of one of the streams."""

    def __init__(self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...]) -> None:
        super().__init__(setup, codec, rows)
        self._columns = UnionColumns.of(setup.spec, setup.schemas)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the streams."""
        return self._columns.schema

    def _take_unmatched(self, unmatched: lay.Records) -> None:
        raise AssertionError("tuples of a union come out as results")

    def _take_pairs(self, pairs: lay.Indices) -> None:
        """For each result, one stream has the row, and the others have none."""
        places = [np.flatnonzero(rows != lay.NONE) for rows in pairs]
        taken = [(side, pairs[side, ours], ours) for side, ours in enumerate(places) if ours.size]
        schema = self._columns.schema
        tables = [pa.table(self._rows[side].take(rows, schema.names).columns, schema) for side, rows, _ in taken]
        order = np.argsort(np.concatenate([ours for _, _, ours in taken]))
        self.batch.results.append(self._shaped(tables[0] if len(tables) == 1 else take_rows(tables, order)))
        if self._setup.timed:
            times = [self._times[side].of(rows) for side, rows, _ in taken]
            self.batch.result_ts.append(np.concatenate(times)[order])
