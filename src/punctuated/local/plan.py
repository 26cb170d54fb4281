"""What the plan of a join of tables is made of; the plan itself is made when it is asked for.

Only inputs are kept, no output: a join over another join can explain itself without holding the results of that join.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.bind.bound_join import BoundJoin
from punctuated.local.run import why_one_bucket
from punctuated.model.batch import StreamBatch
from punctuated.output.groups.grouping import Grouping
from punctuated.plan.planner import PlannedInput
from punctuated.plan.statistics import table_statistics
from punctuated.plan.tree import Fact, PlanNode
from punctuated.runtime.lineage import Planner


@dataclass(frozen=True)
class PlanSource:
    """Where the tuples of an input come from: its streams of endings, and the join whose output it is, if it is one."""

    endings: tuple[tuple[tuple[str, ...], str], ...] = ()
    origin: Planner | None = None

    def planned(self) -> PlannedInput:
        """The input as a plan describes it."""
        return PlannedInput(endings=self.endings, origin=None if self.origin is None else self.origin.plan())


@dataclass(frozen=True)
class TablePlan:
    """Makes the plan of a join, or of its groups."""

    bound: BoundJoin  # in its buckets
    batches: Sequence[Sequence[StreamBatch]]
    sources: Sequence[PlanSource]
    threads: int = 1
    grouping: Grouping | None = None

    def plan(self) -> PlanNode:
        """The plan as a tree."""
        # Without rows, nothing is known of the streams.
        has_rows = any(len(each.rows) for batch in self.batches for each in batch)
        statistics = table_statistics(self.bound.spec, self.batches, self.bound.key_types) if has_rows else None
        joined = self.bound.plan([each.planned() for each in self.sources], statistics, self._runs())
        return joined if self.grouping is None else self.bound.plan_groups(joined, self.grouping)

    def _runs(self) -> list[Fact]:
        """The number of buckets if there are several, or why there is only one for several threads."""
        n, at_once, why = self.bound.n_buckets, self.bound.at_once, why_one_bucket(self.bound.spec)
        if n > 1:
            return [Fact("buckets", f"{n}, {at_once} at a time", {"n": n, "at_once": at_once})]
        return [Fact("threads", f"1 of {self.threads}, since {why}")] if self.threads > 1 and why is not None else []
