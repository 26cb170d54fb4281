"""Tables and DataFrames that are arguments of `pt.sql`: the source 'given' of its CREATE STREAM statements.

The statement declares what the argument of its name is; columns that it lists get the types that it says.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from punctuated.api.stream import is_frame
from punctuated.arrow.any_table import as_table
from punctuated.bind.streams import Stream
from punctuated.errors import StreamError
from punctuated.sql.parse.syntax import CreateStream, match
from punctuated.sql.sources.schemas import arrow_type
from punctuated.sql.sources.spark import spark_identifier

GIVEN = "given"


class ArgumentSources:
    """Opens a stream as the argument of its name."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments

    def open(self, statement: CreateStream) -> Any:
        """The table or DataFrame of the statement's name."""
        if statement.source != GIVEN:
            raise StreamError(
                f"a query is over data that are given: write FROM '{GIVEN}'; {statement.source!r} is for scripts, "
                "which `punctuated run` runs"
            )
        name = match(statement.name, self._arguments)
        if name is None:
            raise StreamError(f"there are no data of this name: pt.sql(…, {statement.name}=table)")
        return _checked_data(self._arguments[name], statement)


def _checked_data(argument: Any, statement: CreateStream) -> Any:
    """An Arrow table or a DataFrame with the columns of the statement; raises for anything else."""
    if isinstance(argument, Stream):
        raise StreamError(f"{statement.name} is a stream already: leave out CREATE STREAM, or give its table")
    data = argument if is_frame(argument) else as_table(argument)
    if data is None:
        raise StreamError(f"{statement.name} must be a table or a DataFrame, not {type(argument).__name__}")
    if statement.options:
        options = ", ".join(statement.options)
        raise StreamError(f"{statement.name} is given, and takes no options: leave out {options}")
    return _typed(data, statement) if statement.columns else data


def _typed(data: Any, statement: CreateStream) -> Any:
    """All columns of the data; those that the statement lists have the types that it says."""
    known, wanted = list(data.schema.names), dict[str, str]()
    for name, dtype in statement.columns:
        found = match(name, known)
        if found is None:
            raise StreamError(f"{statement.name} has no column {name!r}; it has: {', '.join(known)}")
        wanted[found] = dtype
    if is_frame(data):
        return data.withColumns({name: data[spark_identifier(name)].cast(dtype) for name, dtype in wanted.items()})
    try:
        return data.cast(pa.schema([_field(each, wanted.get(each.name)) for each in data.schema]))
    except pa.ArrowException as error:
        raise StreamError(f"{statement.name} does not fit its columns: {str(error).splitlines()[0]}") from error


def _field(field: pa.Field, dtype: str | None) -> pa.Field:
    return field if dtype is None else field.with_type(arrow_type(dtype))
