"""The binder: a query as plain data becomes calls of `pt.join`, `pt.only`, `pt.union` and the like.

A query in FROM that takes rows and columns of one stream becomes that stream, filtered; any other becomes a stream of
its results.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from punctuated.api.union import only, union
from punctuated.bind.streams import Stream
from punctuated.errors import StreamError
from punctuated.expressions.nodes import Expression
from punctuated.output.groups.grouping import check_grouping
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.bind.from_clause import FromResult, read_one
from punctuated.sql.bind.grouping import groups_of, is_grouped
from punctuated.sql.bind.inputs import FromStream, alias_of, own_columns, plain_column
from punctuated.sql.bind.join_clause import read_joined
from punctuated.sql.bind.names import CreatedStream, Namespace
from punctuated.sql.bind.relation import DistinctRelation, Relation, RowsRelation
from punctuated.sql.bind.select_list import outputs_of
from punctuated.sql.parse.errors import SqlError, at
from punctuated.sql.parse.statements import parse_query
from punctuated.sql.parse.syntax import Explain, FromItem, Select, SelectBlock, match
from punctuated.sql.sources.arguments import ArgumentSources


def bind_text(text: str, arguments: Mapping[str, Any]) -> tuple[Relation, bool]:
    """What the one query of a text gives, over these arguments and the streams that it creates of them.

    The second value says whether the query is an EXPLAIN.
    """
    if not isinstance(text, str):
        raise StreamError(f"a query is text, not {type(text).__name__}: pt.sql('SELECT …', name=stream)")
    query, created = parse_query(text)
    catalog = Catalog(created, ArgumentSources(arguments))
    declared = {name: catalog.declared(name) for name in catalog.names}
    others = {name: each for name, each in arguments.items() if match(name, declared) is None}
    is_explain = isinstance(query, Explain)
    return bind_select(query.query if isinstance(query, Explain) else query, others | declared), is_explain


def bind_select(query: Select, arguments: Mapping[str, Any]) -> Relation:
    """What a query gives, over these streams and lengths of time.

    Raises:
        SqlError: With the position of what does not fit.
    """
    try:
        with at(query.position):
            return _bind(query, Namespace(arguments), query.position.text)
    except RecursionError:
        raise SqlError("this is nested too deeply", query.position) from None


def _bind(query: Select, namespace: Namespace, sql: str) -> Relation:
    namespace = _with_named(query, namespace, sql)
    branches = [_block(block, namespace, sql) for block in query.blocks]
    return branches[0] if len(branches) == 1 else _united(branches, query)


def _with_named(query: Select, namespace: Namespace, sql: str) -> Namespace:
    for name, named in query.named:
        if name.text in namespace.queries:
            raise SqlError(f"two queries are called {name.text!r}", name.position)
        namespace = namespace.with_query(name.text, named, _bind(named, namespace, sql))
    return namespace


def _block(block: SelectBlock, namespace: Namespace, sql: str) -> Relation:
    rows = _from(block, namespace, sql)
    if is_grouped(block):
        return _grouped(block, rows)
    select = _selected(block, rows)
    joined = rows.build(None if rows.is_everything(select) else select)
    return _distinct(joined, tuple(select), block) if block.distinct else RowsRelation(joined)


def _distinct(joined: Any, columns: tuple[str, ...], block: SelectBlock) -> DistinctRelation:
    with at(block.items[0].position.to(block.items[-1].position)):
        check_grouping(joined.schema, columns, {}, is_distinct=True)
    return DistinctRelation(joined, columns)


def _from(block: SelectBlock, namespace: Namespace, sql: str) -> FromResult:
    inputs = [_input(source, number, namespace) for number, source in enumerate(block.sources)]
    return (
        read_one(block, inputs[0], namespace, sql) if len(inputs) == 1 else read_joined(block, inputs, namespace, sql)
    )


def _selected(block: SelectBlock, rows: FromResult) -> dict[str, Expression]:
    outputs = outputs_of(block.items, rows.scope, rows.star())
    return {each.name: rows.value(each) for each in outputs}


def _grouped(block: SelectBlock, rows: FromResult) -> Relation:
    groups = groups_of(block, rows)
    if not block.distinct:
        return groups
    with at(block.position):
        joined = only(groups.as_stream("groups"))
    return _distinct(joined, tuple(groups.schema.names), block)


# Streams of FROM


def _input(source: FromItem, number: int, namespace: Namespace) -> FromStream:
    alias = alias_of(source) or f"query_{number + 1}"
    if isinstance(source.what, Select):
        return _of_query(source.what, namespace, None, alias, source)
    found = namespace.find(source.what)
    if isinstance(found, CreatedStream):
        return _of_stream(found.stream, alias, source, found.hidden)
    return _of_query(found.select, found.namespace, found.relation, alias, source)


def _of_query(select: Select, namespace: Namespace, known: Relation | None, alias: str, source: FromItem) -> FromStream:
    """The stream of a query in FROM; `known` is what the query gives if WITH has bound it already."""
    sql = source.position.text
    projected = _projected_stream(select, namespace, sql)
    if projected is None:
        return _of_relation(known or _bind(select, namespace, sql), alias, source)
    stream, columns = projected
    return FromStream(alias, stream, columns, source)


def _of_stream(found: Stream, alias: str, source: FromItem, hidden: frozenset[str] = frozenset()) -> FromStream:
    return FromStream(
        alias, found, {name: plain_column(name) for name in own_columns(found) if name not in hidden}, source
    )


def _of_relation(relation: Relation, alias: str, source: FromItem) -> FromStream:
    with at(source.position):
        return _of_stream(relation.as_stream(alias), alias, source)


def _projected_stream(query: Select, namespace: Namespace, sql: str) -> tuple[Stream, Mapping[str, Expression]] | None:
    """The filtered stream that a query takes columns of, and these columns; None if the query does more than that."""
    block = query.blocks[0]
    if len(query.blocks) > 1 or block.joined or block.distinct or is_grouped(block):
        return None
    rows = _from(block, _with_named(query, namespace, sql), sql)
    return rows.names.streams[0], _selected(block, rows)


# UNION ALL


def _united(branches: Sequence[Relation], query: Select) -> Relation:
    """All rows of all branches; the columns are called as in the first branch."""
    first = branches[0].schema
    streams = [_branch_stream(branch, first, f"branch_{i + 1}", query.blocks[i]) for i, branch in enumerate(branches)]
    with at(query.position):
        return RowsRelation(union(*_with_one_key(streams)))


def _branch_stream(branch: Relation, first: pa.Schema, name: str, block: SelectBlock) -> Stream:
    own, names = branch.schema.names, first.names
    _check_columns(branch.schema, first, block)
    with at(block.position):
        found = branch.as_stream(name)
        if own != names:
            found = found.with_(select={name: plain_column(each) for name, each in zip(names, own, strict=True)})
        return found


def _check_columns(schema: pa.Schema, first: pa.Schema, block: SelectBlock) -> None:
    """Raise unless the columns of a SELECT have the types of those of the first SELECT."""
    if len(schema) != len(first):
        message = f"this SELECT has {len(schema)} columns, and the first one {len(first)}"
        raise SqlError(message, block.position, expected=f"{len(first)} columns")
    for field, wanted in zip(schema, first, strict=True):
        if field.type != wanted.type:
            message = (
                f"{field.name!r} is of type {field.type}, and {wanted.name!r} of the first SELECT of {wanted.type}"
            )
            raise SqlError(f"{message}: cast one of them", block.position, expected=str(wanted.type))


def _with_one_key(streams: Sequence[Stream]) -> list[Stream]:
    """The streams with their key if all have the same one, else without any."""
    keys = {each.spec.key for each in streams}
    return list(streams) if len(keys) == 1 else [each.with_(key=()) for each in streams]
