"""The step of a batch query: one micro-batch, then the end of both streams, and no state."""

from collections.abc import Callable

import pyarrow as pa

from punctuated.join.exchange.parcels import read_parcels
from punctuated.join.output.widen import widen
from punctuated.join.state.journal import Journal
from punctuated.model.side import Side
from punctuated.spark.bucket_ids import bucket_ids
from punctuated.spark.bucket_state import Bucket
from punctuated.spark.emit import view_tables
from punctuated.spark.group_step import accumulate
from punctuated.spark.nested import as_blobs, leaves_packed
from punctuated.spark.query import METRICS, Query


def batch_step(query: Query) -> Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]:
    """The function for `applyInArrow`, which looks at the type hints of a plain function."""

    def step(key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        return _join(query, bucket_ids().index(key[0].as_py()), packed)

    return step


def group_batch_step(query: Query) -> Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]:
    """The same for groups behind a join."""

    def step(key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        groups = query.new_groups(query.new_driver(0))
        return _complete([accumulate(groups, packed["data"].to_pylist(), ended=True)], query.output_schema)

    return step


def _join(query: Query, number: int, packed: pa.Table) -> pa.Table:
    """A bucket's blobs in, its rows out."""
    driver = query.new_driver(number)
    groups = query.new_groups(driver) if query.grouping is not None else None
    bucket = Bucket(driver, Journal(), groups, speaks_for_all=number == 0)
    shares: tuple[list[bytes], list[bytes]] = ([], [])
    passed_on: list[bytes] = []
    for row in packed.to_pylist():
        (passed_on if row["rejected"] else shares[row["side"]]).append(row["data"])
    left, right = (read_parcels(query.schemas[side], shares[side]) for side in Side)
    batch = driver.process(left, right).then(driver.end())
    return _complete(view_tables(query, bucket, batch, passed_on), query.output_schema)


def _complete(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """All rows with all columns, as they leave a step, and no metrics."""
    rows = pa.concat_tables([schema.empty_table(), *(widen(table, schema) for table in tables)])
    leaving = as_blobs(rows) if leaves_packed(schema) else rows
    return leaving.append_column(METRICS, pa.nulls(len(leaving), pa.string()))
