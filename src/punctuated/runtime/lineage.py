"""Remembers which data a join has returned, so that they can go on as a stream.

`agg` returns a plain table or DataFrame. More is known about this object: when each group became final, and which
values are over. It is found again by the identity of the object; anything derived from it is plain data.
"""

import weakref
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.plan.tree import PlanNode

_ORIGINS: dict[int, "TableOrigin | FrameOrigin"] = {}


class Planner(Protocol):
    """What can make a plan."""

    def plan(self) -> PlanNode:
        """The plan as a tree, with the plans of its inputs."""


class Origin(Planner, Protocol):
    """What can go on as a stream: the results of a join, or groups of them."""

    @property
    def bound(self) -> BoundJoin:
        """The join; its views give the columns, and the key that it punctuates."""


@runtime_checkable
class TableOrigin(Origin, Protocol):
    """One of tables."""

    def chain_batches(self) -> Iterator[pa.Table]:
        """Everything that another join gets, batch by batch."""

    def planner(self) -> Planner:
        """What makes its plan; it holds none of its output."""


class FrameOrigin(Origin, Protocol):
    """One of DataFrames."""

    def chain_source(self) -> Any:
        """Everything that another join gets, as a DataFrame."""

    def with_end(self, now: bool) -> "FrameOrigin":
        """The same with the end of all streams, in this run or in a later one."""


def remember_origin(data: Any, origin: TableOrigin | FrameOrigin) -> None:
    """Remember where this object comes from, as long as it lives."""
    place = id(data)
    _ORIGINS[place] = origin
    weakref.finalize(data, _ORIGINS.pop, place, None)


def origin_of(data: Any) -> TableOrigin | FrameOrigin | None:
    """Where it comes from, if a join returned it."""
    return _ORIGINS.get(id(data))
