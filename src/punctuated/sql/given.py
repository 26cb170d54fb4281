"""What names stand for: streams and lengths of time that a query is given, and queries that WITH has named."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from punctuated.api.stream import Stream, is_frame, is_join, stream
from punctuated.bind.origins import origin_of
from punctuated.sql.errors import SqlError, at, unknown
from punctuated.sql.resolve import match
from punctuated.sql.syntax import Name, Select
from punctuated.sql.windows import is_length

if TYPE_CHECKING:
    from punctuated.sql.relation import Relation


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
