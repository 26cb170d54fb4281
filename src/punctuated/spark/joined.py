"""A join over Spark DataFrames: pack, exchange, step."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, collect_list, current_timestamp, unix_micros
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructField, StructType

from punctuated.errors import AggregateError, ColumnError, LateGroupsWarning, PredicateError, StreamError
from punctuated.join.output.chain import TEXTS, TIME
from punctuated.join.output.columns import ResultColumns
from punctuated.join.output.grouping import check_grouping
from punctuated.join.tactics.range_predicate import split_predicate
from punctuated.model.aggregate import Aggregate
from punctuated.model.side import LEFT, Side
from punctuated.model.spec import JoinSpec, JoinType
from punctuated.model.window import CountWindow
from punctuated.plan.explain import explain
from punctuated.plan.optimizer import describe_candidates
from punctuated.spark.batch_step import batch_step, group_batch_step
from punctuated.spark.bucket_ids import MOST_BUCKETS
from punctuated.spark.collations import refuse_collations
from punctuated.spark.group_step import PACKED_DDL as GROUPS_DDL
from punctuated.spark.group_step import GroupStep, PackGroups
from punctuated.spark.names import map_in_arrow, quoted
from punctuated.spark.nested import step_schema, unpacked
from punctuated.spark.pack import BATCH_US, PACKED_DDL, Pack
from punctuated.spark.query import METRICS, Grouping, Query, View
from punctuated.spark.session import check_session, shuffle_partitions
from punctuated.spark.sinks import Sink, Trigger, write_to
from punctuated.spark.step import JoinStep
from punctuated.spark.types import spark_schema


@dataclass(frozen=True)
class Input:
    """One side: its DataFrame, and the DataFrames that announce its endings with their key and time columns."""

    frame: DataFrame
    endings: tuple[tuple[DataFrame, tuple[str, ...], str], ...] = ()


class SparkJoin:
    """What comes out of joining two DataFrames. Each property is a DataFrame of its own.

    Two queries on two of them run the join twice; `all` in one query with `foreachBatch` runs it once, and
    `write_to` does that for you.
    """

    def __init__(self, inputs: tuple[Input, Input], query: Query) -> None:
        self._inputs, self._query = inputs, query
        self._streaming = _is_streaming(inputs)
        taken = {METRICS, TIME, *TEXTS} & set(query.result_schema.names)
        if taken:
            raise ColumnError(f"the column name {min(taken)!r} is taken; rename it in its input")
        for column in query.where.columns() if query.where is not None else ():
            refuse_collations(inputs[column.side].frame.schema, [column.name], "where=: the column", PredicateError)
        if self._streaming:
            check_session(inputs[LEFT].frame.sparkSession)

    @property
    def results(self) -> DataFrame:
        """The joined rows: key, left columns, right columns."""
        return self._view(View.RESULTS)

    @property
    def punctuations(self) -> DataFrame:
        """Values that are over in the output: key columns, `ts`, `reason`, and `pattern`, which also tells ranges."""
        return self._view(View.PUNCTUATIONS)

    @property
    def rejected(self) -> DataFrame:
        """Tuples that did not take part: `stream`, `reason`, `ts`, and the `row` as JSON."""
        return self._view(View.REJECTED)

    @property
    def all(self) -> DataFrame:
        """Everything in one DataFrame; `_kind` says result, punctuation or rejected."""
        return self._view(View.ALL)

    def write_to(
        self,
        *,
        results: Sink | None = None,
        punctuations: Sink | None = None,
        rejected: Sink | None = None,
        checkpoint: str,
        trigger: Trigger | None = None,
        name: str | None = None,
    ) -> StreamingQuery:
        """Start one query that writes each part of the output to its own sink; see `sinks.write_to`."""
        sinks = {"results": results, "punctuations": punctuations, "rejected": rejected}
        return write_to(self, **sinks, checkpoint=checkpoint, trigger=trigger, name=name)

    def explain(self) -> str:
        """The plan, and where it runs."""
        query = self._query
        where = None if query.where is None else repr(query.where)
        ranged, _ = split_predicate(query.where, query.schemas)
        plan = explain(query.spec, None, where, describe_candidates(query.spec, ranged, None))
        everywhere = query.spec.everywhere
        copied = "" if everywhere is None else f", every tuple of {query.spec.streams[everywhere].name} in each"
        return f"{plan}\nbuckets: {query.n_buckets}{copied}"

    def group_by(self, *columns: str) -> "SparkGrouping":
        """Group the results; each group comes out once, when it is final."""
        return SparkGrouping(self, columns)

    def grouped(self, grouping: Grouping) -> DataFrame:
        """Groups, computed in the step of the join."""
        return self._view(View.GROUPS, grouping)

    def chain_source(self) -> DataFrame:
        """All that the join says, for another join."""
        return self._view(View.CHAIN)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results, as Arrow types."""
        return self._query.result_schema

    @property
    def time_type(self) -> pa.DataType:
        """The type of result times."""
        return self._query.time_type

    @property
    def spec(self) -> JoinSpec:
        """What was asked for, normalised."""
        return self._query.spec

    def grouped_apart(self, grouping: Grouping) -> DataFrame:
        """Groups, computed in a step of their own behind the join."""
        query = replace(self._query, view=View.GROUPS, grouping=grouping)
        pack = PackGroups(grouping.by, tuple(query.result_schema.names), query.n_buckets)
        output = spark_schema(query.output_schema, self._known_fields(query))
        by_bucket = map_in_arrow(self.chain_source(), pack, GROUPS_DDL).groupBy("bucket")
        emitted = step_schema(query.output_schema, output)
        if self._streaming:
            grouped = by_bucket.transformWithStateInPandas(GroupStep(query), emitted, "append", "None")
        else:
            grouped = by_bucket.applyInArrow(group_batch_step(query), emitted)
        return unpacked(grouped.drop(METRICS), query.output_schema, output)

    @property
    def query(self) -> Query:
        """What the workers are told."""
        return self._query

    def _view(self, view: View, grouping: Grouping | None = None) -> DataFrame:
        query = replace(self._query, view=view, grouping=grouping)
        output = spark_schema(query.output_schema, self._known_fields(query))
        by_bucket = self.packed().groupBy("bucket")
        emitted = step_schema(query.output_schema, output)
        if self._streaming:
            stepped = by_bucket.transformWithStateInPandas(JoinStep(query), emitted, "append", "None")
            streams = f"{query.spec.left.name} {query.spec.right.name}"
            rows = observed(stepped, "punctuated" if view is not View.CHAIN else f"punctuated {streams}")
        else:
            rows = by_bucket.applyInArrow(batch_step(query), emitted).drop(METRICS)
        return unpacked(rows, query.output_schema, output)

    def packed(self) -> DataFrame:
        """Both streams as blobs per bucket."""
        return reduce(DataFrame.unionAll, self._packed)

    @cached_property
    def _packed(self) -> list[DataFrame]:
        frames = []
        for side in Side:
            reader, n = self._query.readers[side], self._query.n_buckets
            frame = self._inputs[side].frame
            columns = [*reader.schema.names, *([reader.pattern_column] if reader.pattern_column else [])]
            rows = self._stamped(frame if reader.stream.is_output else frame.select(*map(quoted, columns)))
            everywhere = self._query.spec.everywhere == side
            frames.append(map_in_arrow(rows, Pack(side, reader, n, everywhere=everywhere), PACKED_DDL))
            for frame, key, time in self._inputs[side].endings:
                pack = Pack(side, reader, n, announced=(key, time))
                frames.append(map_in_arrow(frame.select(*map(quoted, [*key, time])), pack, PACKED_DDL))
        return frames

    def _stamped(self, frame: DataFrame) -> DataFrame:
        """With Spark's time of the micro-batch beside each row, where that is needed."""
        if not (self._streaming and self._query.tells_time):
            return frame
        return frame.withColumn(BATCH_US, unix_micros(current_timestamp()))

    @property
    def result_types(self) -> StructType:
        """The columns of the results, as Spark's types."""
        return spark_schema(self._query.result_schema, self._result_fields)

    def _known_fields(self, query: Query) -> dict[str, StructField]:
        """Columns of a view that come out as they came in, by the type that Spark gave them."""
        if query.view in (View.PUNCTUATIONS, View.REJECTED):
            return {}
        known = self._result_fields
        return known if query.grouping is None else {name: known[name] for name in query.grouping.by if name in known}

    @cached_property
    def _result_fields(self) -> dict[str, StructField]:
        columns = ResultColumns.of(self._query.spec, self._query.schemas, self._query.key_types)
        known: dict[str, StructField] = {}
        for side in Side:
            fields = {field.name: field for field in self._inputs[side].frame.schema}
            known |= {
                shown: fields[name] for shown, name in zip(columns.shown(side), columns.payload[side], strict=True)
            }
        return known


def observed(stepped: DataFrame, name: str) -> DataFrame:
    """The output without its metrics, which go to the query's progress."""
    measured = stepped.observe(name, collect_list(METRICS).alias("buckets"))
    return measured.where(col(METRICS).isNull()).drop(METRICS)


class SparkGrouping:
    """Results by group, waiting for aggregates."""

    def __init__(self, joined: SparkJoin, by: Sequence[str]) -> None:
        self._joined, self._by = joined, tuple(by)

    def agg(self, **aggregates: Aggregate) -> DataFrame:
        """The groups with these aggregates; each comes out once, when it is final."""
        query = self._joined.query
        sheds = query.spec.shed is not None
        check_grouping(query.result_schema, self._by, aggregates, sheds=sheds)
        compared = [each.column for each in aggregates.values() if each.function in ("min", "max")]
        names = [*self._by, *(name for name in compared if name is not None)]
        refuse_collations(self._joined.result_types, names, "groups: the column", AggregateError)
        if METRICS in aggregates:
            raise AggregateError(f"the name {METRICS!r} is taken; give the aggregate another one")
        key = query.spec.left.key
        if key and set(key) <= set(self._by):
            return self._joined.grouped(Grouping(self._by, aggregates))
        if sheds:
            raise AggregateError(
                f"groups by {', '.join(self._by)} cannot be estimated on Spark, since they are made apart from the "
                f"join that sheds; group by its key ({', '.join(key) or 'it has none'}), or leave out shed="
            )
        message = f"groups by {', '.join(self._by)} are final only when both streams have ended"
        message += f": group by the join key ({', '.join(key)}) to get them earlier" if key else ""
        warnings.warn(message, LateGroupsWarning, stacklevel=2)
        return self._joined.grouped_apart(Grouping(self._by, aggregates))


def _is_streaming(inputs: tuple[Input, Input]) -> bool:
    frames = [frame for each in inputs for frame in (each.frame, *(ending[0] for ending in each.endings))]
    streaming = {frame.isStreaming for frame in frames}
    if len(streaming) > 1:
        raise StreamError("some inputs are streaming and some are not; read all of them with spark.readStream, or none")
    return streaming.pop()


def choose_buckets(inputs: tuple[Input, Input], readers: Sequence[Any], how: JoinType, wanted: int | None) -> int:
    """How many buckets: as many as partitions, up to the next power of two, unless one must hold everything."""
    if how is JoinType.FULL and not readers[LEFT].stream.key and wanted != 1:
        raise StreamError(
            "a full outer join without a key cannot be spread: one side goes to every bucket, and its unmatched rows "
            "would come out of each; use how='inner', 'left', 'right', 'semi' or 'anti', or buckets=1"
        )
    windows = [reader.stream.window for reader in readers]
    if any(isinstance(window, CountWindow) and not window.per_key for window in windows):
        if wanted not in (None, 1):
            raise StreamError(f"buckets={wanted}: pt.rows(n) over a whole stream needs one bucket; leave it out")
        return 1
    if wanted is None:
        partitions = shuffle_partitions(inputs[LEFT].frame.sparkSession)
        return min(MOST_BUCKETS, 1 << (partitions - 1).bit_length())
    if not 1 <= wanted <= MOST_BUCKETS:
        raise StreamError(f"buckets={wanted}: give a number from 1 to {MOST_BUCKETS}")
    return wanted
