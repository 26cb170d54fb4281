"""`pt.sql`: a query as text, over streams that are given by name."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from punctuated.api.union import only, union
from punctuated.bind.streams import Stream
from punctuated.errors import StreamError
from punctuated.model.expression import Expression
from punctuated.output.groups.grouping import check_grouping
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.bind.from_clause import FromResult, read_one
from punctuated.sql.bind.grouping import groups_of, is_grouped
from punctuated.sql.bind.inputs import FromStream, alias_of, own_columns, plain_column
from punctuated.sql.bind.join_clause import read_joined
from punctuated.sql.bind.names import DeclaredStream, Namespace
from punctuated.sql.bind.relation import DistinctRelation, Relation, RowsRelation
from punctuated.sql.bind.select_list import outputs_of
from punctuated.sql.parse.errors import SqlError, at
from punctuated.sql.parse.statements import Explain, parse_query
from punctuated.sql.parse.syntax import FromItem, Select, SelectBlock, match
from punctuated.sql.sources.arguments import ArgumentSources

if TYPE_CHECKING:
    from punctuated.sql.bind.relation import Relation


class SqlQuery:
    """A query over streams, ready to run: what `pt.sql` gives.

    `results` are its rows, or its groups, a table or a DataFrame. Everything else is that of the join behind it, which
    is `joined`.
    """

    def __init__(self, relation: "Relation", *, is_explain: bool = False) -> None:
        self._relation, self._is_explain = relation, is_explain

    @property
    def joined(self) -> Any:
        """What `pt.join`, `pt.only` or `pt.union` gives for this query."""
        return self._relation.joined

    @cached_property
    def results(self) -> Any:
        """The rows, or the groups; of EXPLAIN the lines of the plan."""
        return pa.table({"plan": self.explain().splitlines()}) if self._is_explain else self._relation.results

    @property
    def punctuations(self) -> Any:
        """Values that are over in the output of the join."""
        return self.joined.punctuations

    @property
    def rejected(self) -> Any:
        """Rows of streams that did not take part, and why."""
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


def sql(text: str, **given: Any) -> SqlQuery:
    """A query over streams, in SQL with windows.

    Args:
        text: SELECT, or EXPLAIN SELECT; before it CREATE STREAM for data that are given. Windows stand in brackets
            behind a stream, `Auction A [RANGE 12 HOURS]`, or between FROM and WHERE, `WINDOW = 5 MINUTES`. A stream
            without a window keeps its own.
        given: Streams by the names that they have in the query: from `pt.stream`, or what a join or groups gave; and
            data for CREATE STREAM. Also lengths of time by name, such as `w="5 minutes"` for `WINDOW = w`.

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
    # sqlglot is imported only when a query comes

    return bind_text(text, given)


# The binder: what a query says becomes calls of `pt.join`, `pt.only`, `pt.union` and the like.


def bind_text(text: str, given: Mapping[str, Any]) -> SqlQuery:
    """The one query of a text, over what is given and what it creates of that."""
    if not isinstance(text, str):
        raise StreamError(f"a query is text, not {type(text).__name__}: pt.sql('SELECT …', name=stream)")
    query, created = parse_query(text)
    created_streams = Catalog(created, ArgumentSources(given))
    declared = {name: created_streams.declared(name) for name in created_streams.names}
    others = {name: thing for name, thing in given.items() if match(name, declared) is None}
    return bind_query(query, others | declared)


def bind_query(select: Select | Explain, catalog: Mapping[str, Any]) -> SqlQuery:
    """A query over these streams, ready to run; EXPLAIN of one is ready to be read.

    Raises:
        SqlError: With the place of what does not fit.
    """
    is_explain = isinstance(select, Explain)
    query = select.query if isinstance(select, Explain) else select
    try:
        with at(query.position):
            relation = _bind(query, Namespace(catalog), query.position.text)
    except RecursionError:
        raise SqlError("this is nested too deeply", query.position) from None
    return SqlQuery(relation, is_explain=is_explain)


def _bind(query: Select, given: Namespace, sql: str) -> Relation:
    given = _with_named(query, given, sql)
    branches = [_block(block, given, sql) for block in query.blocks]
    return branches[0] if len(branches) == 1 else _united(branches, query)


def _with_named(query: Select, given: Namespace, sql: str) -> Namespace:
    for name, named in query.named:
        if name.text in given.queries:
            raise SqlError(f"two queries are called {name.text!r}", name.position)
        given = given.named(name.text, named, _bind(named, given, sql))
    return given


def _block(block: SelectBlock, given: Namespace, sql: str) -> Relation:
    core = _read(block, given, sql)
    if is_grouped(block):
        return _grouped(block, core)
    select = _selected(block, core)
    joined = core.build(None if core.is_everything(select) else select)
    return _distinct(joined, tuple(select), block) if block.distinct else RowsRelation(joined)


def _distinct(joined: Any, columns: tuple[str, ...], block: SelectBlock) -> DistinctRelation:
    with at(block.items[0].position.to(block.items[-1].position)):
        check_grouping(joined.schema, columns, {}, is_distinct=True)
    return DistinctRelation(joined, columns)


def _read(block: SelectBlock, given: Namespace, sql: str) -> FromResult:
    inputs = [_input(source, number, given) for number, source in enumerate(block.sources)]
    return read_one(block, inputs[0], given, sql) if len(inputs) == 1 else read_joined(block, inputs, given, sql)


def _selected(block: SelectBlock, core: FromResult) -> dict[str, Expression]:
    outputs = outputs_of(block.items, core.scope, core.star())
    return {each.name: core.value(each) for each in outputs}


def _grouped(block: SelectBlock, core: FromResult) -> Relation:
    groups = groups_of(block, core)
    if not block.distinct:
        return groups
    with at(block.position):
        rows = only(groups.as_stream("groups"))
    return _distinct(rows, tuple(groups.schema.names), block)


# Streams of FROM


def _input(source: FromItem, number: int, given: Namespace) -> FromStream:
    alias = alias_of(source) or f"query_{number + 1}"
    if isinstance(source.what, Select):
        return _of_query(source.what, given, None, alias, source)
    found = given.find(source.what)
    if isinstance(found, DeclaredStream):
        return _of_stream(found.stream, alias, source, found.hidden)
    return _of_query(found.select, found.given, found.relation, alias, source)


def _of_query(select: Select, given: Namespace, known: Relation | None, alias: str, source: FromItem) -> FromStream:
    """A query in FROM, which WITH may have named; one that only takes rows and columns of a stream is that stream."""
    sql = source.position.text
    shaped = _shaped(select, given, sql)
    if shaped is None:
        return _of_relation(known or _bind(select, given, sql), alias, source)
    made, columns = shaped
    return FromStream(alias, made, columns, source)


def _of_stream(found: Stream, alias: str, source: FromItem, hidden: frozenset[str] = frozenset()) -> FromStream:
    return FromStream(
        alias, found, {name: plain_column(name) for name in own_columns(found) if name not in hidden}, source
    )


def _of_relation(relation: Relation, alias: str, source: FromItem) -> FromStream:
    with at(source.position):
        return _of_stream(relation.as_stream(alias), alias, source)


def _shaped(query: Select, given: Namespace, sql: str) -> tuple[Stream, Mapping[str, Expression]] | None:
    """A query that only takes rows and columns of one stream: the stream itself, and what its columns are made of."""
    block = query.blocks[0]
    if len(query.blocks) > 1 or block.joined or block.distinct or is_grouped(block):
        return None
    core = _read(block, _with_named(query, given, sql), sql)
    return core.names.streams[0], _selected(block, core)


# UNION ALL


def _united(branches: Sequence[Relation], query: Select) -> Relation:
    """All rows of some queries; the columns are called as in the first."""
    first = branches[0].schema
    streams = [_branch(branch, first, f"branch_{i + 1}", query.blocks[i]) for i, branch in enumerate(branches)]
    with at(query.position):
        return RowsRelation(union(*_alike(streams)))


def _branch(branch: Relation, first: pa.Schema, name: str, block: SelectBlock) -> Stream:
    theirs, names = branch.schema, first.names
    _check_alike(theirs, first, block)
    with at(block.position):
        found = branch.as_stream(name)
        if theirs.names != names:
            found = found.with_(
                select={ours: plain_column(each) for ours, each in zip(names, theirs.names, strict=True)}
            )
        return found


def _check_alike(theirs: pa.Schema, first: pa.Schema, block: SelectBlock) -> None:
    """Raise unless a SELECT has columns of the types of the first one."""
    if len(theirs) != len(first):
        message = f"this SELECT has {len(theirs)} columns, and the first one {len(first)}"
        raise SqlError(message, block.position, expected=f"{len(first)} columns")
    for field, ours in zip(theirs, first, strict=True):
        if field.type != ours.type:
            message = f"{field.name!r} is of type {field.type}, and {ours.name!r} of the first SELECT of {ours.type}"
            raise SqlError(f"{message}: cast one of them", block.position, expected=str(ours.type))


def _alike(streams: Sequence[Stream]) -> list[Stream]:
    """With one key, if all have the same, else without any."""
    keys = {each.spec.key for each in streams}
    return list(streams) if len(keys) == 1 else [each.with_(key=()) for each in streams]
