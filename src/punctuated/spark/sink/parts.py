"""A part of a join's output and its sink: how its rows get there."""

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
from punctuated.spark.session.types import column_at, with_numbers
from punctuated.spark.sink.reach import qualified, why_unreachable
from punctuated.storage.tables.parquet_folder import BATCH_ID
from punctuated.storage.tables.sink import Kind, TableSink, parquet
from punctuated.storage.tables.types import check_delta_types
from punctuated.storage.tables.writer import Written

KIND_PLACE = 0  # of the column that tells kinds of rows, where there are several
_SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"  # tells Spark types that Parquet does not have
_SPARK_VERSION = "org.apache.spark.version"  # tells Spark that dates before 1582 need no correction

_FORMATS = ("console", "csv", "delta", "json", "kafka", "memory", "noop", "orc", "parquet")  # that people mean by this

Function = Callable[[DataFrame, int], None]
Sink = str | os.PathLike[str] | TableSink | Function


class Way(StrEnum):
    """Who writes the rows."""

    STEP = "step"
    SPARK = "spark"
    FUNCTION = "function"


@dataclass(frozen=True)
class Part:
    """Rows of one kind, the positions of their columns in the rows that leave the step, and where they go."""

    kind: str
    columns: tuple[tuple[int, str], ...]
    schema: pa.Schema
    types: StructType
    way: Way
    shown_way: str  # the way, for people
    table: TableSink | None = None
    function: Function | None = None

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"the {self.kind} rows" if self.kind == REJECTED else f"the {self.kind}s"

    @property
    def path(self) -> str | None:
        """Where its table is."""
        return None if self.table is None else self.table.path

    @property
    def is_delta(self) -> bool:
        """Whether others may write to its table, too."""
        return self.table is not None and self.table.kind is Kind.DELTA

    @property
    def folders(self) -> str:
        """The name of the folders of batches, which readers take for a column."""
        return free_names([BATCH_ID], (name for _, name in self.columns))[0]

    def written(self, token: str, spark_version: str) -> Written:
        """What workers must know to write it."""
        assert self.table is not None
        in_files = StructType([field for field in self.types if field.name not in self.table.partition_by])
        metadata = {_SPARK_SCHEMA: in_files.json(), _SPARK_VERSION: spark_version}
        return Written(self.kind, self.table, token, self.schema, metadata)

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
        ours = numbered if self.kind == GROUP else numbered.where(column_at(KIND_PLACE) == self.kind)
        return ours.select(*(column_at(place).alias(name) for place, name in self.columns))


def choose_part(
    session: SparkSession,
    kind: str,
    sink: Sink,
    columns: tuple[pa.Schema, StructType],
    places: Sequence[tuple[int, str]],
) -> Part:
    """The part of this kind with its sink, and the way of its rows."""
    if callable(sink):
        shown_way = "rows, to a function"
        return Part(kind, tuple(places), *columns, Way.FUNCTION, shown_way, function=sink)
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
    way, shown_way = _way(session, table)
    part = Part(kind, tuple(places), *columns, way, shown_way, table)
    table.check(part.schema, part.name)
    _check_names(session, part)
    if part.is_delta:
        check_delta_types(part.schema, part.name)
    return part


def _check_names(session: SparkSession, part: Part) -> None:
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


def _way(session: SparkSession, table: TableSink) -> tuple[Way, str]:
    files = "files of a Delta table" if table.kind is Kind.DELTA else "Parquet files"
    if table.by_spark:
        return Way.SPARK, f"rows, to Spark's writer into {table.path} (writer='spark')"
    trouble = why_unreachable(session, table.path)
    if trouble is None:
        return Way.STEP, f"{files}, written by the workers of the join into {table.path}"
    if table.kind is Kind.DELTA:
        raise SinkError(f"{trouble}; pt.delta(…) needs a path that driver and workers reach")
    return Way.SPARK, f"rows, to Spark's writer into {table.path} ({trouble})"


def _sort_column(name: str, order: str) -> Column:
    quoted = "`" + name.replace("`", "``") + "`"
    return col(quoted).asc() if order == "ascending" else col(quoted).desc()
