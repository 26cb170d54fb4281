"""Results of a union: every accepted tuple of every stream comes out unchanged, in the order of processing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.output.collector import Collector
from punctuated.join.output.columns import check_selected, payload_of
from punctuated.join.setup import DriverSetup
from punctuated.join.state.rows import RowStore
from punctuated.join.state.take_rows import take_rows
from punctuated.kernels import layout as lay
from punctuated.model.spec import JoinSpec


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
