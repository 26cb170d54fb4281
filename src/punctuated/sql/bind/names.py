"""Names: which column of which stream in FROM a name in the query means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from punctuated.api.stream import is_frame, is_join, stream
from punctuated.bind.streams import Stream
from punctuated.output.columns import payload_of
from punctuated.runtime.lineage import origin_of
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unknown, unsupported
from punctuated.sql.parse.syntax import Name, Select, match

if TYPE_CHECKING:
    from punctuated.sql.bind.relation import Relation


_ONE_SIDED = ("semi", "anti")


@dataclass(frozen=True)
class Ref:
    """A column of the stream at a place in FROM."""

    place: int
    name: str


@dataclass(frozen=True)
class Scope:
    """The streams of a FROM: their aliases and the columns that can be seen of each."""

    sql: str = field(repr=False)
    aliases: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    equal: tuple[frozenset[Ref], ...] = ()  # columns of the join key: any of them may be meant by a plain name

    def find(self, node: exp.Column) -> Ref:
        """The column that is meant."""
        place = position_of(node, self.sql)
        self._refuse_fields(node, place)
        if len(node.parts) > 2:
            raise unsupported("a name with two dots", place, "write stream.column")
        if node.table:
            side = self.stream(node.table, place, quoted=bool(node.args["table"].quoted))
            return self._of_stream(side, node, place)
        return self._of_any(node, place)

    def _refuse_fields(self, node: exp.Column, place: SourceSpan) -> None:
        """`struct.field` looks like `stream.column`."""
        *owners, name = [each.name for each in node.parts]
        of_stream = owners[:1] if len(owners) == 2 and match(owners[0], self.aliases) is not None else []
        is_stream = len(owners) == 1 and match(owners[0], self.aliases) is not None
        column = owners[len(of_stream) :]
        if len(column) == 1 and not is_stream and any(match(column[0], names) for names in self.columns):
            raise unsupported("a field behind a dot", place, f"write FIELD({'.'.join(owners)}, '{name}')")

    def stream(self, alias: str, place: SourceSpan, *, quoted: bool = False) -> int:
        """The place in FROM of a stream."""
        found = match(alias, self.aliases, quoted=quoted)
        if found is None:
            raise unknown("stream", alias, self.aliases, place, "FROM")
        return self.aliases.index(found)

    def refs(self, side: int) -> list[Ref]:
        """All columns of one stream."""
        return [Ref(side, name) for name in self.columns[side]]

    def _of_stream(self, side: int, node: exp.Column, place: SourceSpan) -> Ref:
        name = match(node.name, self.columns[side], quoted=is_quoted(node))
        if name is None:
            raise unknown("column", node.name, self.columns[side], place, self.aliases[side])
        return Ref(side, name)

    def _of_any(self, node: exp.Column, place: SourceSpan) -> Ref:
        found = [
            Ref(side, name)
            for side, names in enumerate(self.columns)
            if (name := match(node.name, names, quoted=is_quoted(node))) is not None
        ]
        if not found:
            raise unknown("column", node.name, [name for names in self.columns for name in names], place)
        if len(found) > 1 and not any(group.issuperset(found) for group in self.equal):
            where = " and ".join(self.aliases[ref.place] for ref in found)
            message = f"column {node.name!r} is in {where}: write {self.aliases[found[0].place]}.{node.name}"
            raise SqlError(message, place)
        return found[0]


def is_quoted(node: exp.Column) -> bool:
    """Whether a column's name was written in quotes."""
    return bool(node.this.args.get("quoted"))


# How the columns of joined streams are called in the results, by the rule of `pt.join`.


@dataclass(frozen=True)
class ResultNames:
    """Names in the results, by stream and column; `names` has them in order, the key first."""

    streams: tuple[Stream, ...]
    how: str

    def of(self, side: int, column: str) -> str:
        """What a column of a stream is called."""
        spec = self.streams[side].spec
        if column in spec.key:
            return self.streams[0].spec.key[spec.key.index(column)]
        if len(self.streams) > 2:
            return f"{spec.name}_{column}"
        if len(self.streams) == 1 or column not in self._taken(side):
            return column
        return f"{column}_{('left', 'right')[side]}"

    def columns(self) -> list[tuple[int, str]]:
        """All columns that results have: the key once, then those of each stream."""
        key = [(0, name) for name in self.streams[0].spec.key]
        return key + [(side, name) for side in range(len(self.streams)) for name in self._payload(side)]

    def schema(self) -> pa.Schema:
        """The types of the results."""
        return pa.schema(
            [(self.of(*each), self.streams[each[0]].schema.field(each[1]).type) for each in self.columns()]
        )

    def _payload(self, side: int) -> Sequence[str]:
        return [] if side == 1 and self.how in _ONE_SIDED else payload_of(self.streams[side].spec)

    def _taken(self, side: int) -> set[str]:
        return {*self.streams[0].spec.key, *self._payload(1 - side)}


def is_length(value: Any) -> bool:
    """Whether what a query is given is a length of time, and no stream."""
    return isinstance(value, str | int | timedelta) and not isinstance(value, bool)


@dataclass(frozen=True)
class DeclaredStream:
    """A stream that a script creates, and its columns that no query sees: flags that are computed."""

    stream: Stream
    hidden: frozenset[str]


@dataclass(frozen=True)
class NamedQuery:
    """A query that WITH has named: its text, what it could use, and what it gives."""

    select: Select
    given: "Namespace" = field(repr=False)
    relation: "Relation"


@dataclass(frozen=True)
class Namespace:
    """Names that a query may use."""

    things: Mapping[str, Any]
    queries: Mapping[str, NamedQuery] = field(default_factory=dict)

    def named(self, name: str, select: Select, relation: "Relation") -> "Namespace":
        """One more query by its name."""
        return replace(self, queries={**self.queries, name: NamedQuery(select, self, relation)})

    def find(self, name: Name) -> DeclaredStream | NamedQuery:
        """The stream or the query of this name."""
        found = match(name.text, self.queries, quoted=name.quoted)
        if found is not None:
            return self.queries[found]
        streams = [each for each, thing in self.things.items() if not is_length(thing)]
        found = match(name.text, streams, quoted=name.quoted)
        if found is None:
            raise unknown("stream", name.text, [*self.queries, *streams], name.position)
        thing = self.things[found]
        return thing if isinstance(thing, DeclaredStream) else DeclaredStream(_as_stream(thing, name), frozenset())


def _as_stream(thing: Any, name: Name) -> Stream:
    if isinstance(thing, Stream):
        return thing
    if is_join(thing) or origin_of(thing) is not None:
        with at(name.position):
            chained: Stream = stream(thing, name=name.text)
            return chained
    kind = "a DataFrame" if is_frame(thing) else f"of type {type(thing).__name__}"
    message = f"{name.text} is {kind}, and its times are not known: give pt.stream(…, time=…) in its place"
    raise SqlError(message, name.position)
