"""What a query gives: rows of a join or of one stream, groups of them, or each combination of values once.

A relation can be read, explained and written, and it can become a stream in the FROM of another query.
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
from punctuated.expressions.nodes import Expression
from punctuated.local.join import Join
from punctuated.model.aggregate import Aggregate
from punctuated.plan.rendering.explain import explain as show


@dataclass(frozen=True)
class Relation(ABC):
    """The output of a query, made of what `pt.join`, `pt.only` or `pt.union` gives (`joined`)."""

    joined: Any

    @property
    @abstractmethod
    def results(self) -> Any:
        """The rows, as a table or a DataFrame."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""

    @abstractmethod
    def as_stream(self, name: str) -> Stream:
        """The rows as a stream of this name."""

    @abstractmethod
    def explain(self, format: str, **sinks: Any) -> str:
        """The plan, in this format."""

    @abstractmethod
    def write_to(self, results: Any, **how: Any) -> Any:
        """Start a streaming query that writes the rows to the sink `results`."""


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
    """Groups of rows; nothing runs until they are asked for."""

    @cached_property
    @abstractmethod
    def bound(self) -> BoundJoin:
        """The join with its groups as results."""

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
    """Groups with aggregates: GROUP BY."""

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
    """Each combination of values once: SELECT DISTINCT."""

    columns: tuple[str, ...]

    @cached_property
    def bound(self) -> BoundJoin:
        found: BoundJoin = self.joined.bound.distinct(self.columns)
        return found

    @cached_property
    def results(self) -> Any:
        return self.joined.distinct(*self.columns)
