"""A join as it travels to the workers, and the name by which they know it again."""

import os
import uuid
from dataclasses import dataclass, field, replace
from typing import Any

from punctuated.bind.bound_join import BoundJoin
from punctuated.join.driver import JoinDriver
from punctuated.join.output.grouping import Grouping
from punctuated.join.output.views import View
from punctuated.join.overflow.scratch import TableStore
from punctuated.tables.writer import Written


@dataclass(frozen=True)
class Outlet:
    """What becomes of the output in the step itself: tables that it writes, and kinds of rows that leave it still."""

    tables: tuple[Written, ...] = ()
    emitted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Query:
    """Everything that a worker must know."""

    join: BoundJoin
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)
    outlet: Outlet | None = None
    reports: Any = None  # where buckets report, see `metrics.reports`; without, in the output

    def seen_as(self, view: View, grouping: Grouping | None = None, outlet: Outlet | None = None) -> "Query":
        """The same join, another part of its output."""
        return replace(self, join=self.join.seen_as(view, grouping), outlet=outlet)

    @property
    def told_as(self) -> str:
        """The name under which its buckets report: of the last join of a query, none."""
        return " ".join(stream.name for stream in self.join.spec.streams) if self.join.view is View.CHAIN else ""

    @property
    def purpose(self) -> tuple[View, dict[str, str]]:
        """What a bucket in memory is made for, beside the join itself."""
        return self.join.view, self.join.definition

    def new_driver(self, bucket: int, tables: TableStore | None = None) -> JoinDriver:
        """The operator of one bucket, empty; `tables` keeps what goes beyond its memory.

        Where Spark limits a worker's memory, a bucket has half of it unless the join says otherwise.
        """
        megabytes = int(os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB", "-1"))
        return self.join.driver(bucket, bucket_bytes=megabytes << 19 if megabytes > 0 else None, tables=tables)
