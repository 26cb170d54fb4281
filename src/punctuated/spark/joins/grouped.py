"""Groups of a join over DataFrames: in the join's own step if they contain its key, else in a step behind it.

This module knows a join by `GroupableJoin` alone: `joined` makes groups with it.
"""

from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import AggregateError, SinkError
from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Select
from punctuated.model.aggregate import Aggregate
from punctuated.output.groups.grouping import Grouping, check_aggregates, contains_key
from punctuated.output.in_band import GROUP
from punctuated.output.views import View
from punctuated.plan.rendering.explain import explain
from punctuated.plan.tree import Fact, PlanNode
from punctuated.runtime.lineage import remember_origin
from punctuated.spark.session.query import Routing
from punctuated.spark.session.types import refuse_collations
from punctuated.spark.sink.outputs import Sink
from punctuated.spark.sink.sinks import Writable, with_sinks


class GroupableJoin(Writable, Protocol):
    """A join over DataFrames, as its groups must know it."""

    @property
    def bound(self) -> BoundJoin:
        """The join without Spark."""

    @property
    def result_types(self) -> StructType:
        """The columns of the results, as Spark's types."""

    def plan(self) -> PlanNode:
        """The plan of the join."""

    def columns_of(self, view: View, grouping: Grouping | None = None) -> tuple[pa.Schema, StructType]:
        """The columns of a view, as Arrow and as Spark types."""

    def grouped(self, grouping: Grouping, view: View, routing: Routing | None = None) -> DataFrame:
        """The groups in a view."""

    def with_end(self, now: bool) -> "GroupableJoin":
        """The same join, with an end of all streams in this run or in a later one."""


class SparkGrouping:
    """Results by group, without aggregates yet."""

    def __init__(
        self, joined: GroupableJoin, by: tuple[str, ...], having: Expression | None = None, select: Select | None = None
    ) -> None:
        self._joined, self._by, self._having, self._select = joined, by, having, select

    def agg(self, **aggregates: Aggregate) -> DataFrame:
        """The groups with these aggregates; each comes out once, when it is final."""
        check_aggregates(aggregates)
        join = self._joined.bound
        key = join.key
        if join.spec.shed is not None and not contains_key(self._by, key):
            raise AggregateError(
                f"groups by {', '.join(self._by)} cannot be estimated on Spark, since they are made separately from "
                f"the join that sheds; group by its key ({', '.join(key) or 'it has none'}), or leave out shed="
            )
        compared = [each.column for each in aggregates.values() if each.function in ("min", "max")]
        names = [*self._by, *(name for name in compared if name is not None)]
        refuse_collations(self._joined.result_types, names, "groups: the column", AggregateError)
        grouping = join.group_by(self._by, aggregates, self._having, self._select).grouping
        assert grouping is not None
        groups = self._joined.grouped(grouping, View.GROUPS)
        remember_origin(groups, SparkGroups(self._joined, grouping))
        return groups

    def explain(self, format: str = "text") -> str:
        """The plan of the groups and of their join, without aggregates; for these use `pt.explain` of the groups."""
        return SparkGroups(self._joined, Grouping(self._by, {})).explain(format)


def distinct(joined: GroupableJoin, by: tuple[str, ...]) -> DataFrame:
    """Each combination of values of these columns once: groups that come out with their first row."""
    grouping = joined.bound.distinct(by).grouping
    assert grouping is not None
    refuse_collations(joined.result_types, grouping.by, "distinct: the column", AggregateError)
    rows = joined.grouped(grouping, View.GROUPS)
    remember_origin(rows, SparkGroups(joined, grouping))
    return rows


@dataclass(frozen=True)
class SparkGroups:
    """The groups of a join: as a stream for another join, and for `write_to`."""

    joined: GroupableJoin
    grouping: Grouping

    @property
    def bound(self) -> BoundJoin:
        """The join as one that gives its groups to another join."""
        return self.joined.bound.seen_as(View.CHAIN, self.grouping)

    def explain(self, format: str = "text", **sinks: Sink | None) -> str:
        """The plan of the groups and of their join; with sinks, also how the rows get to each sink."""
        return explain(with_sinks(self.plan(), self, sinks), format)

    def plan(self) -> PlanNode:
        """The plan as a tree."""
        in_step = contains_key(self.grouping.by, self.joined.bound.spec.left.key)
        where = "in the step of the join" if in_step else "in a step of their own behind the join, through Spark's rows"
        return self.joined.bound.plan_groups(self.joined.plan(), self.grouping, [Fact("made", where)])

    def with_end(self, now: bool) -> "SparkGroups":
        """The groups of the join with an end of its streams; see `SparkJoin.with_end`."""
        return SparkGroups(self.joined.with_end(now), self.grouping)

    def chain_source(self) -> DataFrame:
        """The groups as results, each at its time, and the punctuations of their keys, as another join reads them."""
        return self.joined.grouped(self.grouping, View.CHAIN)

    # What write_to must know

    @property
    def session(self) -> SparkSession:
        """The session of the inputs."""
        return self.joined.session

    @property
    def is_streaming(self) -> bool:
        """Whether the inputs come in micro-batches."""
        return self.joined.is_streaming

    @property
    def own_kind(self) -> str:
        """The kind of its own rows: groups."""
        return GROUP

    @property
    def stored_join(self) -> BoundJoin:
        """The join with its grouping, on which the state depends."""
        return self.joined.bound.seen_as(View.GROUPS, self.grouping)

    def part_columns(self, kind: str) -> tuple[pa.Schema, StructType]:
        """The columns of the groups, or of a part of the join's own output, as Arrow and as Spark types."""
        if kind == GROUP:
            return self.joined.columns_of(View.GROUPS, self.grouping)
        if not contains_key(self.grouping.by, self.joined.bound.key):
            raise SinkError(
                f"groups that do not contain the join key ({', '.join(self.joined.bound.spec.left.key)}) are made "
                f"separately from the join: write the {kind} rows with joined.write_to(…), in a query of its own"
            )
        return self.joined.part_columns(kind)

    def part_positions(self, kind: str) -> list[tuple[int, str]]:
        """The positions of a part's columns in the rows that leave the step, and their names."""
        if kind != GROUP:
            return self.joined.part_positions(kind)
        return list(enumerate(self.part_columns(GROUP)[0].names))  # groups leave the step as they are

    def routed(self, routing: Routing) -> DataFrame:
        """The groups as rows, or a row for each file that the step writes."""
        if not routing.emitted:
            return self.joined.grouped(self.grouping, View.FILES, routing)
        if routing.emitted != (GROUP,) or routing.tables:
            raise SinkError(
                "groups that the workers of the join do not write to a table cannot be written together with the "
                "punctuations or the rejected rows: give pt.parquet(…) or pt.delta(…) for each, or groups= alone"
            )
        return self.joined.grouped(self.grouping, View.GROUPS)
