"""Groups of a join over DataFrames: in the join's own step if they contain its key, else in one behind it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.origins import remember_origin
from punctuated.errors import AggregateError, SinkError
from punctuated.join.output.grouping import Grouping, contains_key
from punctuated.join.output.in_band import GROUP
from punctuated.join.output.views import View
from punctuated.model.aggregate import Aggregate
from punctuated.spark.collations import refuse_collations
from punctuated.spark.query import Outlet

if TYPE_CHECKING:
    from punctuated.spark.joined import SparkJoin


class SparkGrouping:
    """Results by group, waiting for aggregates."""

    def __init__(self, joined: "SparkJoin", by: tuple[str, ...]) -> None:
        self._joined, self._by = joined, by

    def agg(self, **aggregates: Aggregate) -> DataFrame:
        """The groups with these aggregates; each comes out once, when it is final."""
        join = self._joined.query.join
        key = join.spec.left.key
        if join.spec.shed is not None and not contains_key(self._by, key):
            raise AggregateError(
                f"groups by {', '.join(self._by)} cannot be estimated on Spark, since they are made apart from the "
                f"join that sheds; group by its key ({', '.join(key) or 'it has none'}), or leave out shed="
            )
        compared = [each.column for each in aggregates.values() if each.function in ("min", "max")]
        names = [*self._by, *(name for name in compared if name is not None)]
        refuse_collations(self._joined.result_types, names, "groups: the column", AggregateError)
        grouping = join.group_by(self._by, aggregates).grouping
        assert grouping is not None
        groups = self._joined.grouped(grouping, View.GROUPS)
        remember_origin(groups, SparkGroups(self._joined, grouping))
        return groups


@dataclass(frozen=True)
class SparkGroups:
    """Groups that go on as a stream."""

    joined: "SparkJoin"
    grouping: Grouping

    @property
    def bound(self) -> BoundJoin:
        """The join as a chain of its groups."""
        return self.joined.bound.seen_as(View.CHAIN, self.grouping)

    def with_end(self, now: bool) -> "SparkGroups":
        """Groups of the join with the end of its streams; see `SparkJoin.with_end`."""
        return SparkGroups(self.joined.with_end(now), self.grouping)

    def chain_source(self) -> DataFrame:
        """The groups as results, each at its moment, and what the join says of their keys."""
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

    def part(self, kind: str) -> tuple[pa.Schema, StructType]:
        """The columns of the groups, or of a part of the join's own output, in Arrow's and in Spark's terms."""
        if kind == GROUP:
            return self.joined.columns_of(View.GROUPS, self.grouping)
        if not contains_key(self.grouping.by, self.joined.spec.left.key):
            raise SinkError(
                f"groups that do not contain the join key ({', '.join(self.joined.spec.left.key)}) are made apart from "
                f"the join: the {kind} rows are written by joined.write_to(…) of a query of its own"
            )
        return self.joined.part(kind)

    def places(self, kind: str) -> list[tuple[int, str]]:
        """Groups leave the step as they are."""
        return list(enumerate(self.part(GROUP)[0].names)) if kind == GROUP else self.joined.places(kind)

    def leaving(self, outlet: Outlet) -> DataFrame:
        """The groups as rows, or what is told of files that the step writes."""
        if not outlet.emitted:
            return self.joined.grouped(self.grouping, View.FILES, outlet)
        if outlet.emitted != (GROUP,) or outlet.tables:
            raise SinkError(
                "groups that do not go to a table by the workers of the join cannot be written together with the "
                "punctuations or the rejected rows: give pt.parquet(…) or pt.delta(…) for each, or groups= alone"
            )
        return self.joined.grouped(self.grouping, View.GROUPS)
