"""What `pt.join` gives, whatever runs it: one form for tables and DataFrames."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

import pyarrow as pa

from punctuated.model.aggregate import Aggregate
from punctuated.model.spec import JoinSpec

Table = TypeVar("Table", covariant=True)


class Grouped(Protocol[Table]):
    """Results by group, waiting for aggregates."""

    def agg(self, **aggregates: Aggregate) -> Table:
        """The groups with these aggregates; each comes out once, when it is final."""


class Joined(Protocol[Table]):
    """A join: what comes out of it, and what it will do."""

    @property
    def results(self) -> Table:
        """The joined rows: key, left columns, right columns."""

    @property
    def punctuations(self) -> Table:
        """Values that are over in the output: key columns, `ts`, `reason`, and `pattern`, which also tells ranges."""

    @property
    def rejected(self) -> Table:
        """Tuples that did not take part: `stream`, `reason`, `ts`, and the `row` as JSON."""

    @property
    def all(self) -> Table:
        """Everything in one table; `_kind` says result, punctuation or rejected."""

    def explain(self) -> str:
        """The plan, and what to expect of it."""

    def group_by(self, *columns: str | Sequence[str]) -> Grouped[Table]:
        """Group the results by columns, or by a list of them; each group comes out once, when it is final."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results, as Arrow types."""

    @property
    def spec(self) -> JoinSpec:
        """What was asked for, normalised."""
