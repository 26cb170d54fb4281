"""A bound join: the complete join as plain data, the same for every runner.

It knows the columns of the output, and makes drivers, groups and plans; a runner only brings it batches. It is pickled
and sent to workers as it is, and does not change: each method that asks for something else returns another one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Unpack

import pyarrow as pa

from punctuated.errors import LateGroupsWarning, UnboundedStateWarning, warn_caller
from punctuated.expressions.nodes import Expression, Literal
from punctuated.expressions.shape import Select, Shape, shape_results
from punctuated.intake.reading import Reader
from punctuated.model.aggregate import Aggregate
from punctuated.model.batch import BucketId
from punctuated.model.spec import JoinSpec
from punctuated.model.times import output_time_type
from punctuated.operator.driver import JoinDriver
from punctuated.operator.windows.predicate import RangePredicate, split_predicate
from punctuated.output.columns import ResultColumns
from punctuated.output.groups.group_by import Distinct, GroupBy
from punctuated.output.groups.grouping import Grouping, check_by, check_grouping, describe_grouping, late_groups
from punctuated.output.views import View, Views
from punctuated.plan.allocation import ShedAllocation
from punctuated.plan.optimizer import StructureChooser
from punctuated.plan.planner import PlannedInput, plan_groups, plan_join
from punctuated.plan.statistics import StreamStatistics
from punctuated.plan.tree import Fact, PlanNode
from punctuated.state.setup import Asked, DriverSetup


@dataclass(frozen=True)
class BoundJoin:
    """A join: its inputs, how they are joined, and which part of the output is wanted."""

    spec: JoinSpec
    inputs: tuple[Reader, ...]
    where: Expression | None = None
    n_buckets: int = 1
    view: View = View.RESULTS
    grouping: Grouping | None = None
    chooser: StructureChooser | None = None  # has the weights of the machine on which the join was bound
    at_once: int | None = None  # how many buckets are processed at a time; None: all
    shape: Shape | None = None  # how results are changed before they come out

    def seen_as(self, view: View, grouping: Grouping | None = None) -> "BoundJoin":
        """This join with another part of its output."""
        return replace(self, view=view, grouping=grouping)

    def made_of_results(self, select: Select | None) -> "BoundJoin":
        """This join with computed result columns, if `select` has any; only the columns that they need are made."""
        if not isinstance(select, Mapping):
            return self
        whole = shape_results(self.results, select, None, "the results")
        needed = whole.needed or self.results.names[:1]  # without any column a table does not know how many rows it has
        bound = replace(self, spec=replace(self.spec, selected=tuple(needed)))
        return replace(bound, shape=replace(whole, source=bound.results))

    def group_by(
        self,
        by: tuple[str, ...],
        aggregates: Mapping[str, Aggregate],
        having: Expression | None = None,
        select: Select | None = None,
    ) -> "BoundJoin":
        """This join with its results grouped; warns if nothing can finish the groups before the end."""
        check_grouping(self.results, by, aggregates, sheds=self.spec.shed is not None)
        grouped = self.seen_as(View.GROUPS, Grouping(by, aggregates))
        if having is not None or select is not None:
            shape = shape_results(grouped.groups().schema, select, having, "the groups")
            grouped = self.seen_as(View.GROUPS, Grouping(by, aggregates, shape))
        late = late_groups(self.spec, self.key, by, is_one_group=self.is_one_group(by))
        if late is not None:
            warn_caller(late, LateGroupsWarning)
        return grouped

    def distinct(self, by: tuple[str, ...]) -> "BoundJoin":
        """This join with each combination of these columns once; warns if it cannot forget any before the end."""
        columns = by or tuple(self.results.names)
        check_grouping(self.results, columns, {}, is_distinct=True)
        if late_groups(self.spec, self.key, columns) is not None:
            key = ", ".join(self.key)
            remedy = f": name the key ({key}), of punctuated streams, among the columns" if key else ""
            message = f"nothing bounds what distinct({', '.join(columns)}) remembers{remedy}"
            warn_caller(message, UnboundedStateWarning)
        return self.seen_as(View.GROUPS, Grouping(columns, {}, is_distinct=True))

    def is_one_group(self, by: tuple[str, ...]) -> bool:
        """Whether these columns are constants: SQL groups by one if a query has aggregates and no GROUP BY."""
        made = {} if self.shape is None else dict(self.shape.columns)
        return bool(by) and all(isinstance(made.get(name), Literal) for name in by)

    # Columns

    @cached_property
    def schemas(self) -> tuple[pa.Schema, ...]:
        """The schemas of the inputs' tuples, with the key columns in their common types."""
        return tuple(reader.cast_schema for reader in self.inputs)

    @property
    def key_types(self) -> tuple[pa.DataType, ...]:
        """The common types of the key columns."""
        return self.inputs[0].types

    @cached_property
    def columns(self) -> ResultColumns:
        """How the columns of the inputs become the columns of the results."""
        return ResultColumns.of(self.spec, self.schemas, self.key_types)

    @property
    def results(self) -> pa.Schema:
        """The columns of the results."""
        return self.columns.schema if self.shape is None else self.shape.schema

    @property
    def key(self) -> tuple[str, ...]:
        """The key columns of the results; none if the results lack one of them."""
        return self._result_views.shown_key or ()

    @property
    def time_type(self) -> pa.DataType:
        """The type of output times: that of the first stream, in microseconds."""
        return output_time_type(self.schemas[0].field(self.spec.left.time).type)

    @cached_property
    def views(self) -> Views:
        """The parts of the output, or of its groups if groups are wanted."""
        if self.grouping is None:
            return self._result_views
        ended = [self.results.field(name) for name in self.grouping.ended_by(self.key)]
        return Views.of(self.groups().schema, pa.schema(ended), self.grouping.shape, self.time_type)

    @cached_property
    def _result_views(self) -> Views:
        own_key = pa.schema(list(zip(self.spec.left.key, self.key_types, strict=True)))
        return Views.of(self.results, own_key, self.shape, self.time_type)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the wanted view."""
        return self.views.results if self.view is View.GROUPS else self.views.schema(self.view)

    @cached_property
    def ranged(self) -> RangePredicate | None:
        """The range predicate within `where`, which a tree on a window could serve."""
        return split_predicate(self.where, self.schemas)[0]

    # What a runner needs

    def setup(self, bucket: int = 0, *, groups_alone: bool = False) -> DriverSetup:
        """What the driver of a bucket is made of; with `groups_alone`, results have only the columns of groups."""
        is_ordered = self.grouping is not None and self.grouping.is_ordered
        return DriverSetup(
            spec=replace(self.spec, selected=self._grouped) if groups_alone else self.spec,
            schemas=self.schemas,
            key_types=self.key_types,
            where=self.where,
            shape=self.shape,
            chooser=self.chooser,
            allocate=self._allocation,
            timed=self.view.is_timed or is_ordered,
            estimated=self._estimates,
            place=BucketId(bucket, self.n_buckets, self.at_once),
            definition=self.definition,
        )

    def driver(self, bucket: int = 0, *, groups_alone: bool = False, **asked: Unpack[Asked]) -> JoinDriver:
        """A new driver for a bucket, with an empty state; `DriverSetup` lists what else may be asked of it."""
        setup = self.setup(bucket, groups_alone=groups_alone)
        return JoinDriver(replace(setup, **asked | {"timed": setup.timed or asked.get("timed", False)}))

    def groups(self) -> GroupBy:
        """The groups of a bucket, empty."""
        assert self.grouping is not None
        by, aggregates, shape = self.grouping.by, self.grouping.aggregates, self.grouping.shape
        if self.grouping.is_distinct:
            return Distinct(self.results, by, self.key)
        timed = self.view is View.CHAIN
        return GroupBy(self.results, by, self.key, aggregates, sheds=self._estimates, timed=timed, shape=shape)

    @property
    def _grouped(self) -> tuple[str, ...] | None:
        """The columns of the results that groups need; None: all."""
        if self.grouping is None or self.grouping.is_ordered or self._estimates or self.shape is not None:
            return self.spec.selected
        taken = [each.column for each in self.grouping.aggregates.values() if each.column is not None]
        return tuple(dict.fromkeys([*self.grouping.by, *taken]))

    @property
    def _estimates(self) -> bool:
        return self.spec.shed is not None and self.grouping is not None and not self.grouping.is_distinct

    @property
    def _allocation(self) -> ShedAllocation | None:
        """The share of a bucket in what the join may use, if it sheds."""
        return None if self.spec.shed is None else ShedAllocation(self.spec.shed, self.n_buckets, self._estimates)

    @property
    def needs_batch_time(self) -> bool:
        """Whether the join needs the engine's time of each batch, to release silent streams or to shed slow batches."""
        shed = self.spec.shed
        return self.spec.follows_others or (shed is not None and shed.trigger_us is not None)

    # Plans

    def plan(
        self,
        inputs: Iterable[PlannedInput],
        statistics: Sequence[StreamStatistics] | None,
        runs: Sequence[Fact],
    ) -> PlanNode:
        """The plan of this join over these inputs; `runs` says where and how it runs."""
        known = [
            replace(each, pattern_column=reader.pattern_column, facts=(*each.facts, *_shape_facts(reader.shape)))
            for each, reader in zip(inputs, self.inputs, strict=True)
        ]
        ranged = None if self.spec.reaches else self.ranged  # only joins of two have structures for it
        return plan_join(self.spec, known, statistics, self.where, ranged, (*_shape_facts(self.shape), *runs))

    def plan_groups(self, joined: PlanNode, grouping: Grouping, runs: Sequence[Fact] = ()) -> PlanNode:
        """The plan of groups over the plan of this join; raises if the results lack one of their columns."""
        check_by(self.results, grouping.by, is_distinct=grouping.is_distinct)
        facts = (*_shape_facts(grouping.shape, "having"), *runs)
        return plan_groups(joined, self.key, grouping, facts, is_one_group=self.is_one_group(grouping.by))

    # Checkpoints

    @property
    def definition(self) -> dict[str, str]:
        """What a saved state depends on beside the specification, by name; all views without groups save the same."""
        parts = {} if self.where is None else {"extra predicate (where=)": repr(self.where)}
        for reader in self.inputs:
            if reader.shape is not None:
                parts[f"select= and where= of {reader.stream.name!r}"] = repr(reader.shape)
        if self.grouping is not None:
            parts["grouping"] = describe_grouping(self.grouping.by, self.grouping.aggregates, sheds=self._estimates)
            if self.grouping.is_distinct:
                parts["grouping"] = f"distinct {', '.join(sorted(self.grouping.by))}"
            elif self.view is View.CHAIN:
                parts["grouping"] += ", as a stream"
            shapes = {"select= of the results": self.shape, "having= and select= of the groups": self.grouping.shape}
            parts |= {part: repr(shape) for part, shape in shapes.items() if shape is not None}
        return parts


def _shape_facts(shape: Shape | None, condition: str = "where") -> Iterator[Fact]:
    """Which rows count, and which columns are made of them; no facts where all is taken unchanged."""
    if shape is None:
        return
    if shape.where is not None:
        yield Fact(condition, repr(shape.where))
    made = [name if repr(made) == name else f"{name} = {made}" for name, made in shape.columns]
    if made != shape.source.names:
        yield Fact("select", ", ".join(made))
