"""`CREATE STREAM … FROM 'given'`: what is said of data that a query is given by the same name."""

from collections.abc import Mapping
from typing import Any

from punctuated.api.any_table import as_table
from punctuated.api.stream import Stream, is_frame
from punctuated.errors import StreamError
from punctuated.sql.resolve import match
from punctuated.sql.sources import Opened
from punctuated.sql.syntax import CreateStream

GIVEN = "given"


class GivenSources:
    """Tables and DataFrames of this program, by name."""

    def __init__(self, things: Mapping[str, Any]) -> None:
        self._things = things

    def open(self, statement: CreateStream) -> Opened:
        """The data of the statement's name."""
        if statement.source != GIVEN:
            raise StreamError(
                f"a query is over data that are given: write FROM '{GIVEN}'; {statement.source!r} is for scripts, "
                "which `punctuated run` runs"
            )
        name = match(statement.name, self._things)
        if name is None:
            raise StreamError(f"there are no data of this name: pt.sql(…, {statement.name}=table)")
        return Opened(_with_columns(self._things[name], statement), GIVEN)


def _with_columns(thing: Any, statement: CreateStream) -> Any:
    """A table of Arrow, or a DataFrame, that has the columns of the statement."""
    if isinstance(thing, Stream):
        raise StreamError(f"{statement.name} is a stream already: leave out CREATE STREAM, or give its table")
    data = thing if is_frame(thing) else as_table(thing)
    if data is None:
        raise StreamError(f"{statement.name} must be a table or a DataFrame, not {type(thing).__name__}")
    for name, _ in statement.columns:
        if match(name, data.schema.names) is None:
            raise StreamError(f"{statement.name} has no column {name!r}; it has: {', '.join(data.schema.names)}")
    return data
