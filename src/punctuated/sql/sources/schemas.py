"""The columns of a source, wherever a script runs.

Columns that a statement lists are the schema. Without them the source must know its own: generated streams do, and so
do Parquet files and Delta tables that are there. Nothing here needs Spark or Java.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.dataset as ds
from sqlglot import exp
from sqlglot.errors import SqlglotError

from punctuated.errors import ColumnError, StreamError
from punctuated.model.arguments import closest_name
from punctuated.sql.parse.syntax import CreateStream
from punctuated.sql.sources.options import PATH, check_spelling, option_named, with_path
from punctuated.storage.tables.location import locate

_T = exp.DataType.Type
_INSTANT = pa.timestamp("us", tz="UTC")
_TYPES = {
    _T.BOOLEAN: pa.bool_(),
    _T.TINYINT: pa.int8(),
    _T.SMALLINT: pa.int16(),
    _T.INT: pa.int32(),
    _T.BIGINT: pa.int64(),
    _T.FLOAT: pa.float32(),
    _T.DOUBLE: pa.float64(),
    _T.TEXT: pa.string(),
    _T.VARCHAR: pa.string(),
    _T.CHAR: pa.string(),
    _T.BINARY: pa.binary(),
    _T.DATE: pa.date32(),
    _T.TIMESTAMP: _INSTANT,
    _T.TIMESTAMPTZ: _INSTANT,
    _T.TIMESTAMPLTZ: _INSTANT,
    _T.TIMESTAMPNTZ: pa.timestamp("us"),
}
_PRECISION, _SCALE = 10, 0  # of DECIMAL without numbers, as in Spark
GENERATOR, PARQUET, DELTA, RATE = "generator", "parquet", "delta", "rate"
FILES = (PARQUET, "csv", "json", "orc", "text", "avro", "xml")
_OF_RATE = pa.schema([("timestamp", pa.timestamp("us", tz="UTC")), ("value", pa.int64())])
_SOURCES = (GENERATOR, DELTA, RATE, *FILES, "rate-micro-batch", "socket", "kafka")
_WILDCARDS = frozenset("*?[{")


# Types: those of Spark's SQL and their usual synonyms


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a type of SQL.

    >>> arrow_type("BIGINT"), arrow_type("decimal(12, 2)"), arrow_type("array<string>")
    (DataType(int64), Decimal128Type(decimal128(12, 2)), ListType(list<item: string>))
    """
    try:
        return _arrow_type(exp.DataType.build(text, dialect="spark"))
    except (SqlglotError, KeyError, ValueError) as error:
        raise ColumnError(
            f"{text} is no type of a column; types are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, "
            "DECIMAL(p, s), STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, ARRAY<…>, MAP<…, …> and STRUCT<name: …>"
        ) from error


def schema_of(columns: tuple[tuple[str, str], ...]) -> pa.Schema:
    """The schema that a statement lists, from names and types of SQL."""
    return pa.schema([(name, arrow_type(text)) for name, text in columns])


def _arrow_type(tree: exp.DataType) -> pa.DataType:
    inner = tree.expressions
    if tree.this is _T.DECIMAL:
        sizes = [int(each.name) for each in inner]
        return pa.decimal128(*(sizes + [_PRECISION, _SCALE][len(sizes) :]))
    if tree.this is _T.ARRAY:
        return pa.list_(_arrow_type(inner[0]))
    if tree.this is _T.MAP:
        return pa.map_(*map(_arrow_type, inner))
    if tree.this is _T.STRUCT:
        return pa.struct([(each.name, _arrow_type(each.args["kind"])) for each in inner])
    return _TYPES[tree.this]


# Paths in a script: relative ones are meant from the folder that the script lies in.


# Columns of a stream


class SqlSources(Protocol):
    """Opens the sources of CREATE STREAM statements, in the place where a query runs."""

    def open(self, statement: CreateStream) -> Any:
        """The data of a stream, as `pt.stream` takes them."""


class OutlineSources:
    """Opens each stream as a table without rows: enough to check a script and to show its plans."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, statement: CreateStream) -> pa.Table:
        """An empty table with the columns of the stream."""
        return columns_of(statement, self._folder).empty_table()


def options_of(statement: CreateStream, folder: Path) -> dict[str, str]:
    """The options of a stream, checked, with an absolute path; `folder` is that of the script."""
    options = with_path(statement.options, folder)
    check_spelling(statement.name, statement.source, options)
    if statement.source in (*FILES, DELTA) and option_named(PATH, options) is None:
        raise StreamError(f"stream {statement.name!r} reads {statement.source!r} files: give OPTIONS (path '…')")
    return options


def columns_of(statement: CreateStream, folder: Path) -> pa.Schema:
    """The names and types of the columns that a stream reads; `folder` is that of the script."""
    options = options_of(statement, folder)
    own = generated_columns(options) if statement.source == GENERATOR else None
    if statement.columns:
        listed = schema_of(statement.columns)
        return listed if own is None else _chosen(listed, own, statement.name)
    if own is not None:
        return own
    if statement.source == RATE:
        return _OF_RATE
    path = options[option_named(PATH, options) or PATH] if statement.source in (PARQUET, DELTA) else ""
    if statement.source == PARQUET:
        return _in_utc(parquet_files(path).schema)
    if statement.source == DELTA:
        return _in_utc(pa.schema(delta_table(path).schema().to_arrow()))
    nearest = None if statement.source in _SOURCES else closest_name(statement.source, _SOURCES)
    hint = f". Did you mean {nearest!r}?" if nearest else ""
    raise StreamError(
        f"stream {statement.name!r} reads {statement.source!r}, which does not say what its columns are: name them in "
        f"CREATE STREAM {statement.name} (column TYPE, …){hint}"
    )


def _in_utc(columns: pa.Schema) -> pa.Schema:
    """The columns of files with all time zones as UTC: Spark does not keep others, so no place does."""
    return pa.schema(
        pa.field(each.name, pa.timestamp(each.type.unit, "UTC") if _has_zone(each.type) else each.type)
        for each in columns
    )


def _has_zone(dtype: pa.DataType) -> bool:
    return pa.types.is_timestamp(dtype) and dtype.tz is not None


def _chosen(listed: pa.Schema, own: pa.Schema, stream: str) -> pa.Schema:
    """The columns of a generated stream that a statement lists; raises if one is missing or of another type."""
    for field in listed:
        if field.name not in own.names:
            raise ColumnError(f"stream {stream!r} has no column {field.name!r}; it has {', '.join(own.names)}")
        if field.type != own.field(field.name).type:
            raise ColumnError(
                f"stream {stream!r}: column {field.name!r} is generated as {own.field(field.name).type}, not as "
                f"{field.type}; leave out the columns, or give the type that it has"
            )
    return pa.schema([own.field(name) for name in listed.names])


# Kinds of sources


def generated_columns(options: Mapping[str, str]) -> pa.Schema:
    """The columns of a generated stream; raises if an option is wrong."""
    from punctuated.spark.source.auctions import AuctionStream, auction_table, is_auction_stream, read_auction_options
    from punctuated.spark.source.generated import read_options
    from punctuated.streams import generate

    if is_auction_stream(options):
        return auction_table(AuctionStream(read_auction_options(options).stream.name, auctions=1)).schema
    if option_named("auctions", options) is not None:
        name = options.get(option_named("stream", options) or "", "")
        raise StreamError(f"option stream={name!r}: the streams that have auctions are 'auctions' and 'bids'")
    stream = read_options(options).stream
    return generate(stream.name, 0, punctuations=stream.punctuations).schema


def is_endless(statement: CreateStream, folder: Path) -> bool:
    """Whether rows of a stream come forever, so that it cannot be read to the end."""
    if statement.source == GENERATOR:
        names = {name.lower() for name in options_of(statement, folder)}
        return not names & {"rows", "auctions"}
    return statement.source in (RATE, "rate-micro-batch", "socket")


def parquet_files(path: str) -> ds.Dataset:
    """The Parquet files at a path: a file, a folder or a pattern."""
    try:
        files, inside = locate(path)
        found = inside if not _WILDCARDS & set(inside) else list(_matching(inside))
        return ds.dataset(found, filesystem=files, format=PARQUET, partitioning="hive")
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StreamError(
            f"the columns of {path!r} are not known: {str(error).splitlines()[0]}. Name them in the statement, or put "
            "Parquet files there first"
        ) from error


def _matching(pattern: str) -> Iterator[str]:
    found = sorted(str(path) for path in Path("/").glob(pattern.lstrip("/")) if not path.name.startswith(("_", ".")))
    if not found:
        raise ValueError("there are no such files")
    for path in found:
        yield from ([path] if Path(path).is_file() else sorted(str(each) for each in Path(path).rglob("*.parquet")))


def delta_table(path: str) -> Any:
    """The Delta table at a path, opened by the package deltalake."""
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ModuleNotFoundError as error:
        raise StreamError('Delta tables need the package deltalake: pip install "punctuated[delta]"') from error
    try:
        return DeltaTable(path)
    except (DeltaError, OSError) as error:
        raise StreamError(f"there is no Delta table at {path!r}: {error}") from error
