"""`CREATE STREAM … FROM 'given'`: what is said of data that a query is given by the same name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from punctuated.api.stream import is_frame, is_join, stream
from punctuated.arrow.any_table import as_table
from punctuated.bind.streams import Stream
from punctuated.errors import StreamError
from punctuated.runtime.lineage import origin_of
from punctuated.sql.bind.names import match
from punctuated.sql.bind.windows import is_length
from punctuated.sql.parse.errors import SqlError, at, unknown
from punctuated.sql.parse.syntax import CreateStream, Name, Select
from punctuated.sql.sources.sources import arrow_type
from punctuated.sql.sources.spark import quoted

if TYPE_CHECKING:
    from punctuated.sql.bind.relation import Relation

GIVEN = "given"


class GivenSources:
    """Tables and DataFrames of this program, by name."""

    def __init__(self, things: Mapping[str, Any]) -> None:
        self._things = things

    def open(self, statement: CreateStream) -> Any:
        """The data of the statement's name."""
        if statement.source != GIVEN:
            raise StreamError(
                f"a query is over data that are given: write FROM '{GIVEN}'; {statement.source!r} is for scripts, "
                "which `punctuated run` runs"
            )
        name = match(statement.name, self._things)
        if name is None:
            raise StreamError(f"there are no data of this name: pt.sql(…, {statement.name}=table)")
        return _with_columns(self._things[name], statement)


def _with_columns(thing: Any, statement: CreateStream) -> Any:
    """A table of Arrow, or a DataFrame, that has the columns of the statement."""
    if isinstance(thing, Stream):
        raise StreamError(f"{statement.name} is a stream already: leave out CREATE STREAM, or give its table")
    data = thing if is_frame(thing) else as_table(thing)
    if data is None:
        raise StreamError(f"{statement.name} must be a table or a DataFrame, not {type(thing).__name__}")
    if statement.options:
        given = ", ".join(statement.options)
        raise StreamError(f"{statement.name} is given, and takes no options: leave out {given}")
    return _typed(data, statement) if statement.columns else data


def _typed(data: Any, statement: CreateStream) -> Any:
    """All columns; those that a statement names have the types that it says."""
    known, wanted = list(data.schema.names), dict[str, str]()
    for name, dtype in statement.columns:
        found = match(name, known)
        if found is None:
            raise StreamError(f"{statement.name} has no column {name!r}; it has: {', '.join(known)}")
        wanted[found] = dtype
    if is_frame(data):
        return data.withColumns({name: data[quoted(name)].cast(dtype) for name, dtype in wanted.items()})
    try:
        return data.cast(pa.schema([_field(each, wanted.get(each.name)) for each in data.schema]))
    except pa.ArrowException as error:
        raise StreamError(f"{statement.name} does not fit its columns: {str(error).splitlines()[0]}") from error


def _field(field: pa.Field, dtype: str | None) -> pa.Field:
    return field if dtype is None else field.with_type(arrow_type(dtype))


# What names stand for: streams and lengths of time that a query is given, and queries that WITH has named.


@dataclass(frozen=True)
class Declared:
    """A stream that a script creates, and its columns that no query sees: flags that are computed."""

    stream: Stream
    hidden: frozenset[str]


@dataclass(frozen=True)
class NamedQuery:
    """A query that WITH has named: its text, what it could use, and what it gives."""

    select: Select
    given: "Given" = field(repr=False)
    relation: "Relation"


@dataclass(frozen=True)
class Given:
    """Names that a query may use."""

    things: Mapping[str, Any]
    queries: Mapping[str, NamedQuery] = field(default_factory=dict)

    def named(self, name: str, select: Select, relation: "Relation") -> "Given":
        """One more query by its name."""
        return replace(self, queries={**self.queries, name: NamedQuery(select, self, relation)})

    def find(self, name: Name) -> Declared | NamedQuery:
        """The stream or the query of this name."""
        found = match(name.text, self.queries, quoted=name.quoted)
        if found is not None:
            return self.queries[found]
        streams = [each for each, thing in self.things.items() if not is_length(thing)]
        found = match(name.text, streams, quoted=name.quoted)
        if found is None:
            raise unknown("stream", name.text, [*self.queries, *streams], name.position)
        thing = self.things[found]
        return thing if isinstance(thing, Declared) else Declared(_as_stream(thing, name), frozenset())


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
