"""Sources as tables of this process, so that a script can be tried without Spark: Arrow reads all rows.

The rows are those that Spark would read; an option that would change them is refused.
"""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json

from punctuated.errors import StreamError
from punctuated.model.arguments import hint_of
from punctuated.sql.parse.syntax import CreateStream
from punctuated.sql.sources.options import PATH, local_path, option_named, read_boolean, take_option
from punctuated.sql.sources.schemas import (
    DELTA,
    GENERATOR,
    PARQUET,
    columns_of,
    delta_table,
    is_endless,
    options_of,
    parquet_files,
)
from punctuated.streams import generate

_OFFSET = r"(Z|[+-]\d\d(:?\d\d)?)$"
_WITHOUT_ZONE = pa.timestamp("us")
_SAME_ROWS = (PATH, "lane", "maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "latestFirst", "fileNameOnly")
_OPTIONS = {"csv": ("header", "sep", "delimiter")}
_WITHOUT_SPARK = (GENERATOR, PARQUET, DELTA, "csv", "json")


class TableSources:
    """Opens each source as a table of all its rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, statement: CreateStream) -> pa.Table:
        """The rows of a stream, with the columns of the statement in their order."""
        if statement.source not in _WITHOUT_SPARK:
            raise StreamError(
                f"stream {statement.name!r} reads {statement.source!r}, which needs Spark; without it there are "
                f"{', '.join(_WITHOUT_SPARK)}"
            )
        columns, options = columns_of(statement, self._folder), options_of(statement, self._folder)
        if is_endless(statement, self._folder):
            raise StreamError(f"stream {statement.name!r} has no end: give OPTIONS (rows …), or (auctions …)")
        _check_options(statement, options)
        try:
            table = _read(statement.source, options, columns)
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0]
            raise StreamError(f"stream {statement.name!r} cannot be read as {statement.source!r}: {reason}") from error
        return _as_declared(table, columns, statement.name)


def _check_options(statement: CreateStream, options: Mapping[str, str]) -> None:
    """Raise if an option would change what Spark reads but has no effect here."""
    known = {each.lower() for each in (*_SAME_ROWS, *_OPTIONS.get(statement.source, ()))}
    for name in options:
        if statement.source != GENERATOR and name.lower() not in known:
            raise StreamError(f"stream {statement.name!r}: the option {name} needs Spark; leave out --tables")


def _read(source: str, options: dict[str, str], columns: pa.Schema) -> pa.Table:
    if source == GENERATOR:
        return _generated(options)
    path = options[option_named(PATH, options) or PATH]
    if source == PARQUET:
        files = parquet_files(path)
        for name in columns.names:
            if name not in files.schema.names:
                raise StreamError(
                    f"the files have no column {name!r}; {hint_of(name, files.schema.names, 'they have')}"
                )
        return files.to_table(columns.names)
    if source == DELTA:
        return pa.table(delta_table(path).to_pyarrow_table())
    files = _files(path, source)
    read = _csv if source == "csv" else _json
    return with_instants(pa.concat_tables([read(file, options, as_text(columns)) for file in files]), columns)


def _generated(options: Mapping[str, str]) -> pa.Table:
    from punctuated.spark.source.auctions import auction_table, is_auction_stream, read_auction_options
    from punctuated.spark.source.generated import read_options

    if is_auction_stream(options):
        return auction_table(read_auction_options(options).stream)
    stream = read_options(options).stream
    assert stream.rows is not None, "a stream without an end was refused before"
    parameters = (stream.seed, stream.gap, stream.start, stream.ahead, stream.punctuations, stream.first_key)
    return generate(stream.name, stream.rows, *parameters)


def _files(path: str, source: str) -> list[Path]:
    """The files at a path, without those that Spark takes as hidden."""
    root = local_path(path)
    if root is None:
        raise StreamError(f"{path!r} is not on this host: without Spark, {source!r} files must be")
    found = [root] if root.is_file() else sorted(each for each in root.rglob("*") if each.is_file())
    found = found or sorted(root.parent.glob(root.name))
    shown = [
        each for each in found if not any(part.startswith(("_", ".")) for part in each.relative_to(root.parent).parts)
    ]
    if not shown:
        raise StreamError(f"there are no files at {path!r}")
    return shown


def _csv(file: Path, options: Mapping[str, str], columns: pa.Schema) -> pa.Table:
    """A file as Spark reads it: columns by their order, a header only if an option says so."""
    rest = dict(options)
    header = read_boolean("header", take_option("header", rest) or "false")
    delimiter = take_option("sep", rest) or take_option("delimiter", rest) or ","
    if len(delimiter) != 1:
        raise StreamError(f"{delimiter!r} between columns needs Spark; leave out --tables, or give one character")
    reading = pa_csv.ReadOptions(column_names=columns.names, skip_rows=int(header))
    parsing = pa_csv.ParseOptions(delimiter=delimiter)
    converting = pa_csv.ConvertOptions(column_types=columns, strings_can_be_null=True, quoted_strings_can_be_null=False)
    return pa_csv.read_csv(file, reading, parsing, converting)


def _json(file: Path, options: Mapping[str, str], columns: pa.Schema) -> pa.Table:
    return pa_json.read_json(file, parse_options=pa_json.ParseOptions(explicit_schema=columns))


def _as_declared(table: pa.Table, columns: pa.Schema, stream: str) -> pa.Table:
    """The columns of the statement with their types; raises if what was read does not fit them."""
    try:
        return table.select(columns.names).cast(columns)
    except (KeyError, pa.ArrowException) as error:
        raise StreamError(f"stream {stream!r}: what was read does not fit its columns: {error}") from error


# Instants in text files


def as_text(columns: pa.Schema) -> pa.Schema:
    """The columns as they are read, instants as texts: Arrow's readers want an offset in all of them or in none."""
    return pa.schema(pa.field(each.name, pa.string() if _is_instant(each.type) else each.type) for each in columns)


def with_instants(table: pa.Table, columns: pa.Schema) -> pa.Table:
    """A table that was read with texts for instants, with instants again; a text without an offset is in UTC."""
    for i, field in enumerate(columns):
        if _is_instant(field.type) and pa.types.is_string(table.schema.field(i).type):
            table = table.set_column(i, field, _instants(table.column(i)).cast(field.type))
    return table


def _is_instant(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(dtype) and dtype.tz is not None)


def _instants(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    has_offset, nothing = pc.match_substring_regex(texts, _OFFSET), pa.scalar(None, pa.string())
    zoned = pc.if_else(has_offset, texts, nothing).cast(pa.timestamp("us", "UTC"))
    plain = pc.if_else(has_offset, nothing, texts).cast(_WITHOUT_ZONE)
    return pc.coalesce(zoned, pc.assume_timezone(plain, "UTC"))
