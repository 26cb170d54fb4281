"""A join as it is sent to the workers, and the name by which they recognise it."""

import uuid
from dataclasses import dataclass, field, replace
from typing import Any

from punctuated.bind.bound_join import BoundJoin
from punctuated.operator.driver import JoinDriver
from punctuated.output.groups.grouping import Grouping
from punctuated.output.in_band import RESULT
from punctuated.output.views import View
from punctuated.spark.session.task import worker_limit
from punctuated.storage.scratch import TableStore
from punctuated.storage.tables.written_file import OutputTable

Purpose = tuple[View, dict[str, str], bool]


@dataclass(frozen=True)
class Routing:
    """Where the output of a step goes: tables that the step writes itself, and kinds of rows that leave it."""

    tables: tuple[OutputTable, ...] = ()
    emitted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Query:
    """Everything that a worker must know of a join."""

    join: BoundJoin
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)
    routing: Routing | None = None
    reports: Any = None  # the accumulator of `metrics.reports`; None: buckets report in the output

    def seen_as(self, view: View, grouping: Grouping | None = None, routing: Routing | None = None) -> "Query":
        """The same join, with another part of its output."""
        return replace(self, join=self.join.seen_as(view, grouping), routing=routing)

    @property
    def report_name(self) -> str:
        """The name under which its buckets report; empty for the last join of a query."""
        return " ".join(stream.name for stream in self.join.spec.streams) if self.join.view is View.CHAIN else ""

    @property
    def purpose(self) -> Purpose:
        """What a bucket in memory depends on: a bucket of another purpose cannot be used."""
        return self.join.view, self.join.definition, self._groups_alone

    @property
    def _groups_alone(self) -> bool:
        """Whether only the groups of the results are needed, not the results themselves."""
        written = () if self.routing is None else self.routing.tables
        return self.join.grouping is not None and all(each.part != RESULT for each in written)

    def new_driver(self, bucket: int, tables: TableStore | None = None) -> JoinDriver:
        """A new driver for one bucket; `tables` keeps what goes beyond its memory.

        If Spark limits a worker's memory, a bucket has half of it, unless the join says otherwise.
        """
        limit = worker_limit()
        most = None if limit is None else limit // 2
        return self.join.driver(bucket, groups_alone=self._groups_alone, bucket_bytes=most, tables=tables)
