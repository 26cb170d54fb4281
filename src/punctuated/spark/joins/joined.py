"""A join over Spark DataFrames: its inputs are packed, exchanged by bucket, and joined in a step.

Each view of the output is a DataFrame of its own, made by the same three parts; a join of a join packs the view `CHAIN`
of the first. Groups that do not contain the join key get a second exchange and a step of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import groupby
from typing import Any, NoReturn

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import current_timestamp, unix_micros
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructField, StructType

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import PredicateError, SinkError, StreamError
from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Select
from punctuated.model.spec import JoinSpec
from punctuated.output.groups.grouping import Grouping, contains_key, grouping_columns
from punctuated.output.in_band import PUNCTUATION, REJECTED, RESULT
from punctuated.output.views import View
from punctuated.plan.rendering.explain import explain
from punctuated.plan.tree import PlanNode
from punctuated.runtime.kernel_groups import kernels_of
from punctuated.spark.joins.grouped import SparkGrouping, distinct
from punctuated.spark.joins.inputs import (
    JoinInput,
    are_streaming,
    bucket_facts,
    own_fields,
    planned_input,
    refuse_collated,
    renamed_fields,
)
from punctuated.spark.metrics.listener import log_rejected_rows
from punctuated.spark.metrics.reports import observe_reports, reports_of, with_report_column
from punctuated.spark.pack.pack import PACKED_DDL, Pack
from punctuated.spark.session.columns import map_in_arrow
from punctuated.spark.session.query import Query, Routing
from punctuated.spark.session.session import check_session, shuffle_partitions
from punctuated.spark.session.types import refuse_collations, spark_schema
from punctuated.spark.session.workers import check_worker_python, compile_for_workers
from punctuated.spark.sink.outputs import Sink
from punctuated.spark.sink.sinks import Trigger, with_sinks, write_to
from punctuated.spark.source.ending import packed_end
from punctuated.spark.source.files import Files, pack_files
from punctuated.spark.step.emit import step_schema, unpacked
from punctuated.spark.step.groups import PACKED_DDL as GROUPS_DDL
from punctuated.spark.step.groups import GroupStep, PackGroups
from punctuated.spark.step.step import JoinStep, batch_step, group_batch_step
from punctuated.spark.step.writers import VIEWS


class SparkJoin:
    """A join over Spark DataFrames. Each property is a DataFrame of its own.

    Two queries on two of these DataFrames run the join twice. One query on `all` with `foreachBatch` runs it once;
    `write_to` does that for you.
    """

    def __init__(self, inputs: Sequence[JoinInput], bound: BoundJoin) -> None:
        self._inputs, self.query = tuple(inputs), Query(bound)
        self._ends_now: bool | None = (
            None  # whether the input that ends all streams, if there is one, ends them in this run
        )
        self._streaming = are_streaming(inputs)
        check_worker_python(inputs[0].frame.sparkSession)
        for column in bound.where.columns() if bound.where is not None else ():
            refuse_collated(inputs[column.side].frame, bound.inputs[column.side], column.name)
        for ours, reader in zip(inputs, bound.inputs, strict=True):
            if reader.shape is not None:
                computed = reader.shape.compared
                refuse_collations(ours.frame.schema, computed, "where= or select=: the column", PredicateError)
        _ = self.result_types  # raises if Spark has no type for a column
        if self._streaming:
            check_session(inputs[0].frame.sparkSession)
            self.query = replace(self.query, reports=reports_of(inputs[0].frame.sparkSession))
            compile_for_workers(inputs[0].frame.sparkSession, kernels_of(bound.spec))
            log_rejected_rows(inputs[0].frame.sparkSession)

    @property
    def results(self) -> DataFrame:
        """The joined rows: key, left columns, right columns."""
        return self._view(View.RESULTS)

    @property
    def punctuations(self) -> DataFrame:
        """Values that are over in the output: key columns, `ts`, `reason`, and `pattern`, which also shows ranges."""
        return self._view(View.PUNCTUATIONS)

    @property
    def rejected(self) -> DataFrame:
        """Tuples that did not take part: `stream`, `reason`, `ts`, and the `row` as JSON."""
        return self._view(View.REJECTED)

    @property
    def all(self) -> DataFrame:
        """Everything in one DataFrame; `_kind` says result, punctuation or rejected."""
        return self._view(View.ALL)

    @property
    def metrics(self) -> NoReturn:
        """Only joins of tables have metrics of their own; on Spark, ask the query."""
        raise StreamError("a join on Spark has no metrics of its own; ask its query: pt.metrics.of(query)")

    def write_to(
        self,
        *,
        results: Sink | None = None,
        punctuations: Sink | None = None,
        rejected: Sink | None = None,
        checkpoint: str,
        trigger: Trigger | None = None,
        name: str | None = None,
        finish: bool = False,
    ) -> StreamingQuery:
        """Start one query that writes each part of the output to its own sink; see `pt.write_to`."""
        how: dict[str, Any] = {"checkpoint": checkpoint, "trigger": trigger, "name": name, "finish": finish}
        return write_to(self, results=results, punctuations=punctuations, rejected=rejected, **how)

    def with_end(self, now: bool) -> "SparkJoin":
        """For queries of your own: the same join with one more input, which ends all streams.

        With `now=False` this input is silent, but keeps its position in the checkpoint. With `now=True` the streams end
        with the first batch that runs. To run a query over all available data, run it twice with one checkpoint: first
        `with_end(False)` with the trigger `availableNow`, then `with_end(True)` with the trigger `once`. That single
        batch also takes what has arrived meanwhile. Both may be repeated at any time. Rows that come after the end are
        rejected as late.
        """
        if not self._streaming:
            raise StreamError("with_end is for streaming joins; a batch join ends its streams by itself")
        ended = SparkJoin([each.with_end(now) for each in self._inputs], self.query.join)
        ended.query, ended._ends_now = self.query, now
        return ended

    def explain(self, format: str = "text", **sinks: Sink | None) -> str:
        """The plan of the join on Spark: as "text", as "json", or as a picture ("svg").

        Given the sinks of `write_to`, it also says how the rows get to each sink.
        """
        return explain(with_sinks(self.plan(), self, sinks), format)

    def plan(self) -> PlanNode:
        """The plan as a tree."""
        inputs = [planned_input(each.frame, each.endings, each.origin) for each in self._inputs]
        return self.query.join.plan(inputs, None, bucket_facts(self.query.join))

    def group_by(
        self, *columns: str | Sequence[str], having: Expression | None = None, select: Select | None = None
    ) -> SparkGrouping:
        """Group the results by columns, or by a list of them; each group comes out once, when it is final.

        `having` says which groups come out, and `select` which columns they have. Both use the grouping columns and the
        aggregates: `joined.group_by("k", having=pt.column("n") > 1, select={"id": "k", "n": "n"}).agg(n=pt.count())`.
        """
        return SparkGrouping(self, grouping_columns(columns), having, select)

    def distinct(self, *columns: str | Sequence[str]) -> DataFrame:
        """Each combination of values of these columns once, when it first appears; by default, of all columns."""
        return distinct(self, grouping_columns(columns, "distinct"))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results, as Arrow types."""
        return self.query.join.results

    @property
    def time_type(self) -> pa.DataType:
        """The type of result times."""
        return self.query.join.time_type

    @property
    def spec(self) -> JoinSpec:
        """The declaration of the join, normalised."""
        return self.query.join.spec

    @property
    def bound(self) -> BoundJoin:
        """The join without Spark, with everything that was checked."""
        return self.query.join

    def chain_source(self) -> DataFrame:
        """Results, punctuations and progress, as another join reads them."""
        return self._view(View.CHAIN)

    # What write_to must know

    @property
    def session(self) -> SparkSession:
        """The session of the inputs."""
        return self._inputs[0].frame.sparkSession

    @property
    def is_streaming(self) -> bool:
        """Whether the inputs come in micro-batches."""
        return self._streaming

    @property
    def own_kind(self) -> str:
        """The kind of its own rows: results."""
        return RESULT

    @property
    def stored_join(self) -> BoundJoin:
        """The join without Spark, with everything that was checked."""
        return self.query.join

    def part_columns(self, kind: str) -> tuple[pa.Schema, StructType]:
        """The columns of a part of the output, as Arrow and as Spark types."""
        if kind not in VIEWS:
            raise SinkError(f"a join has no {kind}s to write; group its results, and give the groups to pt.write_to")
        return self.columns_of(VIEWS[kind])

    def columns_of(self, view: View, grouping: Grouping | None = None) -> tuple[pa.Schema, StructType]:
        """The columns of a view, as Arrow and as Spark types."""
        query = self.query.seen_as(view, grouping)
        return query.join.schema, self._output(query)

    def part_positions(self, kind: str) -> list[tuple[int, str]]:
        """The positions of a part's columns in the view `all`, and their names in the part."""
        views = self.query.join.views
        everything, ours = views.schema(View.ALL).names, views.in_band
        beside = {PUNCTUATION: (*views.key, *ours.of_punctuations), REJECTED: ours.of_rejected}
        names = beside.get(kind, tuple(views.results.names))
        shown = views.schema(VIEWS[kind]).names
        return [(everything.index(name), known) for name, known in zip(names, shown, strict=True)]

    def routed(self, routing: Routing) -> DataFrame:
        """The rows that leave the step of a query whose output goes this way."""
        return self._view(View.ALL if routing.emitted else View.FILES, routing=routing)

    # From frames to frames

    def grouped(self, grouping: Grouping, view: View, routing: Routing | None = None) -> DataFrame:
        """Groups, in the step of the join if they contain its key; with `View.CHAIN` as another join reads them."""
        in_step = contains_key(grouping.by, self.bound.key)
        return (self._view if in_step else self._grouped_apart)(view, grouping, routing)

    def _grouped_apart(self, view: View, grouping: Grouping, routing: Routing | None) -> DataFrame:
        """Groups in a step of their own behind the join."""
        query = self.query.seen_as(view, grouping, routing)
        join, output = query.join, self._output(query)
        in_band, are_stream = self.query.join.views.in_band, view is View.CHAIN
        pack = PackGroups(grouping.by, tuple(join.results.names), in_band, join.n_buckets, are_stream)
        chained = self.chain_source()
        by_bucket = map_in_arrow(chained, chained.columns, pack, GROUPS_DDL).groupBy("bucket")
        emitted = step_schema(join.schema, output)
        if self._streaming:
            grouped = by_bucket.transformWithStateInPandas(GroupStep(query), emitted, "append", "None")
        else:
            grouped = by_bucket.applyInArrow(group_batch_step(query), emitted)
        return unpacked(grouped, join.schema, output)

    def _view(self, view: View, grouping: Grouping | None = None, routing: Routing | None = None) -> DataFrame:
        query = self.query.seen_as(view, grouping, routing)
        join, output = query.join, self._output(query)
        by_bucket = self.packed().groupBy("bucket")
        emitted = step_schema(join.schema, output)
        if not self._streaming:
            rows = by_bucket.applyInArrow(batch_step(query), emitted)
        elif query.reports is not None:
            rows = by_bucket.transformWithStateInPandas(JoinStep(query), emitted, "append", "None")
        else:
            step, leaving = JoinStep(query), with_report_column(emitted)
            rows = observe_reports(
                by_bucket.transformWithStateInPandas(step, leaving, "append", "None"), query.report_name
            )
        return unpacked(rows, join.schema, output)

    def packed(self) -> DataFrame:
        """All streams as blobs for each bucket, and the end of the streams if there is one."""
        return reduce(DataFrame.unionAll, [*self._packed, *self._packed_end])

    @cached_property
    def _packed_end(self) -> list[DataFrame]:
        if self._ends_now is None:
            return []
        return [packed_end(self._inputs[0].frame.sparkSession, self.query.join.n_buckets, self._ends_now)]

    @cached_property
    def _packed(self) -> list[DataFrame]:
        """The streams as blobs; only neighbouring files are read together: Spark knows sources by their order."""
        packed: list[DataFrame] = []
        for are_files, inputs in groupby(self._to_pack(), key=lambda each: isinstance(each[0], Files)):
            if are_files:
                n_parts = shuffle_partitions(self._inputs[0].frame.sparkSession)
                packed.append(pack_files(list(inputs), n_parts, self._stamp))
            else:
                packed += [self._packed_frame(*each) for each in inputs]
        return packed

    def _packed_frame(self, frame: DataFrame, names: Sequence[str], pack: Pack) -> DataFrame:
        return map_in_arrow(frame, names, pack, PACKED_DDL, *(self._stamp if pack.stamped else ()))

    def _to_pack(self) -> Iterator[tuple[Any, Sequence[str], Pack]]:
        """All DataFrames and files, each with the columns to read and its pack."""
        join = self.query.join
        for side, (reader, ours) in enumerate(zip(join.inputs, self._inputs, strict=True)):
            read = ours.frame.columns if reader.stream.is_output else reader.source_columns
            everywhere = side in join.spec.everywhere
            yield ours.frame, read, Pack(side, reader, join.n_buckets, everywhere=everywhere, stamped=bool(self._stamp))
            for frame, key, time in ours.endings:
                announced = Pack(side, reader, join.n_buckets, announced=(key, time))
                yield frame, list(dict.fromkeys([*key, time])), announced

    @property
    def _stamp(self) -> list[Column]:
        """Spark's time of the micro-batch as one more column, if the join depends on it."""
        return [unix_micros(current_timestamp())] if self._streaming and self.query.join.needs_batch_time else []

    # Spark's types

    @property
    def result_types(self) -> StructType:
        """The columns of the results, as Spark's types."""
        return spark_schema(self.query.join.results, self._result_fields)

    def _output(self, query: Query) -> StructType:
        """The columns of a view; columns that come out unchanged keep their Spark type."""
        known, join = self._result_fields, query.join
        if join.view in (View.PUNCTUATIONS, View.REJECTED):
            known = {}
        elif join.grouping is not None:
            known = {name: known[name] for name in join.grouping.by if name in known}
            known = renamed_fields(known, join.grouping.shape)
        return spark_schema(join.schema, known)

    @cached_property
    def _result_fields(self) -> dict[str, StructField]:
        columns, known = self.query.join.columns, dict[str, StructField]()
        for side, ours in enumerate(self._inputs):
            fields = own_fields(ours.frame, self.query.join.inputs[side].shape)
            shown = zip(columns.shown[side], columns.payload[side], strict=True)
            known |= {name: fields[own] for name, own in shown if own in fields}
        return renamed_fields(known, self.query.join.shape)
