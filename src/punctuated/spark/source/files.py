"""Files as a stream whose rows never become rows of the JVM: Spark lists the files, and the pack reads them.

Spark's own file source lists them, as a `binaryFile` stream that is asked for paths and lengths only, so no content
comes through it. Spark thus takes care of what has been read, of limits per trigger, of restarts and of exactly-once.
The columns are those that Spark's own reader would give. In the rest of `spark` a `Files` takes the role of a
DataFrame, so it has those of a DataFrame's names that are needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.fs import FileSystem
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col, explode, lit, sequence
from pyspark.sql.types import DataType, StructType

from punctuated.errors import ColumnError, FileError, MissingColumnsWarning, PredicateError, StreamError, warn_caller
from punctuated.model.arguments import hint_of
from punctuated.spark.pack.pack import PACKED_DDL, Pack
from punctuated.spark.session.columns import column_at, with_numbers
from punctuated.spark.session.connect import root_cause
from punctuated.spark.session.types import arrow_schema
from punctuated.spark.session.versions import spark_types
from punctuated.spark.source.scan import LENGTH, PART, PATH, STAMP, STREAM, FileScan, PackFiles, path_column
from punctuated.storage.tables.location import parse_path

PARQUET = "parquet"
Schema: TypeAlias = StructType | pa.Schema | str
_LISTED = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"  # the columns of binaryFile
_PATH_INDEX, _LENGTH_INDEX, _N_LISTED = 0, 2, 4
_ON_DAMAGE = ("fail", "reject")


def columns_of(spark: SparkSession, path: str, schema: Schema | None, options: Mapping[str, str]) -> StructType:
    """The columns of the schema, or else of the files, and those in the paths; warns of columns that no file has."""
    reader = spark.read.options(**options)
    if schema is not None:
        reader = reader.schema(_spark_types(schema))
    try:
        columns = reader.format(PARQUET).load(path).schema
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            raise StreamError(f"there is nothing at {path!r}, not even an empty folder") from error
        raise ColumnError(
            f"the columns of {path!r} are not known: {error}. Give pt.files schema=, with TIMESTAMP_NTZ or TIMESTAMP "
            "for times in nanoseconds, or files whose types Spark has"
        ) from error
    except Exception as error:  # of Py4J or of Connect: a footer could not be read
        raise FileError(
            f"the columns of {path!r} are not known, for it does not hold only files of Parquet: {root_cause(error)}"
        ) from error
    if schema is not None:
        _warn_of_missing(spark, path, columns, options)
    return columns


def _warn_of_missing(spark: SparkSession, path: str, columns: StructType, options: Mapping[str, str]) -> None:
    """Warn of columns that the existing files do not have: they are read as nulls, which is seldom intended."""
    try:
        found = spark.read.options(**options).format(PARQUET).load(path).schema.names
    except Exception:  # no file yet, or none that Spark can read: then nothing is known of them
        return
    there = {name.lower() for name in found}
    for name in columns.names:
        if name.lower() not in there:
            message = (
                f"pt.files({path!r}): Spark finds no column {name!r} in the files that are there now; it is null in "
                f"each row of a file without it; {hint_of(name, found, 'they have')}"
            )
            warn_caller(message, MissingColumnsWarning)


def _spark_types(schema: Schema) -> StructType | str:
    if not isinstance(schema, pa.Schema):
        return schema
    types = []
    for each in schema:
        try:
            types += spark_types(pa.schema([each])).fields
        except Exception as error:
            raise ColumnError(
                f"schema=: column {each.name!r} is of type {each.type}, which Spark does not have; give the type to "
                "read it as: of unsigned numbers the next wider one"
            ) from error
    return StructType(types)


@dataclass(frozen=True)
class Files:
    """The files of a stream or a batch, as `pt.files` gives them."""

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
        """Whether files are read as they come, in micro-batches."""
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
        """The scan of the columns of these names, and of those that the filter needs."""
        whole = arrow_schema(self.schema)
        schema = pa.schema([whole.field(name) for name in names]) if self.where is None else whole
        return FileScan(schema, self.in_paths, self.where, self.rejects, self.filesystem)


def pack_files(inputs: Sequence[tuple[Files, Sequence[str], Pack]], n_parts: int, stamp: Sequence[Column]) -> DataFrame:
    """Streams of files as blobs, read by the same tasks, each stream packed by its own pack."""
    in_paths = {
        path_column(stream, number): files.schema[name].dataType
        for stream, (files, _, _) in enumerate(inputs)
        for number, name in enumerate(files.in_paths)
    }
    lists = [_listed(stream, files, in_paths, stamp) for stream, (files, _, _) in enumerate(inputs)]
    parts = explode(sequence(lit(0), lit(n_parts - 1))).alias(PART)
    by_part = reduce(DataFrame.unionAll, lists).select(parts, "*").repartitionById(n_parts, col(PART))
    function = PackFiles(tuple((files.scan(names), pack) for files, names, pack in inputs), n_parts)
    return by_part.mapInArrow(function, PACKED_DDL)


def _listed(stream: int, files: Files, in_paths: Mapping[str, DataType], stamp: Sequence[Column]) -> DataFrame:
    """The list of files of a stream for the tasks; columns in the paths of other streams are null."""
    ours = {path_column(stream, number): column_at(_N_LISTED + number) for number in range(len(files.in_paths))}
    columns = [ours.get(name, lit(None).cast(dtype)).alias(name) for name, dtype in in_paths.items()]
    return with_numbers(files.listing).select(
        lit(stream).alias(STREAM),
        column_at(_PATH_INDEX).alias(PATH),
        column_at(_LENGTH_INDEX).alias(LENGTH),
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
    """The files at a path, as `pt.files` declares them; raises if they cannot be read as declared."""
    _check_format(format)
    if on_damage not in _ON_DAMAGE:
        raise StreamError(f"on_damage={on_damage!r} is unknown; use 'fail' or 'reject'")
    _check_reachable(path)
    set_limits = {name: value for name, value in limits.items() if value is not None}
    if len(set_limits) > 1 or (set_limits and not streaming):
        raise StreamError("give either max_files= or max_bytes=, and only for a stream")
    chosen = {name: str(value) for name, value in {**options, **set_limits}.items()}
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
    """The DataFrame that lists the files; columns in the paths have the types that they have in the stream."""
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


Frame: TypeAlias = DataFrame | Files  # what a stream on Spark is declared over
