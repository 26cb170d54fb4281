"""A block over a single stream: its filters are part of the stream."""

from collections.abc import Sequence
from typing import Any

from punctuated.api.union import only
from punctuated.bind.streams import Stream
from punctuated.expressions.nodes import Expression, over
from punctuated.sql.bind.core import Core, Select
from punctuated.sql.bind.expressions import Translator, checked_predicate
from punctuated.sql.bind.given import Given
from punctuated.sql.bind.inputs import Input, here
from punctuated.sql.bind.names import ResultNames, Scope
from punctuated.sql.bind.predicates import Part, parts_of
from punctuated.sql.parse.dialect import place_of
from punctuated.sql.parse.errors import Place, SqlError, at, unsupported
from punctuated.sql.parse.syntax import Block


def read_one(block: Block, one: Input, given: Given, sql: str) -> Core:
    """The rows of one stream that WHERE keeps."""
    if block.near:
        raise SqlError("WINDOW is between streams, and FROM has one", block.near[0].position)
    window = one.source.window
    if window is not None and window.kind != "unbounded":
        instead = "leave it out; the window of a query in FROM stands behind the query"
        raise unsupported("a window of a stream that is not joined", window.position, instead)
    scope = scope_of([one], sql)
    filters = [stream_filter(part, one, scope) for part in parts_of(block.where, scope, in_where=True)]
    alone = one.declared(None, filters, given.things, windowed=False)
    names = ResultNames((alone,), "inner")
    return Core(scope, (one,), names, lambda select: by_itself(alone, select, one.source.position))


def by_itself(alone: Stream, select: Select | None, place: Place) -> Any:
    """One stream without a join."""
    with at(place):
        return only(alone, select=select)


def scope_of(inputs: Sequence[Input], sql: str) -> Scope:
    """What can be seen of the streams of a FROM; raises if two have one name."""
    for number, one in enumerate(inputs):
        if one.alias in [each.alias for each in inputs[:number]]:
            raise SqlError(f"two streams are called {one.alias!r}: give one an alias", one.source.position)
    return Scope(sql, tuple(one.alias for one in inputs), tuple(tuple(one.columns) for one in inputs))


def stream_filter(part: Part, one: Input, scope: Scope) -> Expression:
    """A predicate on one stream, over the columns that it really has."""
    translator = Translator(scope.sql, lambda node: here(scope.find(node).name))
    value = over(translator.translate(part.node), one.columns)
    return checked_predicate(value, [one.stream.schema], place_of(part.node, scope.sql))
