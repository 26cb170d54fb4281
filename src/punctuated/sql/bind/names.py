"""What a name in a query means: a stream or a query in FROM, a column of one of them, a column of the results.

A name is matched whatever its case, unless it is in quotes or two names differ by nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pyarrow as pa
from sqlglot import exp

from punctuated.api.stream import is_frame, is_join, stream
from punctuated.bind.streams import Stream
from punctuated.output.columns import payload_of
from punctuated.runtime.lineage import origin_of
from punctuated.sql.bind.relation import Relation
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unknown, unsupported
from punctuated.sql.parse.syntax import Name, Select, match

_ONE_SIDED = ("semi", "anti")


# Streams and queries


def is_length(value: Any) -> bool:
    """Whether an argument of `pt.sql` is a length of time, and no stream."""
    return isinstance(value, str | int | timedelta) and not isinstance(value, bool)


@dataclass(frozen=True)
class CreatedStream:
    """A stream, and those of its columns that no query sees: flags that are computed."""

    stream: Stream
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True)
class NamedQuery:
    """A query that WITH has named: its syntax, the names that it may use, and what it gives."""

    select: Select
    namespace: "Namespace" = field(repr=False)
    relation: Relation


@dataclass(frozen=True)
class Namespace:
    """The names that a query may use: arguments of `pt.sql` or streams of a script, and queries of WITH."""

    arguments: Mapping[str, Any]
    queries: Mapping[str, NamedQuery] = field(default_factory=dict)

    def with_query(self, name: str, select: Select, relation: Relation) -> "Namespace":
        """These names and that of one more query."""
        return replace(self, queries={**self.queries, name: NamedQuery(select, self, relation)})

    def find(self, name: Name) -> CreatedStream | NamedQuery:
        """The stream or the query that a name in FROM means."""
        found = match(name.text, self.queries, quoted=name.quoted)
        if found is not None:
            return self.queries[found]
        streams = [each for each, argument in self.arguments.items() if not is_length(argument)]
        found = match(name.text, streams, quoted=name.quoted)
        if found is None:
            raise unknown("stream", name.text, [*self.queries, *streams], name.position)
        argument = self.arguments[found]
        return argument if isinstance(argument, CreatedStream) else CreatedStream(_as_stream(argument, name))


def _as_stream(argument: Any, name: Name) -> Stream:
    if isinstance(argument, Stream):
        return argument
    if is_join(argument) or origin_of(argument) is not None:
        with at(name.position):
            chained: Stream = stream(argument, name=name.text)
            return chained
    kind = "a DataFrame" if is_frame(argument) else f"of type {type(argument).__name__}"
    message = f"{name.text} is {kind}, and its times are not known: give pt.stream(…, time=…) in its place"
    raise SqlError(message, name.position)


# Columns


@dataclass(frozen=True)
class Ref:
    """A column of one of the streams in FROM."""

    side: int  # the index of the stream in FROM
    name: str


@dataclass(frozen=True)
class Scope:
    """The streams of a FROM: their aliases and their visible columns."""

    sql: str = field(repr=False)
    aliases: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    equal: tuple[frozenset[Ref], ...] = ()  # columns of the join key: a name without a stream may mean any of them

    def find(self, node: exp.Column) -> Ref:
        """The column that a name in an expression means."""
        position = position_of(node, self.sql)
        self._refuse_fields(node, position)
        if len(node.parts) > 2:
            raise unsupported("a name with two dots", position, "write stream.column")
        if node.table:
            side = self.stream(node.table, position, quoted=bool(node.args["table"].quoted))
            return self._of_stream(side, node, position)
        return self._of_any(node, position)

    def _refuse_fields(self, node: exp.Column, position: SourceSpan) -> None:
        """Raise for `struct.field`, which looks like `stream.column`."""
        *owners, name = [each.name for each in node.parts]
        of_stream = owners[:1] if len(owners) == 2 and match(owners[0], self.aliases) is not None else []
        is_stream = len(owners) == 1 and match(owners[0], self.aliases) is not None
        column = owners[len(of_stream) :]
        if len(column) == 1 and not is_stream and any(match(column[0], names) for names in self.columns):
            raise unsupported("a field behind a dot", position, f"write FIELD({'.'.join(owners)}, '{name}')")

    def stream(self, alias: str, position: SourceSpan, *, quoted: bool = False) -> int:
        """The index in FROM of the stream with this alias."""
        found = match(alias, self.aliases, quoted=quoted)
        if found is None:
            raise unknown("stream", alias, self.aliases, position, "FROM")
        return self.aliases.index(found)

    def refs(self, side: int) -> list[Ref]:
        """All visible columns of one stream."""
        return [Ref(side, name) for name in self.columns[side]]

    def _of_stream(self, side: int, node: exp.Column, position: SourceSpan) -> Ref:
        name = match(node.name, self.columns[side], quoted=is_quoted(node))
        if name is None:
            raise unknown("column", node.name, self.columns[side], position, self.aliases[side])
        return Ref(side, name)

    def _of_any(self, node: exp.Column, position: SourceSpan) -> Ref:
        found = [
            Ref(side, name)
            for side, names in enumerate(self.columns)
            if (name := match(node.name, names, quoted=is_quoted(node))) is not None
        ]
        if not found:
            raise unknown("column", node.name, [name for names in self.columns for name in names], position)
        if len(found) > 1 and not any(group.issuperset(found) for group in self.equal):
            where = " and ".join(self.aliases[ref.side] for ref in found)
            message = f"column {node.name!r} is in {where}: write {self.aliases[found[0].side]}.{node.name}"
            raise SqlError(message, position)
        return found[0]


def is_quoted(node: exp.Column) -> bool:
    """Whether a column's name was written in quotes."""
    return bool(node.this.args.get("quoted"))


# Results


@dataclass(frozen=True)
class ResultNames:
    """The names that columns of joined streams have in the results, by the rule of `pt.join`."""

    streams: tuple[Stream, ...]
    how: str

    def of(self, side: int, column: str) -> str:
        """The name in the results of a column of a stream."""
        spec = self.streams[side].spec
        if column in spec.key:
            return self.streams[0].spec.key[spec.key.index(column)]
        if len(self.streams) > 2:
            return f"{spec.name}_{column}"
        if len(self.streams) == 1 or column not in self._taken(side):
            return column
        return f"{column}_{('left', 'right')[side]}"

    def columns(self) -> list[tuple[int, str]]:
        """All columns of the results, by stream and name: the key once, then the others of each stream."""
        key = [(0, name) for name in self.streams[0].spec.key]
        return key + [(side, name) for side in range(len(self.streams)) for name in self._payload(side)]

    def schema(self) -> pa.Schema:
        """The names and types of the results."""
        return pa.schema(
            [(self.of(*each), self.streams[each[0]].schema.field(each[1]).type) for each in self.columns()]
        )

    def _payload(self, side: int) -> Sequence[str]:
        return [] if side == 1 and self.how in _ONE_SIDED else payload_of(self.streams[side].spec)

    def _taken(self, side: int) -> set[str]:
        return {*self.streams[0].spec.key, *self._payload(1 - side)}
