"""Nested columns leave a step as blobs, which are unpacked after it.

PySpark takes a flat column of a step as it is in Arrow memory. But it walks through a nested column of a pandas frame
value by value, and casts that of an Arrow table; not everything survives this. Blobs of Arrow batches do. Views without
nested columns do not go through `mapInArrow`, which would halve their rate.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, StructField, StructType

from punctuated.join.exchange.bundle import from_ipc, to_ipc

PACKED = "_packed"
_PACKED_TYPES = StructType([StructField(PACKED, BinaryType())])
_LARGEST = 16 << 20  # bytes of a blob, approximately


def leaves_packed(schema: pa.Schema) -> bool:
    """Whether rows of a view leave the step as blobs."""
    return any(pa.types.is_nested(field.type) for field in schema)


def as_blobs(table: pa.Table) -> pa.Table:
    """A column of blobs of moderate size that hold the rows."""
    n_rows = max(1, len(table) * _LARGEST // max(1, table.nbytes))
    blobs = [to_ipc(table.slice(start, n_rows)).to_pybytes() for start in range(0, len(table), n_rows)]
    return pa.table([pa.array(blobs, pa.binary())], names=[PACKED])


def leaving_schema(schema: pa.Schema) -> pa.Schema:
    """What leaves a step for a view with these columns, as Arrow types."""
    return pa.schema([(PACKED, pa.binary())]) if leaves_packed(schema) else schema


def step_schema(schema: pa.Schema, output: StructType) -> StructType:
    """What leaves a step for a view with these columns, as Arrow and as Spark types."""
    return _PACKED_TYPES if leaves_packed(schema) else output


def unpacked(stepped: DataFrame, schema: pa.Schema, output: StructType) -> DataFrame:
    """The rows of a step in the columns of its view."""
    return stepped.mapInArrow(unpack, output) if leaves_packed(schema) else stepped


def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The function for `mapInArrow`."""
    for batch in batches:
        for blob in batch.column(PACKED):
            yield from from_ipc(blob.as_buffer()).to_batches()
