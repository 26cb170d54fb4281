"""The plan of a bound join, wherever it runs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from punctuated.bind.bound_join import BoundJoin
from punctuated.expressions.shape import Shape
from punctuated.output.groups.grouping import Grouping, check_by
from punctuated.plan.inputs import PlannedInput
from punctuated.plan.joins import plan_groups, plan_join
from punctuated.plan.statistics import StreamStatistics
from punctuated.plan.tree import Fact, PlanNode


def planned_join(
    bound: BoundJoin,
    inputs: Iterable[PlannedInput],
    statistics: Sequence[StreamStatistics] | None,
    runs: Sequence[Fact],
) -> PlanNode:
    """The plan of a join over these inputs; `runs` says where and how it runs."""
    known = [
        replace(each, pattern_column=reader.pattern_column, facts=(*each.facts, *_shape(reader.shape)))
        for each, reader in zip(inputs, bound.inputs, strict=True)
    ]
    ranged = None if bound.spec.reaches else bound.ranged  # joins of two alone have structures for it
    return plan_join(bound.spec, known, statistics, bound.where, ranged, (*_shape(bound.shape), *runs))


def planned_groups(joined: PlanNode, bound: BoundJoin, grouping: Grouping, runs: Sequence[Fact] = ()) -> PlanNode:
    """The plan of groups over the plan of their join; raises if the results lack a column of theirs."""
    check_by(bound.results, grouping.by, is_distinct=grouping.is_distinct)
    facts = (*_shape(grouping.shape, "having"), *runs)
    return plan_groups(joined, bound.key, grouping, facts, is_one_group=bound.is_one_group(grouping.by))


def _shape(shape: Shape | None, condition: str = "where") -> Iterator[Fact]:
    """Which rows count and how columns are made, unless all is taken unchanged."""
    if shape is None:
        return
    if shape.where is not None:
        yield Fact(condition, repr(shape.where))
    made = [name if repr(made) == name else f"{name} = {made}" for name, made in shape.columns]
    if made != shape.source.names:
        yield Fact("select", ", ".join(made))
