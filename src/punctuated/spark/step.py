"""Step: one call per bucket and micro-batch. Restore, join, save what changed, emit.

It is a deterministic function of the stored state and the set of objects, but for the token of the commit.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from punctuated.join.exchange.parcels import batch_time, read_parcels
from punctuated.join.intake.idle import release_idle
from punctuated.join.output.collector import BatchResult
from punctuated.join.warm_up import compile_once
from punctuated.model.counters import per_stream
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.spark.bucket_ids import bucket_ids
from punctuated.spark.bucket_state import Bucket, Head, StateLog
from punctuated.spark.cache import CACHE
from punctuated.spark.emit import as_frames, metrics_frame, view_tables
from punctuated.spark.query import Query
from punctuated.spark.rejects import n_corrupt


class JoinStep(StatefulProcessor):
    """The join of one bucket as Spark sees it."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        compile_once(paired=self._query.spec.algorithm.structures is not None)
        self._log = StateLog(handle)

    def handleInputRows(  # type: ignore[override]  # noqa: N802, names and types are Spark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket."""
        clock = Stopwatch()
        number = bucket_ids().index(int(key[0]))
        head = self._log.head()
        bucket, hit = self._open(number, head)
        clock.stage("restore")
        blobs, passed_on = _sorted(rows)
        left, right = (read_parcels(self._query.schemas[side], blobs[side]) for side in Side)
        now = batch_time([*blobs[LEFT], *blobs[RIGHT]]) if self._query.tells_time else None
        if now is not None:
            left, right = release_idle(bucket.driver, (left, right), now)
        if bucket.driver.shedding is not None:
            bucket.driver.shedding.now_us = now
        if passed_on:
            yield from self._frames(bucket, BatchResult(), passed_on)
            bucket.driver.count_rejected(n_corrupt(passed_on))
        for part in bucket.driver.process_in_parts(left, right):
            clock.stage("join")
            yield from self._frames(bucket, part)
            clock.stage("emit")
        token = os.urandom(16).hex()
        written = self._log.append(bucket, self._query.n_buckets, head, token)
        clock.stage("save")
        said = {"bucket": number, "cache_hits": int(hit), "bytes_written": written, **clock.stages}
        yield metrics_frame(self._query.output_schema, json.dumps(_metrics(bucket) | said))
        CACHE.put((self._query.identity, number), token, bucket)

    def _open(self, number: int, head: Head | None) -> tuple[Bucket, bool]:
        cached = CACHE.take((self._query.identity, number), head.token) if head is not None else None
        return (cached, True) if cached is not None else (self._log.restore(self._query, number, head), False)

    def _frames(self, bucket: Bucket, part: BatchResult, passed_on: Sequence[bytes] = ()) -> Iterator[pd.DataFrame]:
        for table in view_tables(self._query, bucket, part, passed_on):
            yield from as_frames(table, self._query.output_schema)

    def close(self) -> None:
        """Nothing to close: the cache outlives the step."""


def _sorted(rows: Iterator[pd.DataFrame]) -> tuple[tuple[list[bytes], list[bytes]], list[bytes]]:
    """Blobs per side, and those of rejected tuples."""
    blobs: tuple[list[bytes], list[bytes]] = ([], [])
    passed_on: list[bytes] = []
    for frame in rows:
        for side, is_rejected, data in zip(frame["side"], frame["rejected"], frame["data"], strict=True):
            (passed_on if is_rejected else blobs[side]).append(data)
    return blobs, passed_on


def _metrics(bucket: Bucket) -> dict[str, int]:
    driver = bucket.driver
    watermarks = zip(per_stream("watermark"), driver.state.sides["watermark"].tolist(), strict=True)
    return driver.counts() | dict(watermarks) | {"bytes": driver.nbytes}


class Stopwatch:
    """How long the stages of a step took; nothing but metrics depends on it."""

    def __init__(self) -> None:
        self.stages: dict[str, int] = {}
        self._since = time.monotonic_ns()

    def stage(self, name: str) -> None:
        """A stage is over, or a part of it."""
        now = time.monotonic_ns()
        self.stages[f"{name}_us"] = self.stages.get(f"{name}_us", 0) + (now - self._since) // 1_000
        self._since = now
