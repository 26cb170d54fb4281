"""The step of a batch query: one micro-batch, then the end of all streams, and no state."""

from collections.abc import Callable

import pyarrow as pa

from punctuated.join.exchange.parcels import read_parcels
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.widen import widen
from punctuated.spark.bucket_ids import bucket_ids
from punctuated.spark.bucket_state import new_bucket
from punctuated.spark.emit import Emitter
from punctuated.spark.group_step import gather, group_tables
from punctuated.spark.nested import as_blobs, leaves_packed
from punctuated.spark.pack import sort_blobs
from punctuated.spark.query import Query
from punctuated.spark.rejects import read_rejects

Step = Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]  # for `applyInArrow`, which wants plain functions


def batch_step(query: Query) -> Step:
    """Takes a bucket's blobs and returns its rows."""

    def step(key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        return _join(query, bucket_ids().index(key[0].as_py()), packed)

    return step


def group_batch_step(query: Query) -> Step:
    """The same for groups behind a join."""

    def step(key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        is_first = key[0].as_py() == bucket_ids()[0]
        return _complete(group_tables(query.join, query.join.groups(), gather([packed]), is_first), query.join.schema)

    return step


def _join(query: Query, number: int, packed: pa.Table) -> pa.Table:
    bucket = new_bucket(query, number)
    columns = (packed[name].to_pylist() for name in ("side", "rejected", "data"))
    blobs = sort_blobs(len(query.join.inputs), *columns)
    batches = [read_parcels(schema, ours) for schema, ours in zip(query.join.schemas, blobs.streams, strict=True)]
    whole = BatchResult(rejected=list(read_rejects(blobs.rejected).rows))
    whole = whole.then(bucket.driver.process(*batches)).then(bucket.driver.end())
    return _complete(Emitter(query.join, bucket).tables(whole), query.join.schema)


def _complete(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """All rows with all columns, as they leave a step."""
    rows = pa.concat_tables([schema.empty_table(), *(widen(table, schema) for table in tables)])
    return as_blobs(rows) if leaves_packed(schema) else rows
