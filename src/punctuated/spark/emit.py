"""What leaves a step: tables of a view as pandas frames on Arrow memory, which Spark takes without conversion."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.chain import chain_tables
from punctuated.join.output import REJECTED_SCHEMA, BatchResult
from punctuated.model.times import from_microseconds
from punctuated.spark.bucket_state import Bucket
from punctuated.spark.query import METRICS, Query, View

_ROWS = 1 << 20  # per frame


def view_tables(query: Query, bucket: Bucket, batch: BatchResult, passed_on: Sequence[bytes] = ()) -> list[pa.Table]:
    """The tables of the query's view; each has some of its columns, the others are null.

    `passed_on` are tuples that were rejected before they came here.
    """
    if query.view is View.GROUPS:
        assert bucket.groups is not None
        return [bucket.groups.process(batch)]
    if query.view is View.RESULTS:
        return batch.results
    everything_rejected = [*batch.rejected, *_passed_on(passed_on)]
    key = query.spec.left.key
    if query.view is View.CHAIN:
        return chain_tables(query.output_schema, key, batch, everything_rejected, bucket.speaks_for_all)
    punctuations = [_with_time(query, table, table.num_columns - 3) for table in batch.punctuations]
    rejected = [_with_time(query, table, 2) for table in everything_rejected]
    if query.view is View.PUNCTUATIONS:
        return punctuations
    if query.view is View.REJECTED:
        return rejected
    said = [*key, "_ts", "_reason", "_pattern"]
    return [
        *(_result(query, table, ts) for table, ts in zip(batch.results, batch.result_ts, strict=True)),
        *(_labelled("punctuation", table, said) for table in punctuations),
        *(_labelled("rejected", table, ["_stream", "_reason", "_ts", "_row"]) for table in rejected),
    ]


def _with_time(query: Query, table: pa.Table, place: int) -> pa.Table:
    return table.set_column(place, "ts", _times(query, table.column(place)))


def _times(query: Query, column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    known = array.fill_null(0)
    times = from_microseconds(np.asarray(known), query.time_type)
    return pc.if_else(array.is_valid(), times, pa.scalar(None, query.time_type)) if array.null_count else times


def _passed_on(blobs: Sequence[bytes]) -> list[pa.Table]:
    rows = [dict(zip(REJECTED_SCHEMA.names, row, strict=True)) for data in blobs for row in json.loads(data)]
    return [pa.Table.from_pylist(rows, schema=REJECTED_SCHEMA)] if rows else []


def _result(query: Query, table: pa.Table, ts: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> pa.Table:
    times = from_microseconds(ts, query.time_type)
    return _labelled("result", table.append_column("_ts", times), [*table.column_names, "_ts"])


def _labelled(kind: str, table: pa.Table, names: Sequence[str]) -> pa.Table:
    kinds = pa.array([kind]).take(pa.array(np.zeros(len(table), np.int8)))
    return table.rename_columns(list(names)).append_column("_kind", kinds)


def as_frames(table: pa.Table, schema: pa.Schema) -> Iterator[pd.DataFrame]:
    """A table with all columns of a view, cut into frames."""
    for start in range(0, len(table), _ROWS):
        part = table.slice(start, _ROWS)
        columns = {
            field.name: part[field.name] if field.name in part.column_names else pa.nulls(len(part), field.type)
            for field in schema
        }
        yield _frame(columns | {METRICS: pa.nulls(len(part), pa.string())})


def metrics_frame(schema: pa.Schema, metrics: str) -> pd.DataFrame:
    """A row that carries metrics and nothing else."""
    columns = {field.name: pa.nulls(1, field.type) for field in schema}
    return _frame(columns | {METRICS: pa.array([metrics])})


def _frame(columns: dict[str, pa.Array | pa.ChunkedArray]) -> pd.DataFrame:
    frame: pd.DataFrame = pa.table(columns).to_pandas(types_mapper=_column_type)
    return frame


def _column_type(dtype: pa.DataType) -> pd.ArrowDtype | None:
    """Arrow memory; but PySpark walks through nested values one by one, and does not know pandas' own null."""
    return None if pa.types.is_nested(dtype) else pd.ArrowDtype(dtype)
