"""Rows become Parquet files: partitioned by columns, sorted, and cut at a size. No reader sees these files yet.

Rows are gathered to row groups, so that many small tables do not make small row groups. A file that is to be sorted
waits in memory until it is as large as it may become. The bytes of waiting rows are bounded, however many partitions
there are.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from punctuated.storage.tables.delta_table import delta_statistics
from punctuated.storage.tables.location import TableLocation
from punctuated.storage.tables.sink import TableKind, TableSink
from punctuated.storage.tables.types import stored_schema
from punctuated.storage.tables.written_file import STAGED, FileNames, OutputTable, Partition, WrittenFile

_GROUP_ROWS = 1 << 20  # rows of a row group
_GROUP_BYTES = 64 << 20  # bytes of its rows in memory
_MOST_WAITING = 512 << 20  # bytes of rows of all partitions
_MOST_OPEN = 64  # files


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
    """A number for each row, and the text of each number; an empty text is null, as in names of folders."""
    texts = column.cast(pa.string()).combine_chunks()
    encoded = pc.if_else(pc.equal(texts, ""), None, texts).dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()


class TableWriter:
    """Writes the files of one table for one attempt at one bucket of a batch."""

    def __init__(self, table: OutputTable, batch: int, bucket: int) -> None:
        self._table, self._sink = table, table.sink
        self._names = FileNames.of_attempt(table.token, batch, bucket)
        self._location = TableLocation(table.sink.path)
        self._schema = stored_schema(table.schema)
        parted = [field for field in self._schema if field.name not in table.sink.partition_by]
        self._columns = pa.schema(parted, metadata={**table.metadata})
        self._waiting: dict[Partition, _WaitingRows] = {}
        self._open: dict[Partition, _FileWriter] = {}
        self._begun: list[str] = []
        self._done: list[WrittenFile] = []

    def write(self, table: pa.Table) -> None:
        """Take more rows."""
        if not len(table):
            return
        stored = table if table.schema.equals(self._schema) else table.cast(self._schema)
        for partition, rows in by_partition(stored, self._sink.partition_by):
            for cut in _cut(rows, self._enough):
                waiting = self._waiting.setdefault(partition, _WaitingRows())
                waiting.add(cut)
                if waiting.n_bytes >= self._enough or (waiting.n_rows >= _GROUP_ROWS and not self._sink.sort_by):
                    self._put(partition)
        if len(self._waiting) > 1 and sum(rows.n_bytes for rows in self._waiting.values()) > _MOST_WAITING:
            self._put(max(self._waiting, key=lambda partition: self._waiting[partition].n_bytes))

    def close(self) -> list[WrittenFile]:
        """Write what still waits, and return all files."""
        for partition in list(self._waiting):
            self._put(partition)
        for partition in list(self._open):
            self._finish(partition)
        return self._done

    def abandon(self) -> None:
        """Remove what was written, as far as that works; no other file refers to it."""
        for file in self._open.values():
            with suppress(Exception):
                file.stream.close()
        for path in self._begun:
            with suppress(OSError):
                self._location.files.delete_file(path)

    @property
    def _enough(self) -> int:
        """How many bytes make a sorted file, or else a row group."""
        return self._sink.file_bytes if self._sink.sort_by else _GROUP_BYTES

    def _put(self, partition: Partition) -> None:
        """Write the waiting rows to the file of their partition; a file ends when it is large enough, or sorted."""
        rows = self._waiting.pop(partition).table()
        if self._sink.sort_by:
            rows = rows.sort_by(list(self._sink.sort_by))
        file = self._open.get(partition) or self._begin(partition)
        file.write(rows)
        if self._sink.sort_by or file.stream.tell() >= self._sink.file_bytes:
            self._finish(partition)

    def _begin(self, partition: Partition) -> "_FileWriter":
        if len(self._open) >= _MOST_OPEN:
            self._finish(next(iter(self._open)))
        number = len(self._begun)
        name = self._names.nth(number)
        if self._sink.kind is TableKind.DELTA:
            path = self._location.to(f"{name}.parquet")  # the log says which files count
        else:
            path = self._location.to(STAGED, name)  # no reader takes it for Parquet by its name
            self._location.files.create_dir(self._location.to(STAGED), recursive=True)
        self._begun.append(path)
        self._open[partition] = _FileWriter(
            self._location.files.open_output_stream(path), self._columns, self._sink, number
        )
        return self._open[partition]

    def _finish(self, partition: Partition) -> None:
        file = self._open.pop(partition)
        metadata, n_bytes = file.close()
        is_delta = self._sink.kind is TableKind.DELTA
        name = f"{self._names.nth(file.number)}{'.parquet' if is_delta else ''}"
        stats = delta_statistics(metadata) if is_delta else ""
        bucket, n_rows = self._names.bucket, metadata.num_rows
        written = WrittenFile(self._table.part, name, bucket, file.number, n_rows, n_bytes, partition, stats)
        self._done.append(written)


def _cut(table: pa.Table, n_bytes: int) -> Iterator[pa.Table]:
    """Slices of at most about so many bytes."""
    n_rows = max(1, min(_GROUP_ROWS, len(table) * n_bytes // max(1, table.nbytes)))
    return (table.slice(start, n_rows) for start in range(0, len(table), n_rows))


@dataclass
class _WaitingRows:
    """Rows of a partition that wait to be written."""

    tables: list[pa.Table] = field(default_factory=list)
    n_rows: int = 0
    n_bytes: int = 0

    def add(self, table: pa.Table) -> None:
        self.tables.append(table)
        self.n_rows += len(table)
        self.n_bytes += table.nbytes

    def table(self) -> pa.Table:
        return pa.concat_tables(self.tables)


def _takes_dictionary(dtype: pa.DataType) -> bool:
    """Whether a dictionary is worth its time: numbers are written twice as fast without, and compress as well."""
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_binary(dtype))


class _FileWriter:
    """A file that is being written."""

    def __init__(self, stream: Any, schema: pa.Schema, sink: TableSink, number: int) -> None:
        self.stream, self.number = stream, number
        self._footer: list[pq.FileMetaData] = []
        self._schema = schema
        self._writer = pq.ParquetWriter(
            stream,
            schema,
            compression=sink.compression,
            use_dictionary=[field.name for field in schema if _takes_dictionary(field.type)],
            metadata_collector=self._footer,
        )

    def write(self, rows: pa.Table) -> None:
        self._writer.write_table(rows.replace_schema_metadata(self._schema.metadata), row_group_size=_GROUP_ROWS)

    def close(self) -> tuple[pq.FileMetaData, int]:
        """Finish the file; its footer, and its size in bytes."""
        self._writer.close()
        size = self.stream.tell()
        self.stream.close()
        return self._footer[0], size
