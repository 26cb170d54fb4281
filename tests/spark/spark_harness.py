"""Runs the pieces of a join on Spark: pack and step as functions, on a state store in memory; queries over files.

Everything is observed through the view ALL, in the oracle's terms.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import TimerValues
from pyspark.sql.streaming.tws_tester import TwsTester

from punctuated.bind.bound_join import BoundJoin
from punctuated.intake.reading import Reader
from punctuated.model.batch import Row
from punctuated.model.pattern import WILDCARD
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, JoinType, Side, StreamSpec
from punctuated.model.window import CountWindow
from punctuated.output.groups.grouping import Grouping
from punctuated.output.views import View
from punctuated.spark.metrics.reading import buckets_in
from punctuated.spark.metrics.reports import REPORT_COLUMN
from punctuated.spark.pack.bucket_ids import bucket_ids
from punctuated.spark.pack.pack import PACKED, Pack
from punctuated.spark.session.query import Query
from punctuated.spark.state.bucket import Bucket, StateLog
from punctuated.spark.state.cache import CACHE
from punctuated.spark.step.step import JoinStep
from punctuated.testing import reference
from punctuated.testing.checks import COUNTED, Observed, extent
from punctuated.testing.strategies import Batch, Case, Object
from punctuated.testing.tables import stream_schema

PATTERN = "pattern"


Output = list[dict[str, Any]]
Saved = list[tuple[int, tuple[Any, ...] | None, dict[str, dict[Any, Any]]]]  # bucket id, head, maps


def is_spreadable(case: Case) -> bool:
    """A window over the last tuples of a whole stream needs one bucket, and so does a count of endings to be exact."""
    windows = [stream.window for stream in case.spec.streams]
    whole = any(isinstance(window, CountWindow) and not window.per_key for window in windows)
    return not whole and case.spec.purge_threshold == 1


# Input: rows that are tuples or carry a pattern, and a separate table of endings


def in_band_schema(stream: StreamSpec) -> pa.Schema:
    return stream_schema(stream).append(pa.field(PATTERN, pa.string()))


def in_band_table(stream: StreamSpec, objects: Sequence[Object]) -> pa.Table:
    """Tuples and in-band punctuations, as a user would send them."""
    schema, types = in_band_schema(stream), stream_schema(stream).types
    rows: list[dict[str, Any]] = []
    for each in objects:
        if isinstance(each, Row):
            rows.append(dict(zip(stream.columns, each.values, strict=True)))
        elif each.in_band:
            rows.append({stream.time: each.ts, PATTERN: print_patterns(each.patterns, types)})
    return pa.Table.from_pylist(rows, schema=schema)


def endings_table(stream: StreamSpec, objects: Sequence[Object]) -> pa.Table:
    """Endings that are announced from outside; in the strategies they name one value."""
    said = [each for each in objects if isinstance(each, Punctuation) and not each.in_band]
    keys = [parsed.value for each in said for parsed in each.patterns[:1]]  # type: ignore[union-attr]
    return pa.table([keys, [each.ts for each in said]], schema=pa.schema([("key", pa.int64()), ("at", pa.int64())]))


def ends(spec: JoinSpec, batches: Sequence[Batch]) -> Batch:
    """The end of both streams, as the oracle dates it."""
    oracle = reference.Reference(spec)
    for batch in batches:
        oracle.process(*batch)
    newest = [stream.newest for stream in oracle.streams]
    left, right = (
        [Punctuation(_first_known(newest[side], newest[side.other]), (WILDCARD,) * len(spec.streams[side].columns))]
        for side in Side
    )
    return list(left), list(right)


def _first_known(*times: int | None) -> int:
    return next((ts for ts in times if ts is not None), 0)


# Pack and step without Spark


def make_query(
    spec: JoinSpec, n_buckets: int, view: View = View.ALL, grouping: Grouping | None = None, key: pa.DataType = None
) -> Query:
    """What `pt.join` would build for the strategies' streams."""
    left, right = (Reader(stream, PATTERN, stream_schema(stream), (key or pa.int64(),)) for stream in spec.streams)
    return Query(BoundJoin(spec, (left, right), None, n_buckets, view, grouping))


def pack(
    query: Query, side: int, objects: Sequence[Object], random: Random | None = None, batch_us: int | None = None
) -> pa.Table:
    """What one stream sends to the exchange; with `random`, from several tasks; with `batch_us`, at Spark's time."""
    stream, n = query.join.spec.streams[side], query.join.n_buckets
    parts = [list(objects)] if random is None else _dealt(objects, random)
    packed = []
    for part in parts:
        rows, announced = in_band_table(stream, part), endings_table(stream, part)
        if batch_us is not None:
            rows = rows.append_column("", pa.array([batch_us] * len(rows), pa.int64()))
        stamped = Pack(side, query.join.inputs[side], n, stamped=batch_us is not None)
        packed += list(stamped(iter(rows.to_batches())))
        outside = Pack(side, query.join.inputs[side], n, announced=(("key",), "at"))
        packed += list(outside(iter(announced.to_batches())))
    return pa.Table.from_batches(packed, schema=PACKED)


def _dealt(objects: Sequence[Object], random: Random) -> list[list[Object]]:
    parts: list[list[Object]] = [[] for _ in range(random.randint(1, 3))]
    for each in objects:
        random.choice(parts).append(each)
    return parts


class Steps:
    """The step of every bucket on a state store in memory, PySpark's own tester."""

    def __init__(self, query: Query) -> None:
        self.query = replace(query, reports=None)  # there is no driver: buckets report in the output
        self._tester = TwsTester(JoinStep(self.query))

    def run(self, packed: pa.Table) -> Output:
        """One micro-batch: the rows that all buckets put out, metrics among them."""
        return [row for bucket, frame in self._frames(packed) for row in self._rows(self.attempt(bucket, frame))]

    def abandon(self, packed: pa.Table, after: int) -> list[Iterator[pd.DataFrame]]:
        """An attempt that stops in each bucket after so many frames; what it was about to do is returned."""
        attempts = [self.attempt(bucket, frame) for bucket, frame in self._frames(packed)]
        for (bucket, _), attempt in zip(self._frames(packed), attempts, strict=True):
            self._tester.handle.setGroupingKey(bucket)
            for _ in range(after):
                next(attempt, None)
        return attempts

    def attempt(self, bucket: int, frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
        """The frames of one bucket; nothing happens before the first is asked for."""
        self._tester.handle.setGroupingKey(bucket)
        step: JoinStep = self._tester.processor  # type: ignore[assignment]
        return step.handleInputRows((bucket,), iter([frame]), TimerValues(-1, -1))

    def _frames(self, packed: pa.Table) -> list[tuple[int, pd.DataFrame]]:
        frame = packed.to_pandas()
        return [(int(bucket), part) for bucket, part in frame.groupby("bucket")] if len(frame) else []

    def _rows(self, frames: Iterable[pd.DataFrame]) -> Output:
        whole = pa.schema([*self.query.join.schema, (REPORT_COLUMN, pa.string())])
        tables = [pa.Table.from_pandas(frame, schema=whole, preserve_index=False) for frame in frames]
        return list(pa.concat_tables([whole.empty_table(), *tables]).to_pylist())

    @property
    def ids(self) -> tuple[int, ...]:
        return bucket_ids()[: self.query.join.n_buckets]

    @property
    def maps(self) -> list[str]:
        """What the state store holds of a bucket beside its head."""
        return ["entries", "tables"] if self.query.join.spec.may_spill else ["entries"]

    def save(self) -> Saved:
        """Everything in the state store."""
        tester = self._tester
        return [
            (each, tester.peekValueState("head", each), {name: tester.peekMapState(name, each) for name in self.maps})
            for each in self.ids
        ]

    def load(self, saved: Saved) -> None:
        """Bring the state store back to where it was."""
        for bucket, head, maps in saved:
            self._tester.deleteState("head", bucket)
            if head is not None:
                self._tester.updateValueState("head", bucket, head)
            for name, content in maps.items():
                self._tester.updateMapState(name, bucket, content)

    def _log(self, number: int) -> StateLog:
        self._tester.handle.setGroupingKey(bucket_ids()[number])
        return StateLog(self._tester.handle, may_spill=self.query.join.spec.may_spill)

    def restored(self, number: int) -> Bucket:
        """A bucket as the state store has it."""
        log = self._log(number)
        return log.restore(self.query, number, log.head())

    def token(self, number: int) -> str | None:
        head = self._log(number).head()
        return None if head is None else head.token

    def entries(self, number: int) -> dict[int, int]:
        """Numbers and sizes of a bucket's entries."""
        found = self._tester.peekMapState("entries", bucket_ids()[number])
        return {key[0]: len(value[0]) for key, value in found.items()}


def pack_batch(query: Query, batch: Batch, random: Random | None = None, batch_us: int | None = None) -> pa.Table:
    """A batch of both streams at the exchange; with `random`, from several tasks and in any order."""
    packed = pa.concat_tables([pack(query, side, batch[side], random, batch_us) for side in Side])
    if random is None:
        return packed
    order = list(range(len(packed)))
    random.shuffle(order)
    return packed.take(pa.array(order, pa.int64()))


def clear_cache() -> None:
    """As if all workers were new."""
    for key in list(CACHE._kept):
        CACHE.take(key, "none of these")


# Output, in the oracle's terms


@dataclass
class Metrics:
    """What the buckets say about their states, kept from batch to batch: a batch without objects runs no step."""

    by_bucket: dict[int, dict[str, int]] = field(default_factory=dict)

    def note(self, texts: Iterable[str | None]) -> None:
        for text in texts:
            if text is not None:
                said = json.loads(text)
                self.by_bucket[said["bucket"]] = said

    def total(self, name: str) -> int:
        return sum(said[name] for said in self.by_bucket.values())


def observe(spec: JoinSpec, rows: Iterable[dict[str, Any]], metrics: Metrics | None = None) -> Observed:
    """The rows of a view ALL as multisets."""
    seen = Observed()
    for row in rows:
        if row["_kind"] == "result":
            _count_result(seen, spec, row)
        elif row["_kind"] == "punctuation":
            patterns = parse_punctuation(row["_pattern"], [pa.int64()])
            key, covered = (None, extent(patterns)) if row["k"] is None else ((row["k"],), None)
            seen.punctuations[key, covered, row["_ts"], row["_reason"]] += 1
        elif row["_kind"] == "rejected":
            is_left, values = row["_stream"] == spec.left.name, tuple(json.loads(row["_row"]).values())
            seen.rejected[is_left, values, row["_reason"]] += 1
    if metrics is not None:
        seen.stored = metrics.total("state_left"), metrics.total("state_right")
        seen.forgotten = metrics.total("punctuations_forgotten")
        for name in COUNTED:
            setattr(seen, name, metrics.total(name))
    return seen


def _count_result(seen: Observed, spec: JoinSpec, row: dict[str, Any]) -> None:
    one_sided = spec.how in (JoinType.SEMI, JoinType.ANTI)
    left = _tuple(spec.left, row, "" if one_sided else "_left")
    right = None if one_sided else _tuple(spec.right, row, "_right")
    if spec.how is JoinType.SEMI or (left is not None and right is not None):
        seen.results[left, right, row["_ts"]] += 1
    else:
        seen.unmatched[left is not None, left if left is not None else right, row["_ts"]] += 1


def _tuple(stream: StreamSpec, row: dict[str, Any], suffix: str) -> tuple[Any, ...] | None:
    """A side of a result; it is absent if its time is null."""
    if row[f"ts{suffix}"] is None:
        return None
    return tuple(row[f"{name}{suffix}" if f"{name}{suffix}" in row else name] for name in stream.columns)


# Queries over files


def read_files(spark: SparkSession, folder: Path, schema: pa.Schema, streaming: bool) -> DataFrame:
    """The files at once, or one per micro-batch."""
    reader = (
        spark.readStream.option("maxFilesPerTrigger", 1).option("latestFirst", "false") if streaming else spark.read
    )
    return reader.schema(from_arrow_schema(schema)).parquet(str(folder))


class Running:
    """A streaming query over all that is there; what each micro-batch brings is kept by its number."""

    def __init__(self, frame: DataFrame, checkpoint: Path) -> None:
        self._batches: dict[int, pa.Table] = {}
        writer = frame.writeStream.foreachBatch(self._keep).option("checkpointLocation", str(checkpoint))
        self._query = writer.trigger(availableNow=True).start()

    def _keep(self, batch: DataFrame, batch_id: int) -> None:
        self._batches[batch_id] = batch.toArrow()

    @property
    def is_active(self) -> bool:
        return bool(self._query.isActive)

    @property
    def batches(self) -> list[pa.Table]:
        """The batches, once all are there."""
        self._query.awaitTermination()
        assert list(self._batches) == list(range(len(self._batches)))
        return list(self._batches.values())

    @property
    def table(self) -> pa.Table:
        """All batches together."""
        return pa.concat_tables(self.batches)

    @property
    def metrics(self) -> list[list[str]]:
        """For each batch, what the buckets say."""
        self._query.awaitTermination()
        said = [buckets_in(progress).get("", []) for progress in self._query.recentProgress]
        return [[json.dumps(bucket) for bucket in buckets] for buckets in said]
