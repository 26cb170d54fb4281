"""Moments in text files: with an offset or without one, which then is UTC, as in the sessions of `punctuated run`."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json

from punctuated.errors import StreamError
from punctuated.model.arguments import hint_of
from punctuated.sql.parse.syntax import CreateStream
from punctuated.sql.sources.options import PATH, local_path, option_named, take_option, truth_of
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
_PLAIN = pa.timestamp("us")
_SAME_ROWS = (PATH, "lane", "maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "latestFirst", "fileNameOnly")
_OPTIONS = {"csv": ("header", "sep", "delimiter")}
_READ_HERE = (GENERATOR, PARQUET, DELTA, "csv", "json")


def as_text(columns: pa.Schema) -> pa.Schema:
    """The columns as they are read: moments as text, for Arrow wants an offset in each of them or in none."""
    return pa.schema(pa.field(each.name, pa.string() if _is_instant(each.type) else each.type) for each in columns)


def with_moments(table: pa.Table, columns: pa.Schema) -> pa.Table:
    """What was read so, moments as such."""
    for place, field in enumerate(columns):
        if _is_instant(field.type) and pa.types.is_string(table.schema.field(place).type):
            table = table.set_column(place, field, _moments(table.column(place)).cast(field.type))
    return table


def _is_instant(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(dtype) and dtype.tz is not None)


def _moments(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    has_offset, nothing = pc.match_substring_regex(texts, _OFFSET), pa.scalar(None, pa.string())
    placed = pc.if_else(has_offset, texts, nothing).cast(pa.timestamp("us", "UTC"))
    plain = pc.if_else(has_offset, nothing, texts).cast(_PLAIN)
    return pc.coalesce(placed, pc.assume_timezone(plain, "UTC"))


# Sources as tables of this process, so that a script can be tried without Spark: all that is there, read by Arrow.


class TableSources:
    """Reads each source to its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, statement: CreateStream) -> pa.Table:
        """A table, with the columns of the statement in their order."""
        if statement.source not in _READ_HERE:
            raise StreamError(
                f"stream {statement.name!r} reads {statement.source!r}, which needs Spark; without it there are "
                f"{', '.join(_READ_HERE)}"
            )
        columns, options = columns_of(statement, self._folder), options_of(statement, self._folder)
        if is_endless(statement, self._folder):
            raise StreamError(f"stream {statement.name!r} has no end: give OPTIONS (rows …), or (auctions …)")
        _check_read_here(statement, options)
        try:
            table = _read(statement.source, options, columns)
        except (OSError, pa.ArrowException) as error:
            told = str(error).splitlines()[0]
            raise StreamError(f"stream {statement.name!r} cannot be read as {statement.source!r}: {told}") from error
        return _as_declared(table, columns, statement.name)


def _check_read_here(statement: CreateStream, options: Mapping[str, str]) -> None:
    """Raise if an option would change what Spark reads, and nothing here."""
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
    return with_moments(pa.concat_tables([read(file, options, as_text(columns)) for file in files]), columns)


def _generated(options: Mapping[str, str]) -> pa.Table:
    from punctuated.spark.source.auctions import auction_table, is_auction_stream, read_auction_options
    from punctuated.spark.source.generated import read_options

    if is_auction_stream(options):
        return auction_table(read_auction_options(options).stream)
    ours = read_options(options).stream
    assert ours.rows is not None, "a stream without an end was refused before"
    parameters = (ours.seed, ours.gap, ours.start, ours.ahead, ours.punctuations, ours.first_key)
    return generate(ours.name, ours.rows, *parameters)


def _files(path: str, source: str) -> list[Path]:
    """The files at a path; what Spark hides is hidden."""
    place = local_path(path)
    if place is None:
        raise StreamError(f"{path!r} is not on this host: without Spark, {source!r} files must be")
    found = [place] if place.is_file() else sorted(each for each in place.rglob("*") if each.is_file())
    found = found or sorted(place.parent.glob(place.name))
    shown = [
        each for each in found if not any(part.startswith(("_", ".")) for part in each.relative_to(place.parent).parts)
    ]
    if not shown:
        raise StreamError(f"there are no files at {path!r}")
    return shown


def _csv(file: Path, options: Mapping[str, str], columns: pa.Schema) -> pa.Table:
    """As Spark reads them: by place, with a header only if an option says so."""
    given = dict(options)
    header = truth_of("header", take_option("header", given) or "false")
    delimiter = take_option("sep", given) or take_option("delimiter", given) or ","
    if len(delimiter) != 1:
        raise StreamError(f"{delimiter!r} between columns needs Spark; leave out --tables, or give one character")
    reading = pa_csv.ReadOptions(column_names=columns.names, skip_rows=int(header))
    parsing = pa_csv.ParseOptions(delimiter=delimiter)
    converting = pa_csv.ConvertOptions(column_types=columns, strings_can_be_null=True, quoted_strings_can_be_null=False)
    return pa_csv.read_csv(file, reading, parsing, converting)


def _json(file: Path, options: Mapping[str, str], columns: pa.Schema) -> pa.Table:
    return pa_json.read_json(file, parse_options=pa_json.ParseOptions(explicit_schema=columns))


def _as_declared(table: pa.Table, columns: pa.Schema, stream: str) -> pa.Table:
    """The columns of the statement, with their types."""
    try:
        return table.select(columns.names).cast(columns)
    except (KeyError, pa.ArrowException) as error:
        raise StreamError(f"stream {stream!r}: what was read does not fit its columns: {error}") from error
