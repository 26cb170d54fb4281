"""`pt.sql`: a query as text, over streams that are arguments of the call.

Importing this module does not import sqlglot: only a query needs it.
"""

from functools import cached_property
from typing import Any

import pyarrow as pa

from punctuated.errors import StreamError
from punctuated.sql.bind.relation import Relation


class SqlQuery:
    """A query over streams, ready to run: what `pt.sql` gives.

    `results` are its rows, or its groups, a table or a DataFrame. Everything else is that of the join behind it, which
    is `joined`.
    """

    def __init__(self, relation: Relation, *, is_explain: bool = False) -> None:
        self._relation, self._is_explain = relation, is_explain

    @property
    def joined(self) -> Any:
        """What `pt.join`, `pt.only` or `pt.union` gives for this query."""
        return self._relation.joined

    @cached_property
    def results(self) -> Any:
        """The rows or the groups; for EXPLAIN the lines of the plan."""
        return pa.table({"plan": self.explain().splitlines()}) if self._is_explain else self._relation.results

    @property
    def punctuations(self) -> Any:
        """The output punctuations of the join: values of which no more results come."""
        return self.joined.punctuations

    @property
    def rejected(self) -> Any:
        """Rows of the streams that were rejected, with a reason."""
        return self.joined.rejected

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results."""
        return self.results.schema if self._is_explain else self._relation.schema

    def explain(self, format: str = "text", **sinks: Any) -> str:
        """The plan, and what to expect of it: as "text", as "json", or as a picture ("svg").

        On Spark, `sinks` are those of `write_to`: the plan then says which way the rows take to each.
        """
        return self._relation.explain(format, **sinks)

    def write_to(self, *, results: Any, **how: Any) -> Any:
        """Start one streaming query that writes to tables and other sinks, groups as results too.

        The arguments are those of `joined.write_to`.
        """
        return self._relation.write_to(results, **how)

    def to_pylist(self) -> list[dict[str, Any]]:
        """The results as dictionaries, one per row; over tables only."""
        found: list[dict[str, Any]] = self._table("to_pylist").to_pylist()
        return found

    def to_pandas(self, **options: Any) -> Any:
        """The results as a pandas frame; over tables only."""
        return self._table("to_pandas").to_pandas(**options)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table("__arrow_c_stream__").__arrow_c_stream__(requested_schema)

    def _table(self, wanted: str) -> pa.Table:
        if not isinstance(self.results, pa.Table):
            raise StreamError(f"{wanted} is for tables; on Spark use query.results, a DataFrame, or query.write_to(…)")
        return self.results


def sql(text: str, **arguments: Any) -> SqlQuery:
    """A query over streams, in SQL with windows.

    Args:
        text: SELECT, or EXPLAIN SELECT; before it CREATE STREAM for data that are arguments. Windows stand in brackets
            behind a stream, `Auction A [RANGE 12 HOURS]`, or between FROM and WHERE, `WINDOW = 5 MINUTES`. A stream
            without a window keeps its own.
        arguments: Streams by the names that they have in the query: from `pt.stream`, or what a join or groups gave;
            and data for CREATE STREAM. Also lengths of time by name, such as `w="5 minutes"` for `WINDOW = w`.

    Raises:
        SqlError: With the line and the column of what is wrong.

    Example:
        >>> import pyarrow as pa, punctuated as pt
        >>> opened = pa.table({"item": [7, 8], "at": [0, 1]})
        >>> opened = pt.stream(opened, key="item", time="at", punctuations=pt.unique())
        >>> bids = pt.stream(pa.table({"item": [7, 7, 8], "at": [2, 3, 99]}), key="item", time="at")
        >>> pt.sql(
        ...     "SELECT A.item, COUNT(*) AS n FROM Auction A [RANGE 10], Bid B WHERE A.item = B.item GROUP BY A.item",
        ...     Auction=opened, Bid=bids,
        ... ).to_pylist()
        [{'item': 7, 'n': 2}]
    """
    from punctuated.sql.bind.binder import bind_text  # sqlglot takes 0.1 s to import

    relation, is_explain = bind_text(text, arguments)
    return SqlQuery(relation, is_explain=is_explain)
