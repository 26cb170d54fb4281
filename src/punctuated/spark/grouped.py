"""Groups of a join over DataFrames: in the join's own step if they contain its key, else in one behind it."""

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from punctuated.errors import AggregateError
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
        has_key = bool(key) and set(key) <= set(self._by)
        if join.spec.shed is not None and not has_key:
            raise AggregateError(
                f"groups by {', '.join(self._by)} cannot be estimated on Spark, since they are made apart from the "
                f"join that sheds; group by its key ({', '.join(key) or 'it has none'}), or leave out shed="
            )
        compared = [each.column for each in aggregates.values() if each.function in ("min", "max")]
        names = [*self._by, *(name for name in compared if name is not None)]
        refuse_collations(self._joined.result_types, names, "groups: the column", AggregateError)
        grouping = join.group_by(self._by, aggregates).grouping
        assert grouping is not None
        return self._joined.grouped(grouping) if has_key else self._joined.grouped_apart(grouping)
