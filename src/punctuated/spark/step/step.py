"""Step: one call per bucket and micro-batch. It restores the bucket, joins, emits, and saves what has changed.

It is a deterministic function of the stored state and the set of objects, except for the random token of the commit,
by which a worker recognises the state that it has in memory (see `state.bucket`).
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from punctuated.arrow.rows import widen
from punctuated.exchange.parcels import batch_time, read_parcels, rows_brought
from punctuated.model.counters import per_stream
from punctuated.output.batch_result import BatchResult
from punctuated.runtime.kernel_groups import kernels_of
from punctuated.spark.metrics.reports import report, report_frame, with_empty_reports
from punctuated.spark.pack.bucket_ids import bucket_ids
from punctuated.spark.pack.pack import Blobs, sort_blobs, unpack_rejected
from punctuated.spark.session.query import Query
from punctuated.spark.session.task import current_stage, prefetched
from punctuated.spark.state.bucket import Bucket, Head, StateLog, new_bucket
from punctuated.spark.state.cache import CACHE, prepare_worker
from punctuated.spark.step.emit import Emitter, as_blobs, in_large_parts, leaves_packed, leaving_schema
from punctuated.spark.step.groups import gather, group_tables
from punctuated.spark.step.writers import emitter_of

Step = Callable[[tuple[pa.Scalar, ...], pa.Table], pa.Table]  # for `applyInArrow`, which wants plain functions


class JoinStep(StatefulProcessor):
    """Spark's stateful processor for the join of one bucket."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state to Spark."""
        self._log = StateLog(handle, may_spill=self._query.join.spec.may_spill)

    def handleInputRows(  # type: ignore[override]  # noqa: N802, names and types are Spark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket.

        Kernels are loaded here and not in `init`: Spark also calls `init` while it plans, and would wait for them.
        """
        stopwatch, join = Stopwatch(), self._query.join
        prepare_worker(kernels_of(join.spec, join.grouping))
        number = bucket_ids().index(int(key[0]))  # ids are not numbers, so that partitions are loaded evenly
        head = self._log.head()
        bucket, hit = self._open(number, head)
        stopwatch.end_stage("restore")
        blobs = _sorted(rows, len(join.inputs))
        yield from self._joined(bucket, number, blobs, stopwatch)
        token = os.urandom(16).hex()
        written = self._log.append(bucket, join.n_buckets, head, token)
        stopwatch.end_stage("save")
        streams = [stream.name for stream in join.spec.streams]
        work = {
            "bucket": number,
            "streams": streams,
            "cache_hits": int(hit),
            "bytes_written": written,
            **stopwatch.stages,
        }
        if number == 0:  # every bucket knows how many rows the batch has brought; one reports it
            work["input_rows"] = rows_brought(blobs.parcels)
        yield from self._report(number, json.dumps(_metrics(bucket) | work))
        CACHE.put((self._query.identity, number), token, bucket, current_stage(), arrived=not hit)

    def _joined(self, bucket: Bucket, number: int, blobs: Blobs, stopwatch: "Stopwatch") -> Iterator[pd.DataFrame]:
        """All frames that leave the step for the objects in these blobs."""
        join, driver = self._query.join, bucket.driver
        batches = [read_parcels(schema, ours) for schema, ours in zip(join.schemas, blobs.streams, strict=True)]
        now_us = batch_time(blobs.parcels) if join.needs_batch_time else None
        rejected = unpack_rejected(blobs.rejected)
        for side in join.spec.sides:
            driver.count_corrupt(side, rejected.n_corrupt[join.spec.streams[side].name])
        with emitter_of(self._query, bucket, number) as emitter:
            yield from self._leaving(emitter.frames(BatchResult(rejected=list(rejected.rows))))
            for part in in_large_parts(prefetched(driver.process_in_parts(*batches, now_us=now_us))):
                stopwatch.end_stage("join")
                yield from self._leaving(emitter.frames(part))
                stopwatch.end_stage("emit")
            if blobs.ended:
                yield from self._leaving(emitter.frames(driver.end()))
                stopwatch.end_stage("join")
            yield from self._leaving(emitter.last_frames())
            stopwatch.end_stage("emit")

    def _leaving(self, frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """The frames with an empty column of reports, where reports leave in the output."""
        return frames if self._query.reports is not None else with_empty_reports(frames)

    def _report(self, number: int, text: str) -> Iterator[pd.DataFrame]:
        """Report by Spark's accumulator, or with Spark Connect, which has none, by a row of the output."""
        if self._query.reports is not None:
            report(self._query.reports, self._query.report_name, number, text)
        else:
            yield report_frame(leaving_schema(self._query.join.schema), text)

    def _open(self, number: int, head: Head | None) -> tuple[Bucket, bool]:
        """The bucket from the cache if it was made for this query, else from the log, which refuses other queries."""
        cached = CACHE.take((self._query.identity, number), head.token) if head is not None else None
        if cached is not None and cached.purpose == self._query.purpose:
            self._log.reopen(cached)
            return cached, True
        return self._log.restore(self._query, number, head), False

    def close(self) -> None:
        """Spark's interface; there is nothing to close, because the cache outlives the step."""


def _sorted(rows: Iterator[pd.DataFrame], n_streams: int) -> Blobs:
    frames = list(rows)
    columns = [[value for frame in frames for value in frame[name]] for name in ("side", "rejected", "data")]
    return sort_blobs(n_streams, *columns)


def _metrics(bucket: Bucket) -> dict[str, int]:
    driver = bucket.driver
    names = per_stream("watermark", driver.state.n_streams)
    watermarks = zip(names, driver.state.sides["watermark"].tolist(), strict=True)
    return driver.counts() | dict(watermarks) | {"bytes": driver.nbytes}


class Stopwatch:
    """Measures how long the stages of a step take; only metrics depend on it."""

    def __init__(self) -> None:
        self.stages: dict[str, int] = {}
        self._since = time.monotonic_ns()

    def end_stage(self, name: str) -> None:
        """Count the time since the last call for this stage, which may end several times."""
        now = time.monotonic_ns()
        self.stages[f"{name}_us"] = self.stages.get(f"{name}_us", 0) + (now - self._since) // 1_000
        self._since = now


# Batch queries: one micro-batch, then the end of all streams, and no state


def batch_step(query: Query) -> Step:
    """The function for `applyInArrow` that joins the blobs of a bucket."""

    def step(key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        return _join(query, bucket_ids().index(key[0].as_py()), packed)

    return step


def group_batch_step(query: Query) -> Step:
    """The function for `applyInArrow` that makes the groups of a bucket behind a join."""

    def step(key: tuple[pa.Scalar, ...], packed: pa.Table) -> pa.Table:
        is_first = key[0].as_py() == bucket_ids()[0]
        return _complete(group_tables(query.join, query.join.groups(), gather([packed]), is_first), query.join.schema)

    return step


def _join(query: Query, number: int, packed: pa.Table) -> pa.Table:
    bucket = new_bucket(query, number)
    columns = (packed[name].to_pylist() for name in ("side", "rejected", "data"))
    blobs = sort_blobs(len(query.join.inputs), *columns)
    batches = [read_parcels(schema, ours) for schema, ours in zip(query.join.schemas, blobs.streams, strict=True)]
    whole = BatchResult(rejected=list(unpack_rejected(blobs.rejected).rows))
    whole = whole.then(bucket.driver.process(*batches)).then(bucket.driver.end())
    return _complete(Emitter(query.join, bucket).tables(whole), query.join.schema)


def _complete(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """The rows of all tables with all columns, as they leave a step."""
    rows = pa.concat_tables([schema.empty_table(), *(widen(table, schema) for table in tables)])
    return as_blobs(rows) if leaves_packed(schema) else rows
