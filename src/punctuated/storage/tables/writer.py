"""A file that a worker has written: what the driver must know to make it visible, as a row that Spark can carry."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from punctuated.storage.tables.location import Place
from punctuated.storage.tables.names import STAGED, FileNames
from punctuated.storage.tables.sink import Kind, TableSink
from punctuated.storage.tables.types import stored_schema

Partition = tuple[tuple[str, str | None], ...]  # column and value as text, in the order of the columns
_MILLISECOND = timedelta(milliseconds=1)
_GROUP_ROWS = 1 << 20  # of a row group
_GROUP_BYTES = 64 << 20  # of its rows in memory
_MOST_WAITING = 512 << 20  # bytes of rows of all partitions
_MOST_OPEN = 64  # files at a time


@dataclass(frozen=True)
class WrittenFile:
    """One Parquet file of a part of the output."""

    part: str  # of the output, by the kind of its rows
    name: str
    bucket: int
    number: int  # among the files of its bucket
    n_rows: int
    n_bytes: int
    partition: tuple[tuple[str, str | None], ...]
    stats: str  # of its columns, as Delta has them

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "WrittenFile":
        """From its text."""
        fields = json.loads(text)
        partition = tuple((name, value) for name, value in fields.pop("partition"))
        return WrittenFile(**fields, partition=partition)


# Rows by the values of their partition columns.


def by_partition(table: pa.Table, columns: Sequence[str]) -> Iterator[tuple[Partition, pa.Table]]:
    """The rows of each combination of values, in their order, without these columns.

    >>> rows = pa.table({"day": ["a", "b", "a"], "n": [1, 2, 3]})
    >>> [(partition, part["n"].to_pylist()) for partition, part in by_partition(rows, ["day"])]
    [((('day', 'a'),), [1, 3]), ((('day', 'b'),), [2])]
    """
    if not columns:
        yield (), table
        return
    codes, values = zip(*(_encoded(table[name]) for name in columns), strict=True)
    numbers = np.zeros(len(table), np.int64)
    for code, known in zip(codes, values, strict=True):
        numbers = np.unique(numbers * len(known) + code, return_inverse=True)[1]  # dense, so that none overflows
    order = np.argsort(numbers, kind="stable")
    rest = table.drop_columns(list(columns)).take(pa.array(order))
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(table)], strict=True):
        at = order[start]
        chosen = [known[code[at]] for code, known in zip(codes, values, strict=True)]
        yield tuple(zip(columns, chosen, strict=True)), rest.slice(start, stop - start)


def _encoded(column: pa.ChunkedArray) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", list[str | None]]:
    """A number for each row, and what the numbers stand for; an empty text is null, as in names of folders."""
    texts = column.cast(pa.string()).combine_chunks()
    encoded = pc.if_else(pc.equal(texts, ""), None, texts).dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()


# What a Delta table says of a file: its rows, and the least, the greatest and the nulls of its plain columns.


def delta_statistics(metadata: pq.FileMetaData) -> str:
    """As JSON, from the footer of the file. Times are rounded outwards to milliseconds, which is all that Delta reads.

    Texts and floating point numbers have no bounds: Parquet may cut texts, and NaN is in no order.
    """
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for place in range(metadata.num_columns):
        name = metadata.schema.column(place).path
        found = list(_of_column(metadata, place))
        if "." in name or None in found:
            continue
        nulls[name] = sum(each[2] for each in found if each is not None)
        bounds = [each[:2] for each in found if each is not None and each[0] is not None]
        if bounds:
            least[name] = _shown(min(low for low, _ in bounds), up=False)
            greatest[name] = _shown(max(high for _, high in bounds), up=True)
    statistics = {"numRecords": metadata.num_rows, "minValues": least, "maxValues": greatest, "nullCount": nulls}
    return json.dumps(statistics)


def _of_column(metadata: pq.FileMetaData, place: int) -> Iterator[tuple[Any, Any, int] | None]:
    """Of each row group the bounds, if it has any, and the nulls; None if they are not known."""
    for number in range(metadata.num_row_groups):
        column = metadata.row_group(number).column(place)
        found = column.statistics if column.is_stats_set else None
        if found is None or not found.has_null_count:
            yield None
        elif found.has_min_max and found.physical_type in ("INT32", "INT64"):
            yield _bounds(found)
        elif found.null_count == column.num_values or found.physical_type in ("INT32", "INT64"):
            yield None, None, found.null_count
        else:
            yield None


def _bounds(found: Any) -> tuple[Any, Any, int] | None:
    try:
        low, high = found.min, found.max
    except (OverflowError, ValueError):  # a time that Python does not have
        return None
    known = isinstance(low, int | date | datetime) and not isinstance(low, bool)
    return (low, high, found.null_count) if known else None


def _shown(value: Any, *, up: bool) -> Any:
    if not isinstance(value, datetime):
        return value.isoformat() if isinstance(value, date) else value
    floor = value.replace(microsecond=value.microsecond // 1000 * 1000)
    rounded = floor + _MILLISECOND if up and floor < value else floor
    text = rounded.replace(tzinfo=None).isoformat(timespec="milliseconds")
    return text if value.tzinfo is None else f"{text}Z"


# Tables become Parquet files: partitioned by columns, sorted, cut at a size. What is written is seen by nobody yet.
#
# Rows are gathered to row groups, so that many small tables do not make small ones. A file that is to be sorted waits
# in memory until it is as large as it may become; all that waits is bounded, however many partitions there are.


@dataclass(frozen=True)
class Written:
    """What a worker must know of one table: whose rows, where they go, and their columns."""

    part: str
    sink: TableSink
    token: str  # of the checkpoint
    schema: pa.Schema
    metadata: Mapping[str, str] = field(default_factory=dict)  # of each file

    def writer(self, batch: int, bucket: int) -> "TableWriter":
        """For a new attempt at a bucket of a batch."""
        return TableWriter(self, FileNames.of_attempt(self.token, batch, bucket))


class TableWriter:
    """The files of one table, of one attempt at one bucket."""

    def __init__(self, table: Written, names: FileNames) -> None:
        self._table, self._names, self._sink = table, names, table.sink
        self._place = Place(table.sink.path)
        self._schema = stored_schema(table.schema)
        parted = [field for field in self._schema if field.name not in table.sink.partition_by]
        self._columns = pa.schema(parted, metadata={**table.metadata})
        self._waiting: dict[Partition, _Rows] = {}
        self._open: dict[Partition, _File] = {}
        self._begun: list[str] = []
        self._done: list[WrittenFile] = []

    def write(self, table: pa.Table) -> None:
        """Some more rows."""
        if not len(table):
            return
        stored = table if table.schema.equals(self._schema) else table.cast(self._schema)
        for partition, rows in by_partition(stored, self._sink.partition_by):
            for piece in _cut(rows, self._enough):
                waiting = self._waiting.setdefault(partition, _Rows())
                waiting.add(piece)
                if waiting.n_bytes >= self._enough or (waiting.n_rows >= _GROUP_ROWS and not self._sink.sort_by):
                    self._put(partition)
        if len(self._waiting) > 1 and sum(rows.n_bytes for rows in self._waiting.values()) > _MOST_WAITING:
            self._put(max(self._waiting, key=lambda partition: self._waiting[partition].n_bytes))

    def close(self) -> list[WrittenFile]:
        """All files, once all rows are in them."""
        for partition in list(self._waiting):
            self._put(partition)
        for partition in list(self._open):
            self._finish(partition)
        return self._done

    def abandon(self) -> None:
        """Take away what was written, as far as that works: nobody will miss it."""
        for file in self._open.values():
            with suppress(Exception):
                file.stream.close()
        for path in self._begun:
            with suppress(OSError):
                self._place.files.delete_file(path)

    @property
    def _enough(self) -> int:
        """Bytes for a file that is sorted, or for a row group."""
        return self._sink.file_bytes if self._sink.sort_by else _GROUP_BYTES

    def _put(self, partition: Partition) -> None:
        """What waits goes to the file of its partition, which ends where it is large enough, or sorted."""
        rows = self._waiting.pop(partition).table()
        if self._sink.sort_by:
            rows = rows.sort_by(list(self._sink.sort_by))
        file = self._open.get(partition) or self._begin(partition)
        file.write(rows)
        if self._sink.sort_by or file.stream.tell() >= self._sink.file_bytes:
            self._finish(partition)

    def _begin(self, partition: Partition) -> "_File":
        if len(self._open) >= _MOST_OPEN:
            self._finish(next(iter(self._open)))
        number = len(self._begun)
        name = self._names.nth(number)
        if self._sink.kind is Kind.DELTA:
            path = self._place.to(f"{name}.parquet")  # the log tells which count
        else:
            path = self._place.to(STAGED, name)  # no reader takes it for Parquet by its name
            self._place.files.create_dir(self._place.to(STAGED), recursive=True)
        self._begun.append(path)
        self._open[partition] = _File(self._place.files.open_output_stream(path), self._columns, self._sink, number)
        return self._open[partition]

    def _finish(self, partition: Partition) -> None:
        file = self._open.pop(partition)
        metadata, n_bytes = file.close()
        is_delta = self._sink.kind is Kind.DELTA
        name = f"{self._names.nth(file.number)}{'.parquet' if is_delta else ''}"
        stats = delta_statistics(metadata) if is_delta else ""
        bucket, n_rows = self._names.bucket, metadata.num_rows
        written = WrittenFile(self._table.part, name, bucket, file.number, n_rows, n_bytes, partition, stats)
        self._done.append(written)


def _cut(table: pa.Table, n_bytes: int) -> Iterator[pa.Table]:
    """Pieces of about so many bytes at most."""
    n_rows = max(1, min(_GROUP_ROWS, len(table) * n_bytes // max(1, table.nbytes)))
    return (table.slice(start, n_rows) for start in range(0, len(table), n_rows))


@dataclass
class _Rows:
    """Rows that wait."""

    tables: list[pa.Table] = field(default_factory=list)
    n_rows: int = 0
    n_bytes: int = 0

    def add(self, table: pa.Table) -> None:
        self.tables.append(table)
        self.n_rows += len(table)
        self.n_bytes += table.nbytes

    def table(self) -> pa.Table:
        return pa.concat_tables(self.tables)


def _repeats(dtype: pa.DataType) -> bool:
    """Whether a dictionary is worth its time: numbers are written twice as fast without, and compressed as small."""
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_binary(dtype))


class _File:
    """A file that is being written."""

    def __init__(self, stream: Any, schema: pa.Schema, sink: TableSink, number: int) -> None:
        self.stream, self.number = stream, number
        self._footer: list[pq.FileMetaData] = []
        self._schema = schema
        self._writer = pq.ParquetWriter(
            stream,
            schema,
            compression=sink.compression,
            use_dictionary=[field.name for field in schema if _repeats(field.type)],
            metadata_collector=self._footer,
        )

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows.replace_schema_metadata(self._schema.metadata), row_group_size=_GROUP_ROWS)

    def close(self) -> tuple[pq.FileMetaData, int]:
        """The footer, and how large the file is."""
        self._writer.close()
        size = self.stream.tell()
        self.stream.close()
        return self._footer[0], size
