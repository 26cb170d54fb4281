"""What a query gives: rows of a join or of one stream, groups of them, or each combination of values once.

Each can be read as it is, and each can go on as a stream in the FROM of another query.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from punctuated.api.engine import write_to
from punctuated.api.explain import explain
from punctuated.api.stream import stream
from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.streams import Stream
from punctuated.local.joined import Join
from punctuated.model.aggregate import Aggregate
from punctuated.model.expression import Expression
from punctuated.plan.rendering.explain import explain as show


@dataclass(frozen=True)
class Relation(ABC):
    """The output of a query; `joined` is what `pt.join`, `pt.only` or `pt.union` gives."""

    joined: Any

    @property
    @abstractmethod
    def results(self) -> Any:
        """Its rows, a table or a DataFrame."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Its columns."""

    @abstractmethod
    def as_stream(self, name: str) -> Stream:
        """A stream of its rows."""

    @abstractmethod
    def explain(self, format: str, **sinks: Any) -> str:
        """Its plan."""

    @abstractmethod
    def write_to(self, results: Any, **how: Any) -> Any:
        """Write it to a sink, as a streaming query."""


@dataclass(frozen=True)
class RowsRelation(Relation):
    """Rows of a join, of one stream or of a union."""

    @property
    def results(self) -> Any:
        return self.joined.results

    @property
    def schema(self) -> pa.Schema:
        return self.joined.schema

    def as_stream(self, name: str) -> Stream:
        found: Stream = stream(self.joined, name=name)
        return found

    def explain(self, format: str, **sinks: Any) -> str:
        return explain(self.joined, format, **sinks)

    def write_to(self, results: Any, **how: Any) -> Any:
        return write_to(self.joined, results=results, **how)


@dataclass(frozen=True)
class GroupedRelation(Relation):
    """Rows by group; nothing runs until they are asked for."""

    @cached_property
    @abstractmethod
    def bound(self) -> BoundJoin:
        """The join as it gives groups."""

    @property
    def schema(self) -> pa.Schema:
        return self.bound.views.results

    def as_stream(self, name: str) -> Stream:
        found: Stream = stream(self.results, name=name)
        return found

    def explain(self, format: str, **sinks: Any) -> str:
        if isinstance(self.joined, Join) and not sinks:
            return show(self.joined.planner(self.bound.grouping).plan(), format)
        return explain(self.results, format, **sinks)

    def write_to(self, results: Any, **how: Any) -> Any:
        return write_to(self.results, groups=results, **how)


@dataclass(frozen=True)
class GroupsRelation(GroupedRelation):
    """Groups of rows, with aggregates."""

    by: tuple[str, ...]
    aggregates: Mapping[str, Aggregate]
    having: Expression | None
    select: Mapping[str, Expression] | None = field(repr=False)

    @cached_property
    def bound(self) -> BoundJoin:
        found: BoundJoin = self.joined.bound.group_by(self.by, self.aggregates, self.having, self.select)
        return found

    @cached_property
    def results(self) -> Any:
        grouping = self.joined.group_by(*self.by, having=self.having, select=self.select)
        return grouping.agg(**self.aggregates)


@dataclass(frozen=True)
class DistinctRelation(GroupedRelation):
    """Each combination of values once."""

    columns: tuple[str, ...]

    @cached_property
    def bound(self) -> BoundJoin:
        found: BoundJoin = self.joined.bound.distinct(self.columns)
        return found

    @cached_property
    def results(self) -> Any:
        return self.joined.distinct(*self.columns)
