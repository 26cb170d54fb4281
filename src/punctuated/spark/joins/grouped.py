"""Groups of a join over DataFrames: in the join's own step if they contain its key, else in a step behind it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import AggregateError, SinkError
from punctuated.expressions.shape import Select
from punctuated.model.aggregate import Aggregate
from punctuated.model.expression import Expression
from punctuated.output.groups.grouping import Grouping, check_aggregates, contains_key
from punctuated.output.in_band import GROUP
from punctuated.output.views import View
from punctuated.plan.rendering.explain import explain
from punctuated.plan.tree import Fact, PlanNode
from punctuated.runtime.lineage import remember_origin
from punctuated.spark.session.query import Outlet
from punctuated.spark.session.types import refuse_collations
from punctuated.spark.sink.parts import Sink
from punctuated.spark.sink.sinks import with_sinks

if TYPE_CHECKING:
    from punctuated.spark.joins.joined import SparkJoin


class SparkGrouping:
    """Results by group, waiting for aggregates."""

    def __init__(
        self, joined: "SparkJoin", by: tuple[str, ...], having: Expression | None = None, select: Select | None = None
    ) -> None:
        self._joined, self._by, self._having, self._select = joined, by, having, select

    def agg(self, **aggregates: Aggregate) -> DataFrame:
        """The groups with these aggregates; each comes out once, when it is final."""
        check_aggregates(aggregates)
        join = self._joined.query.join
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


def distinct(joined: "SparkJoin", by: tuple[str, ...]) -> DataFrame:
    """Each combination of values of these columns once: groups that come out when their first row comes."""
    grouping = joined.query.join.distinct(by).grouping
    assert grouping is not None
    refuse_collations(joined.result_types, grouping.by, "distinct: the column", AggregateError)
    told = joined.grouped(grouping, View.GROUPS)
    remember_origin(told, SparkGroups(joined, grouping))
    return told


@dataclass(frozen=True)
class SparkGroups:
    """Groups that go on as a stream."""

    joined: "SparkJoin"
    grouping: Grouping

    @property
    def bound(self) -> BoundJoin:
        """The join, giving its groups to another join."""
        return self.joined.bound.seen_as(View.CHAIN, self.grouping)

    def explain(self, format: str = "text", **sinks: Sink | None) -> str:
        """The plan of the groups and of their join; given sinks, also how the rows get to each sink."""
        return explain(with_sinks(self.plan(), self, sinks), format)

    def plan(self) -> PlanNode:
        """The plan as a tree."""
        in_step = contains_key(self.grouping.by, self.joined.spec.left.key)
        place = "in the step of the join" if in_step else "in a step of their own behind the join, through Spark's rows"
        return self.joined.bound.plan_groups(self.joined.plan(), self.grouping, [Fact("made", place)])

    def with_end(self, now: bool) -> "SparkGroups":
        """Groups of the join with the end of its streams; see `SparkJoin.with_end`."""
        return SparkGroups(self.joined.with_end(now), self.grouping)

    def chain_source(self) -> DataFrame:
        """The groups as results, each at its moment, and the punctuations of their keys."""
        return self.joined.grouped(self.grouping, View.CHAIN)

    # To be written

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
        """Groups."""
        return GROUP

    @property
    def defined(self) -> BoundJoin:
        """The join with its grouping."""
        return self.joined.bound.seen_as(View.GROUPS, self.grouping)

    def part(self, kind: str) -> tuple[pa.Schema, StructType]:
        """The columns of the groups, or of a part of the join's own output, as Arrow and as Spark types."""
        if kind == GROUP:
            return self.joined.columns_of(View.GROUPS, self.grouping)
        if not contains_key(self.grouping.by, self.joined.bound.key):
            raise SinkError(
                f"groups that do not contain the join key ({', '.join(self.joined.spec.left.key)}) are made separately "
                f"from the join: write the {kind} rows with joined.write_to(…), in a query of its own"
            )
        return self.joined.part(kind)

    def places(self, kind: str) -> list[tuple[int, str]]:
        """Groups leave the step as they are."""
        return list(enumerate(self.part(GROUP)[0].names)) if kind == GROUP else self.joined.places(kind)

    def leaving(self, outlet: Outlet) -> DataFrame:
        """The groups as rows, or a row for each file that the step writes."""
        if not outlet.emitted:
            return self.joined.grouped(self.grouping, View.FILES, outlet)
        if outlet.emitted != (GROUP,) or outlet.tables:
            raise SinkError(
                "groups that the workers of the join do not write to a table cannot be written together with the "
                "punctuations or the rejected rows: give pt.parquet(…) or pt.delta(…) for each, or groups= alone"
            )
        return self.joined.grouped(self.grouping, View.GROUPS)
