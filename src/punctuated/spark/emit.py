"""What leaves a step: tables of a view as pandas frames on Arrow memory, which Spark takes without conversion."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from punctuated.join.output.chain import chain_tables
from punctuated.join.output.collector import BatchResult
from punctuated.join.output.widen import widen
from punctuated.model.times import from_known_microseconds, from_microseconds
from punctuated.spark.bucket_state import Bucket
from punctuated.spark.nested import PACKED, as_blobs, leaves_packed
from punctuated.spark.query import METRICS, Query, View
from punctuated.spark.rejects import read_rejects

_ROWS = 1 << 17  # per frame: small enough for the caches of a processor


def view_tables(query: Query, bucket: Bucket, batch: BatchResult, passed_on: Sequence[bytes] = ()) -> list[pa.Table]:
    """The tables of the query's view; each has some of its columns, the others are null.

    `passed_on` are blobs of rows that were rejected before they came here.
    """
    if query.view is View.GROUPS:
        assert bucket.groups is not None
        return [bucket.groups.process(batch)]
    if query.view is View.RESULTS:
        return batch.results
    everything_rejected = [*batch.rejected, *read_rejects(passed_on)]
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
    return table.set_column(place, "ts", from_known_microseconds(table.column(place), query.time_type))


def _result(query: Query, table: pa.Table, ts: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> pa.Table:
    times = from_microseconds(ts, query.time_type)
    return _labelled("result", table.append_column("_ts", times), [*table.column_names, "_ts"])


def _labelled(kind: str, table: pa.Table, names: Sequence[str]) -> pa.Table:
    kinds = pa.array([kind]).take(pa.array(np.zeros(len(table), np.int8)))
    return table.rename_columns(list(names)).append_column("_kind", kinds)


def as_frames(table: pa.Table, schema: pa.Schema) -> Iterator[pd.DataFrame]:
    """A table with all columns of a view, cut into frames."""
    for start in range(0, len(table), _ROWS):
        part = widen(table.slice(start, _ROWS), schema)
        if leaves_packed(schema):
            packed = as_blobs(part)
            yield from (_frame(packed.slice(place, 1)) for place in range(len(packed)))
        else:
            yield _frame(part)


def metrics_frame(schema: pa.Schema, metrics: str) -> pd.DataFrame:
    """A row that carries metrics and nothing else."""
    columns = pa.schema([(PACKED, pa.binary())]) if leaves_packed(schema) else schema
    nothing = pa.table([pa.nulls(1, field.type) for field in columns], schema=columns)
    return _frame(nothing, pa.array([metrics]))


def _frame(table: pa.Table, metrics: pa.Array | None = None) -> pd.DataFrame:
    """On Arrow memory: PySpark takes such columns as they are."""
    measured = pa.nulls(len(table), pa.string()) if metrics is None else metrics
    frame: pd.DataFrame = table.append_column(METRICS, measured).to_pandas(types_mapper=pd.ArrowDtype)
    return frame
