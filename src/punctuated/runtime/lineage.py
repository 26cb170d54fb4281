"""The lineage of outputs: which join a table or a DataFrame came from, so that it can go on as a stream.

`agg` returns a plain table or DataFrame, but more is known of it: when each group became final, and which values are
over. The origin of an object is found by its identity, as long as it lives; data derived from it have no origin.
"""

import weakref
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.plan.tree import PlanNode

_origins: dict[int, "TableOrigin | FrameOrigin"] = {}


class Planner(Protocol):
    """Something that can be explained."""

    def plan(self) -> PlanNode:
        """The plan as a tree, with the plans of all inputs."""


class Origin(Planner, Protocol):
    """An output that can go on as a stream: the results of a join, or groups of them."""

    @property
    def bound(self) -> BoundJoin:
        """The join that makes the output; its views have the columns, and the key that the output punctuates."""


@runtime_checkable
class TableOrigin(Origin, Protocol):
    """The output of a join of tables."""

    def chain_batches(self) -> Iterator[pa.Table]:
        """What another join gets of the output, batch by batch."""

    def planner(self) -> Planner:
        """What makes the plan of the output, without holding any output."""


class FrameOrigin(Origin, Protocol):
    """The output of a join of DataFrames."""

    def chain_source(self) -> Any:
        """What another join gets of the output, as a DataFrame."""

    def with_end(self, now: bool) -> "FrameOrigin":
        """This output with the end of all streams, in this run or in a later one."""


def remember_origin(data: Any, origin: TableOrigin | FrameOrigin) -> None:
    """Remember the origin of a table or a DataFrame, as long as that object lives."""
    identity = id(data)
    _origins[identity] = origin
    weakref.finalize(data, _origins.pop, identity, None)


def origin_of(data: Any) -> TableOrigin | FrameOrigin | None:
    """The origin of this object; None if no join returned it."""
    return _origins.get(id(data))
