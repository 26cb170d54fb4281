"""`pt.parquet` and `pt.delta`: tables that the workers of a join write by themselves, and how their files look."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pyarrow as pa

from punctuated.errors import SinkError
from punctuated.model.arguments import column_names
from punctuated.model.memory import parse_size

DEFAULT_FILE_SIZE = "256 MiB"
COMPRESSIONS = ("snappy", "zstd", "lz4", "gzip", "brotli", "none")
_ORDERS = ("ascending", "descending")
SortKey = str | tuple[str, str]


class TableKind(StrEnum):
    """What makes a batch visible: its folder, or a commit in the log of the table."""

    PARQUET = "parquet"
    DELTA = "delta"


@dataclass(frozen=True)
class TableSink:
    """Where a part of a join's output goes, and what its files look like. Made by `pt.parquet` and `pt.delta`."""

    kind: TableKind
    path: str
    sort_by: tuple[tuple[str, str], ...] = ()
    partition_by: tuple[str, ...] = ()
    file_bytes: int = 256 << 20
    compression: str = "snappy"
    by_spark: bool = False  # whether Spark's writer was asked for
    storage_options: Mapping[str, str] = field(default_factory=dict)

    def check(self, schema: pa.Schema, what: str) -> None:
        """Raise if the rows of a part have no such columns, or cannot be partitioned by them."""
        for option, names in (("sort_by", [name for name, _ in self.sort_by]), ("partition_by", self.partition_by)):
            for name in names:
                if name not in schema.names:
                    raise SinkError(f"{option}: {what} have no column {name!r}, only {', '.join(schema.names)}")
        for name in self.partition_by:
            if not _can_partition(dtype := schema.field(name).type):
                raise SinkError(
                    f"partition_by: the column {name!r} of {what} is of type {dtype}; folders are named after whole "
                    "numbers, decimals, texts, dates and booleans"
                )
        if self.partition_by and len(self.partition_by) == len(schema):
            raise SinkError(f"partition_by: leave at least one column of {what} for the files themselves")


def parquet(
    path: str | os.PathLike[str],
    *,
    sort_by: SortKey | Sequence[SortKey] = (),
    partition_by: str | Sequence[str] = (),
    file_size: int | str = DEFAULT_FILE_SIZE,
    compression: str = "snappy",
    writer: str = "auto",
) -> TableSink:
    """A folder of Parquet files for `write_to`. Every reader of Parquet understands it, and sees complete batches only.

    Args:
        path: The folder: new, empty, or written before by a query with the same checkpoint.
        sort_by: The columns that sort the rows of each file: names, or pairs such as `("price", "descending")`.
        partition_by: Columns that become folders `name=value` inside those of the batches.
        file_size: The size at which a new file is begun, in bytes or as text. Each batch has at least one file for
            every bucket with rows.
        compression: "snappy", "zstd", "lz4", "gzip", "brotli" or "none".
        writer: "auto" lets the workers of the join write if they can reach the path; "spark" hands the rows to Spark's
            own writer, with its settings.

    Example:
        >>> import punctuated as pt
        >>> pt.parquet("out/results", sort_by="ts", file_size="64 MiB").file_bytes
        67108864
    """
    if writer not in ("auto", "spark"):
        raise SinkError(f"writer={writer!r}: give 'auto' or 'spark'")
    return _table(TableKind.PARQUET, path, sort_by, partition_by, file_size, compression, by_spark=writer == "spark")


def delta(
    path: str | os.PathLike[str],
    *,
    sort_by: SortKey | Sequence[SortKey] = (),
    partition_by: str | Sequence[str] = (),
    file_size: int | str = DEFAULT_FILE_SIZE,
    compression: str = "snappy",
    storage_options: Mapping[str, str] | None = None,
) -> TableSink:
    """A Delta Lake table for `write_to`: one commit per micro-batch, which records the query and the batch.

    The table is created if it does not exist. Otherwise rows are added, so several queries may write to one table.
    Needs the package deltalake: `pip install "punctuated[delta]"`.

    Args:
        path: The table: a folder, or an address that `deltalake` and the workers know.
        sort_by: As in `pt.parquet`, like the next three.
        partition_by: Columns by which the table is partitioned.
        file_size: The size at which a new file is begun.
        compression: The compression of the files.
        storage_options: What `deltalake` needs to reach the table's log, such as credentials.

    Example:
        >>> import punctuated as pt
        >>> pt.delta("out/results", partition_by="day").partition_by
        ('day',)
    """
    options = dict(storage_options or {})
    return _table(TableKind.DELTA, path, sort_by, partition_by, file_size, compression, storage_options=options)


def _table(
    kind: TableKind,
    path: str | os.PathLike[str],
    sort_by: SortKey | Sequence[SortKey],
    partition_by: str | Sequence[str],
    file_size: int | str,
    compression: str,
    **more: Any,
) -> TableSink:
    if not isinstance(path, str | os.PathLike):
        raise SinkError(f"a table is given by its path, not by {type(path).__name__}")
    if compression not in COMPRESSIONS:
        raise SinkError(f"compression={compression!r}: give one of {', '.join(COMPRESSIONS)}")
    parts = column_names(partition_by, "partition_by", SinkError)
    if len(set(parts)) < len(parts):
        raise SinkError(f"partition_by={partition_by!r} names a column twice")
    root, size = os.fspath(path).rstrip("/"), parse_size(file_size, "file_size")
    return TableSink(kind, root, _sort_keys(sort_by), parts, size, compression, **more)


def _sort_keys(sort_by: SortKey | Sequence[SortKey]) -> tuple[tuple[str, str], ...]:
    if isinstance(sort_by, str):
        return ((sort_by, _ORDERS[0]),)
    listed = [sort_by] if len(sort_by) == 2 and sort_by[1] in _ORDERS else list(sort_by)
    keys = [(each, _ORDERS[0]) if isinstance(each, str) else tuple(each) for each in listed]
    for key in keys:
        if len(key) != 2 or not isinstance(key[0], str) or key[1] not in _ORDERS:
            raise SinkError(f"sort_by={sort_by!r}: give names of columns, or pairs such as ('price', 'descending')")
    return tuple((str(name), str(order)) for name, order in keys)


def _can_partition(dtype: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_date32)
    return any(of_kind(dtype) for of_kind in (*kinds, pa.types.is_string, pa.types.is_large_string))
