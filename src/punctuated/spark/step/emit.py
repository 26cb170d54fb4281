"""What leaves a step: tables of a view as pandas frames on Arrow memory, which Spark takes without conversion.

Nested columns leave a step as blobs, which are unpacked after it. PySpark takes a flat column of a step as it is in
Arrow memory. But it walks through a nested column of a pandas frame value by value, and casts a nested column of an
Arrow table, which not every value survives. Blobs of Arrow batches come through as they are. Views without nested
columns do not go through `mapInArrow`, which would halve their rate.
"""

from collections.abc import Iterator
from typing import Self

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, StructField, StructType

from punctuated.arrow.ipc import from_ipc, to_ipc
from punctuated.arrow.rows import widen
from punctuated.bind.bound_join import BoundJoin
from punctuated.output.batch_result import BatchResult
from punctuated.output.punctuations import LatestResults
from punctuated.output.views import View
from punctuated.spark.state.bucket import Bucket

PACKED = "_packed"
_PACKED_TYPES = StructType([StructField(PACKED, BinaryType())])
_LARGEST = 16 << 20  # bytes of a blob, approximately
_ROWS = 1 << 17  # per frame: small enough for the caches of a processor
_FEW = 1 << 14  # results that wait for more: every frame has a price of its own on its way to Spark


def leaves_packed(schema: pa.Schema) -> bool:
    """Whether rows of a view leave the step as blobs."""
    return any(pa.types.is_nested(field.type) for field in schema)


def as_blobs(table: pa.Table) -> pa.Table:
    """The rows of a table as a column of blobs of moderate size."""
    n_rows = max(1, len(table) * _LARGEST // max(1, table.nbytes))
    blobs = [to_ipc(table.slice(start, n_rows)).to_pybytes() for start in range(0, len(table), n_rows)]
    return pa.table([pa.array(blobs, pa.binary())], names=[PACKED])


def leaving_schema(schema: pa.Schema) -> pa.Schema:
    """The columns that leave a step for a view with these columns, as Arrow types."""
    return pa.schema([(PACKED, pa.binary())]) if leaves_packed(schema) else schema


def step_schema(schema: pa.Schema, output: StructType) -> StructType:
    """The columns that leave a step for a view with these columns, as Spark types."""
    return _PACKED_TYPES if leaves_packed(schema) else output


def unpacked(stepped: DataFrame, schema: pa.Schema, output: StructType) -> DataFrame:
    """The rows of a step in the columns of its view."""
    return stepped.mapInArrow(unpack, output) if leaves_packed(schema) else stepped


def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function for `mapInArrow` over blobs: their rows."""
    for batch in batches:
        for blob in batch.column(PACKED):
            yield from from_ipc(blob.as_buffer()).to_batches()


# Frames


def in_large_parts(parts: Iterator[BatchResult]) -> Iterator[BatchResult]:
    """The output of a batch, merged to parts with at least some results, but for the last part."""
    waiting: BatchResult | None = None
    for part in parts:
        waiting = part if waiting is None else waiting.then(part)
        if sum(map(len, waiting.results)) >= _FEW:
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


class Emitter:
    """Emits the output of one bucket in one micro-batch, which may come in parts."""

    def __init__(self, join: BoundJoin, bucket: Bucket) -> None:
        self._join, self._bucket = join, bucket
        comes_in_parts = join.grouping is None or join.grouping.is_distinct  # other groups come when they end
        is_chain = join.view is View.CHAIN
        self._latest = LatestResults(join.key_types) if is_chain and comes_in_parts else None

    def tables(self, part: BatchResult) -> list[pa.Table]:
        """The tables of the join's view; each has some of its columns, the others are null."""
        groups = self._bucket.groups
        if groups is not None and self._join.view is View.GROUPS:
            return [groups.process(part)]
        if groups is not None:
            part = groups.as_results(part)
        return self._join.views.tables(self._join.view, part, self._bucket.is_primary, self._latest)

    def frames(self, part: BatchResult) -> Iterator[pd.DataFrame]:
        """The tables of a part as frames for Spark."""
        for table in self.tables(part):
            yield from as_frames(table, self._join.schema)

    def last_frames(self) -> Iterator[pd.DataFrame]:
        """The frames that leave after all parts."""
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """There is nothing to release."""


def as_frames(table: pa.Table, schema: pa.Schema) -> Iterator[pd.DataFrame]:
    """A table with all columns of a view, cut into frames."""
    for start in range(0, len(table), _ROWS):
        part = widen(table.slice(start, _ROWS), schema)
        if leaves_packed(schema):
            packed = as_blobs(part)
            yield from (_frame(packed.slice(index, 1)) for index in range(len(packed)))
        else:
            yield from map(_frame, _in_one_piece(part))


def _in_one_piece(table: pa.Table) -> Iterator[pa.Table]:
    """The rows in tables whose columns have one chunk each: PySpark takes no others.

    A table has the chunks that it was made of; combined, only gigabytes of text stay in several chunks.
    """
    return (pa.Table.from_batches([batch]) for batch in table.combine_chunks().to_batches())


def _frame(table: pa.Table) -> pd.DataFrame:
    """A frame on Arrow memory, whose columns PySpark takes as they are."""
    frame: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return frame
