"""Groups of a join over DataFrames: in the join's own step if they contain its key, else in one behind it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.origins import remember_origin
from punctuated.errors import AggregateError
from punctuated.join.output.grouping import Grouping, contains_key
from punctuated.join.output.views import View
from punctuated.model.aggregate import Aggregate
from punctuated.spark.collations import refuse_collations

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
