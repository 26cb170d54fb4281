"""The step of a batch query: one micro-batch, then the end of both streams, and no state."""

import pyarrow as pa

from punctuated.join.journal import Journal
from punctuated.join.shares import read_shares
from punctuated.model.side import Side
from punctuated.spark.bucket_ids import bucket_ids
from punctuated.spark.bucket_state import Bucket
from punctuated.spark.emit import view_tables
from punctuated.spark.query import METRICS, Query


class BatchStep:
    """The function for `applyInArrow`: a bucket's blobs in, its rows out."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def __call__(self, key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        query = self._query
        driver = query.new_driver(bucket_ids().index(key[0].as_py()))
        bucket = Bucket(driver, Journal(), query.new_groups(driver) if query.grouping is not None else None)
        shares: tuple[list[bytes], list[bytes]] = ([], [])
        corrupt: list[tuple[Side, bytes]] = []
        for row in packed.to_pylist():
            if row["corrupt"]:
                corrupt.append((Side(row["side"]), row["data"]))
            else:
                shares[row["side"]].append(row["data"])
        left, right = (read_shares(query.schemas[side], shares[side]) for side in Side)
        tables = view_tables(query, bucket, driver.process(left, right), corrupt)
        tables += view_tables(query, bucket, driver.end())
        return _complete(tables, query.output_schema)


def _complete(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """All rows with all columns, and no metrics."""
    whole = pa.schema([*schema, (METRICS, pa.string())])
    parts = [
        pa.table([t[f.name] if f.name in t.column_names else pa.nulls(len(t), f.type) for f in whole], schema=whole)
        for t in tables
    ]
    return pa.concat_tables([whole.empty_table(), *parts])
