"""The interface of what `pt.join` returns, the same on every engine: with tables in it, or with DataFrames."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

import pyarrow as pa

from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Select
from punctuated.model.aggregate import Aggregate
from punctuated.model.spec import JoinSpec

Table = TypeVar("Table", covariant=True)


class Grouped(Protocol[Table]):
    """The results of a join, grouped; `agg` says what is computed of each group."""

    def agg(self, **aggregates: Aggregate) -> Table:
        """The groups with these aggregates; each group comes out once, when it is final."""

    def explain(self, format: str = "text") -> str:
        """The plan of the groups and of their join: as "text", as "json", or as a picture ("svg")."""


class Joined(Protocol[Table]):
    """A join: its output, and its plan."""

    @property
    def results(self) -> Table:
        """The joined rows: key, left columns, right columns."""

    @property
    def punctuations(self) -> Table:
        """Values that are over in the output: key columns, `ts`, `reason`, and `pattern`, which also shows ranges."""

    @property
    def rejected(self) -> Table:
        """Tuples that did not take part: `stream`, `reason`, `ts`, and the `row` as JSON."""

    @property
    def all(self) -> Table:
        """Everything in one table; `_kind` says result, punctuation or rejected."""

    def explain(self, format: str = "text") -> str:
        """The plan, and what to expect of it: as "text", as "json", or as a picture ("svg")."""

    def group_by(
        self, *columns: str | Sequence[str], having: Expression | None = None, select: Select | None = None
    ) -> Grouped[Table]:
        """Group the results by columns, or by a list of them; each group comes out once, when it is final.

        `having` says which groups come out, and `select` which columns they have. Both use the grouping columns and the
        aggregates: `joined.group_by("k", having=pt.column("n") > 1, select={"id": "k", "n": "n"}).agg(n=pt.count())`.
        """

    def distinct(self, *columns: str | Sequence[str]) -> Table:
        """Each combination of values of these columns once, when it first appears; by default, of all columns."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results, as Arrow types."""

    @property
    def spec(self) -> JoinSpec:
        """The specification of the join: its streams and options, normalised."""
