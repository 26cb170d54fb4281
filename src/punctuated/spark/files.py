"""Files as a stream whose rows never become rows of the JVM: Spark lists the files, the pack reads them.

Spark's own file source lists them, as a `binaryFile` stream that is asked for paths and lengths only, so no content
comes through it. Spark thus takes care of what has been read, limits per trigger, restarts and exactly-once. In the
rest of this package `Files` take the place of a DataFrame, so they have those of its names that are needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.fs import FileSystem
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, explode, lit, sequence
from pyspark.sql.types import DataType, StructType

from punctuated.errors import PredicateError, StreamError
from punctuated.spark.file_columns import PARQUET, Schema, columns_of
from punctuated.spark.file_scan import LENGTH, PART, PATH, STAMP, STREAM, FileScan, PackFiles, path_column
from punctuated.spark.names import column_at, with_numbers
from punctuated.spark.pack import PACKED_DDL, Pack
from punctuated.spark.types import arrow_schema
from punctuated.tables.file_systems import parse_path

_LISTED = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"  # the columns of binaryFile
_PATH_PLACE, _LENGTH_PLACE, _N_LISTED = 0, 2, 4
_ON_DAMAGE = ("fail", "reject")


@dataclass(frozen=True)
class Files:
    """What `pt.files` gives."""

    listing: DataFrame = field(repr=False)  # the columns of binaryFile, and those in the paths
    schema: StructType
    where: pc.Expression | None = None
    rejects: bool = False
    filesystem: FileSystem | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    @property
    def isStreaming(self) -> bool:  # noqa: N802  (as of a DataFrame)
        """Whether files are read as they come."""
        return bool(self.listing.isStreaming)

    @property
    def sparkSession(self) -> SparkSession:  # noqa: N802
        """The session that lists the files."""
        return self.listing.sparkSession

    @property
    def in_paths(self) -> tuple[str, ...]:
        """The columns in the paths, as of partitioned folders."""
        return tuple(self.listing.columns[_N_LISTED:])

    def scan(self, names: Sequence[str]) -> FileScan:
        """How to read the columns of these names, and those that the filter needs."""
        whole = arrow_schema(self.schema)
        schema = pa.schema([whole.field(name) for name in names]) if self.where is None else whole
        return FileScan(schema, self.in_paths, self.where, self.rejects, self.filesystem)


def pack_files(inputs: Sequence[tuple[Files, Sequence[str], Pack]], n_parts: int, stamp: Sequence[Column]) -> DataFrame:
    """Streams of files, read by the same tasks and packed each by its own pack."""
    in_paths = {
        path_column(stream, place): files.schema[name].dataType
        for stream, (files, _, _) in enumerate(inputs)
        for place, name in enumerate(files.in_paths)
    }
    lists = [_listed(stream, files, in_paths, stamp) for stream, (files, _, _) in enumerate(inputs)]
    parts = explode(sequence(lit(0), lit(n_parts - 1))).alias(PART)
    by_part = reduce(DataFrame.unionAll, lists).select(parts, "*").repartitionById(n_parts, col(PART))
    function = PackFiles(tuple((files.scan(names), pack) for files, names, pack in inputs), n_parts)
    return by_part.mapInArrow(function, PACKED_DDL)


def _listed(stream: int, files: Files, in_paths: Mapping[str, DataType], stamp: Sequence[Column]) -> DataFrame:
    """The files of a stream as the tasks get them; other streams' columns in paths are null."""
    ours = {path_column(stream, place): column_at(_N_LISTED + place) for place in range(len(files.in_paths))}
    columns = [ours.get(name, lit(None).cast(dtype)).alias(name) for name, dtype in in_paths.items()]
    return with_numbers(files.listing).select(
        lit(stream).alias(STREAM),
        column_at(_PATH_PLACE).alias(PATH),
        column_at(_LENGTH_PLACE).alias(LENGTH),
        *columns,
        *(each.alias(STAMP) for each in stamp),
    )


def open_files(
    spark: SparkSession,
    path: str,
    *,
    schema: Schema | None,
    format: str,
    limits: Mapping[str, int | None],
    where: pc.Expression | None,
    on_damage: str,
    streaming: bool,
    filesystem: FileSystem | None,
    options: Mapping[str, Any],
) -> Files:
    """See `pt.files`."""
    _check_format(format)
    if on_damage not in _ON_DAMAGE:
        raise StreamError(f"on_damage={on_damage!r} is unknown; use 'fail' or 'reject'")
    _check_reachable(path)
    given = {name: value for name, value in limits.items() if value is not None}
    if len(given) > 1 or (given and not streaming):
        raise StreamError("give either max_files= or max_bytes=, and only for a stream")
    chosen = {name: str(value) for name, value in {**options, **given}.items()}
    columns = columns_of(spark, path, schema, chosen)
    _check_where(where, arrow_schema(columns))
    return Files(_listing(spark, path, columns, streaming, chosen), columns, where, on_damage == "reject", filesystem)


def _check_reachable(path: str) -> None:
    try:
        parse_path(path)
    except ValueError as trouble:
        raise StreamError(
            f"pt.files cannot reach {path!r}: {trouble}; give pt.files filesystem=, or read it with spark.readStream"
        ) from trouble


def _check_format(format: str) -> None:
    if format != PARQUET:
        raise StreamError(
            f"format={format!r}: pt.files reads only {PARQUET!r}, whose files know their types; for other files give "
            f"pt.stream Spark's reader, spark.readStream.format({format!r})…"
        )


def _listing(
    spark: SparkSession, path: str, columns: StructType, streaming: bool, options: Mapping[str, str]
) -> DataFrame:
    """What Spark is asked for; columns in the paths have the types that they have in the stream."""
    reader = (spark.readStream if streaming else spark.read).format("binaryFile").options(**options)
    listing = reader.schema(_LISTED).load(path)
    in_paths = listing.columns[_N_LISTED:]
    if not in_paths:
        return listing
    types = {each.name: each for each in columns}
    whole = StructType([*listing.schema.fields[:_N_LISTED], *(types[name] for name in in_paths)])
    return reader.schema(whole).load(path)


def _check_where(where: pc.Expression | None, schema: pa.Schema) -> None:
    if where is None:
        return
    if not isinstance(where, pc.Expression):
        raise PredicateError(f"where={where!r}: give an expression of pyarrow, such as pc.field('price') > 5")
    row = pa.table([pa.nulls(1, dtype) for dtype in schema.types], schema=schema)
    try:
        row.filter(where)
    except (pa.ArrowException, TypeError, ValueError, KeyError) as error:
        raise PredicateError(f"where={where} cannot be asked of columns {', '.join(schema.names)}: {error}") from error
