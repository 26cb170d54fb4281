"""The columns of files that are read without Spark's rows: those that Spark's own reader would give."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

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
from punctuated.spark.session.kind import cause_of
from punctuated.spark.session.types import arrow_schema, column_at, with_numbers
from punctuated.spark.session.versions import spark_types
from punctuated.spark.session.workers import overlapped
from punctuated.spark.source.parquet import SMALLEST, OpenFile, Span, spans_of
from punctuated.storage.tables.file_systems import locate, parse_path

PARQUET = "parquet"
Schema: TypeAlias = StructType | pa.Schema | str
PART, STREAM, PATH, LENGTH, STAMP = "part", "stream", "path", "length", "stamp"
_CHUNK = 1 << 20
_DAMAGE = (OSError, pa.ArrowException)  # what pyarrow raises if it cannot read; ours is an OSError, too
Listed = dict[str, Any]  # a file as Spark lists it: the columns above, and those in its path
Damage = tuple[str, str]  # a path, and what is wrong
_LISTED = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"  # the columns of binaryFile
_PATH_PLACE, _LENGTH_PLACE, _N_LISTED = 0, 2, 4
_ON_DAMAGE = ("fail", "reject")


def columns_of(spark: SparkSession, path: str, schema: Schema | None, options: Mapping[str, str]) -> StructType:
    """The columns that are given, or found in the files, and those in the paths; warns of given ones without a file."""
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
            f"the columns of {path!r} are not known, for it does not hold only files of Parquet: {cause_of(error)}"
        ) from error
    if schema is not None:
        _warn_of_missing(spark, path, columns, options)
    return columns


def _warn_of_missing(spark: SparkSession, path: str, columns: StructType, options: Mapping[str, str]) -> None:
    """Warn of columns that the existing files do not have: they are read as nulls, which is seldom what was meant."""
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


# From paths to rows: a task reads its share of the files of a batch, and packs their rows.
#
# The rows of a file go through the same pack as rows from Spark. Neighbouring streams of files in a join are read by
# the same tasks: so a large and a small stream are balanced, in as few tasks as possible.


class Piece(NamedTuple):
    """What a task must read of a file."""

    listed: Listed
    span: Span

    @property
    def speaks(self) -> bool:
        """Whether this task reports what is wrong with the whole file."""
        return self.span.begin == 0


def path_column(stream: int, place: int) -> str:
    """In a list of files, the column for this column of a stream's paths."""
    return f"path_column_{stream}_{place}"


@dataclass(frozen=True)
class FileScan:
    """How the files of one stream are read; `in_paths` are the columns in their paths."""

    schema: pa.Schema
    in_paths: tuple[str, ...] = ()
    where: pc.Expression | None = None
    rejects: bool = False  # what cannot be read, rather than fail
    filesystem: FileSystem | None = None

    def read(self, stream: int, pieces: Iterable[Piece], damages: list[Damage]) -> Iterator[pa.RecordBatch]:
        """The rows of these pieces; what cannot be read raises, or goes into `damages`, if that is wanted."""
        for piece in pieces:
            yield from self._read(stream, piece, damages)

    def _read(self, stream: int, piece: Piece, damages: list[Damage]) -> Iterator[pa.RecordBatch]:
        listed = piece.listed
        constants = {name: listed[path_column(stream, place)] for place, name in enumerate(self.in_paths)}
        source = locate(listed[PATH], self.filesystem)
        try:
            file = OpenFile(source, listed[LENGTH], self.schema, constants)
            row_groups = file.row_groups(piece.span, self.where)
        except _DAMAGE as error:
            damages += self._damage(source, listed[PATH], error)[: piece.speaks]
            return
        for number in row_groups:
            rows = file.read(number, self.where)
            try:
                yield from list(rows) if self.rejects else rows
            except _DAMAGE as error:
                damages += self._damage(source, listed[PATH], error, f"row group {number}: ")
        file.close()

    def _damage(self, source: tuple[FileSystem, str], path: str, error: Exception, where: str = "") -> list[Damage]:
        """What is wrong with a file, if that is to be reported; else, or if it is not the file's fault, raises."""
        why = f"{where}{' '.join(str(error).split()).rstrip('.')}"
        if self.rejects and (isinstance(error, FileNotFoundError | FileError) or _can_be_fetched(source)):
            return [(path, why)]
        remedy = "" if self.rejects else ", or let pt.files reject what cannot be read, with on_damage='reject'"
        again = f"Repair or restore the file, and start the query again{remedy}"
        raise FileError(f"cannot read {path}: {why}. {again}") from error


def _can_be_fetched(source: tuple[FileSystem, str]) -> bool:
    """Whether all bytes of a file can be read at all: if not, another attempt may succeed."""
    system, path = source
    try:
        with system.open_input_stream(path) as stream:
            while stream.read(_CHUNK):
                pass
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _stamped(batches: Iterable[pa.RecordBatch], stamp: int) -> Iterator[pa.RecordBatch]:
    """Rows with the engine's time of the batch as a last column."""
    for batch in batches:
        yield batch.append_column("", pa.repeat(pa.scalar(stamp, pa.int64()), batch.num_rows))


@dataclass(frozen=True)
class PackFiles:
    """The function for `mapInArrow` over lists of files; streams are known by their places."""

    streams: tuple[tuple[FileScan, Pack], ...]
    n_parts: int
    smallest: int = SMALLEST  # bytes of a file that is cut

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listed = [file for batch in batches for file in batch.to_pylist()]
        pieces = share(listed, self.n_parts, self.smallest)
        for stream, ours in groupby(pieces, key=lambda piece: piece.listed[STREAM]):
            scan, pack = self.streams[stream]
            damages: list[Damage] = []
            rows = overlapped(scan.read(stream, ours, damages))
            yield from pack(_stamped(rows, listed[0][STAMP]) if pack.stamped else rows)
            if damages:
                yield pack.damaged(damages)


def share(listed: Sequence[Listed], n_parts: int, smallest: int = SMALLEST) -> list[Piece]:
    """What the task with this list must read, stream by stream; the list may come in any order.

    Each part has a list of its own; a task may have got several.
    """
    pieces = []
    for part in sorted({file[PART] for file in listed}):
        files = sorted((file for file in listed if file[PART] == part), key=lambda file: (file[STREAM], file[PATH]))
        spans = spans_of([file[LENGTH] for file in files], part, n_parts, smallest)
        pieces += [Piece(files[span.place], span) for span in spans]
    return sorted(pieces, key=lambda piece: piece.listed[STREAM])


# Files as a stream whose rows never become rows of the JVM: Spark lists the files, the pack reads them.
#
# Spark's own file source lists them, as a `binaryFile` stream that is asked for paths and lengths only, so no content
# comes through it. Spark thus takes care of what has been read, limits per trigger, restarts and exactly-once. In the
# rest of this package `Files` take the place of a DataFrame, so they have those of its names that are needed.


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
