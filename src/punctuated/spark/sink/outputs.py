"""A part of a join's output and its sink: who writes its rows, and how Spark or a function writes them."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col
from pyspark.sql.types import StructType

from punctuated.errors import SinkError, StreamError
from punctuated.model.arguments import free_names
from punctuated.output.in_band import GROUP, REJECTED
from punctuated.spark.session.columns import column_at, with_numbers
from punctuated.spark.sink.reachability import qualified, why_unreachable
from punctuated.storage.tables.parquet_folder import BATCH_ID
from punctuated.storage.tables.sink import TableKind, TableSink, parquet
from punctuated.storage.tables.types import check_delta_types
from punctuated.storage.tables.written_file import OutputTable

KIND_INDEX = 0  # of the column with the kind of a row, if rows of several kinds leave the step
_SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"  # the key of Spark types that Parquet does not have
_SPARK_VERSION = "org.apache.spark.version"  # the key that lets Spark read dates before 1582 without a correction
_FORMATS = ("console", "csv", "delta", "json", "kafka", "memory", "noop", "orc", "parquet")  # not paths

Function = Callable[[DataFrame, int], None]
Sink = str | os.PathLike[str] | TableSink | Function


class WrittenBy(StrEnum):
    """Who writes the rows of a part: the step of the join, Spark's writer, or a function."""

    STEP = "step"
    SPARK = "spark"
    FUNCTION = "function"


@dataclass(frozen=True)
class SinkOutput:
    """A part of the output: the kind of its rows, the positions of its columns in the rows of the step, its sink."""

    kind: str
    columns: tuple[tuple[int, str], ...]
    schema: pa.Schema
    types: StructType
    written_by: WrittenBy
    description: str  # of how the rows are written, for people
    table: TableSink | None = None
    function: Function | None = None

    @property
    def name(self) -> str:
        """The name of the part in messages."""
        return f"the {self.kind} rows" if self.kind == REJECTED else f"the {self.kind}s"

    @property
    def path(self) -> str | None:
        """The path of its table, if it has one."""
        return None if self.table is None else self.table.path

    @property
    def is_delta(self) -> bool:
        """Whether its table is a Delta table, to which other queries may write, too."""
        return self.table is not None and self.table.kind is TableKind.DELTA

    @property
    def folders(self) -> str:
        """The name of the folders of batches, which readers take for a column."""
        return free_names([BATCH_ID], (name for _, name in self.columns))[0]

    def output_table(self, token: str, spark_version: str) -> OutputTable:
        """The table as workers must know it to write the part."""
        assert self.table is not None
        in_files = StructType([field for field in self.types if field.name not in self.table.partition_by])
        metadata = {_SPARK_SCHEMA: in_files.json(), _SPARK_VERSION: spark_version}
        return OutputTable(self.kind, self.table, token, self.schema, metadata)

    def write(self, rows: DataFrame, batch_id: int) -> None:
        """Let Spark, or a function, write the rows of a batch."""
        ours = self._of(rows)
        if self.function is not None:
            self.function(ours, batch_id)
            return
        assert self.table is not None
        if self.table.sort_by:
            ours = ours.sortWithinPartitions(*(_sort_column(*key) for key in self.table.sort_by))
        writer = ours.write.mode("overwrite").partitionBy(*self.table.partition_by)
        if self.table.compression != "snappy":  # Spark's default, unless the session says otherwise
            writer = writer.option("compression", self.table.compression)
        writer.parquet(f"{self.path}/{self.folders}={batch_id}")

    def _of(self, rows: DataFrame) -> DataFrame:
        numbered = with_numbers(rows)
        ours = numbered if self.kind == GROUP else numbered.where(column_at(KIND_INDEX) == self.kind)
        return ours.select(*(column_at(index).alias(name) for index, name in self.columns))


def choose_output(
    session: SparkSession,
    kind: str,
    sink: Sink,
    columns: tuple[pa.Schema, StructType],
    positions: Sequence[tuple[int, str]],
) -> SinkOutput:
    """The part of this kind with its sink; raises if the sink cannot take it."""
    if callable(sink):
        description = "rows, to a function"
        return SinkOutput(kind, tuple(positions), *columns, WrittenBy.FUNCTION, description, function=sink)
    if not isinstance(sink, str | os.PathLike | TableSink):
        raise StreamError(
            "a sink is a path, pt.parquet(…), pt.delta(…), or a function of a DataFrame and a batch id, not "
            f"{type(sink).__name__}"
        )
    if sink in _FORMATS:
        raise SinkError(
            f"{sink!r} would be a folder of that name: for the folder give {f'./{sink}'!r}; for a format of Spark "
            "give a function of a DataFrame and a batch id, such as lambda rows, batch_id: rows.show()"
        )
    table = sink if isinstance(sink, TableSink) else parquet(sink)
    table = replace(table, path=qualified(session, table.path))
    written_by, description = _writer_of(session, table)
    part = SinkOutput(kind, tuple(positions), *columns, written_by, description, table)
    table.check(part.schema, part.name)
    _check_names(session, part)
    if part.is_delta:
        check_delta_types(part.schema, part.name)
    return part


def _check_names(session: SparkSession, part: SinkOutput) -> None:
    """Raise if readers could not tell two columns apart: for Delta's and Spark's, case makes no difference."""
    if not part.is_delta and session.conf.get("spark.sql.caseSensitive", "false") == "true":
        return
    spelled: dict[str, str] = {}
    for name in part.schema.names:
        before = spelled.setdefault(name.lower(), name)
        if before != name:
            raise SinkError(
                f"{part.name} have the columns {before!r} and {name!r}, which differ in case alone, so Spark could not "
                "read the table; call one of them differently with select=, or in its input"
            )


def _writer_of(session: SparkSession, table: TableSink) -> tuple[WrittenBy, str]:
    files = "files of a Delta table" if table.kind is TableKind.DELTA else "Parquet files"
    if table.by_spark:
        return WrittenBy.SPARK, f"rows, to Spark's writer into {table.path} (writer='spark')"
    trouble = why_unreachable(session, table.path)
    if trouble is None:
        return WrittenBy.STEP, f"{files}, written by the workers of the join into {table.path}"
    if table.kind is TableKind.DELTA:
        raise SinkError(f"{trouble}; pt.delta(…) needs a path that driver and workers reach")
    return WrittenBy.SPARK, f"rows, to Spark's writer into {table.path} ({trouble})"


def _sort_column(name: str, order: str) -> Column:
    quoted = "`" + name.replace("`", "``") + "`"
    return col(quoted).asc() if order == "ascending" else col(quoted).desc()
