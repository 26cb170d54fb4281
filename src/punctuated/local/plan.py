"""The plan of a join of tables, made when it is asked for.

It is made of inputs alone: a join over another join keeps the inputs of the inner join to explain itself, but none of
its output.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.planned import planned_groups, planned_join
from punctuated.local.run import why_in_one
from punctuated.model.batch import StreamBatch
from punctuated.output.groups.grouping import Grouping
from punctuated.plan.planner import PlannedInput
from punctuated.plan.statistics import table_statistics
from punctuated.plan.tree import Fact, PlanNode
from punctuated.runtime.lineage import Planner


@dataclass(frozen=True)
class PlanSource:
    """Where the tuples of an input come from: its streams of endings, and the join behind it, if there is one."""

    endings: tuple[tuple[tuple[str, ...], str], ...] = ()
    origin: Planner | None = None

    def planned(self) -> PlannedInput:
        """An input of a plan."""
        return PlannedInput(endings=self.endings, origin=None if self.origin is None else self.origin.plan())


@dataclass(frozen=True)
class TablePlan:
    """What goes into the plan of a join, or of its groups."""

    bound: BoundJoin  # in its buckets
    batches: Sequence[Sequence[StreamBatch]]
    sources: Sequence[PlanSource]
    threads: int = 1
    grouping: Grouping | None = None

    def plan(self) -> PlanNode:
        """The plan as a tree."""
        has_rows = any(
            len(each.rows) for batch in self.batches for each in batch
        )  # else nothing is known of the streams
        statistics = table_statistics(self.bound.spec, self.batches, self.bound.key_types) if has_rows else None
        joined = planned_join(self.bound, [each.planned() for each in self.sources], statistics, self._runs())
        return joined if self.grouping is None else planned_groups(joined, self.bound, self.grouping)

    def _runs(self) -> list[Fact]:
        """In how many buckets it runs, if there are several or could have been."""
        n, at_once, why = self.bound.n_buckets, self.bound.at_once, why_in_one(self.bound.spec)
        if n > 1:
            return [Fact("buckets", f"{n}, {at_once} at a time", {"n": n, "at_once": at_once})]
        return [Fact("threads", f"1 of {self.threads}, since {why}")] if self.threads > 1 and why is not None else []
