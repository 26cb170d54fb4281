"""A Delta table: workers put files beside those of the table, and a commit in its log makes those of a batch count.

Each commit names the checkpoint and the batch as an application transaction, which the log keeps for good. A batch that
is repeated finds its number there and is not committed again. If two drivers of one query commit at once, one of them
fails.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from importlib import import_module
from time import time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from punctuated.errors import SinkError
from punctuated.storage.tables.location import TableLocation
from punctuated.storage.tables.sink import TableSink
from punctuated.storage.tables.types import stored_schema
from punctuated.storage.tables.written_file import OutputTable, WrittenFile, batch_of, token_of

LOG = "_delta_log"
_MILLISECOND = timedelta(milliseconds=1)


def deltalake(module: str = "deltalake") -> Any:
    """The package deltalake, or one of its modules."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "deltalake":
            raise
        raise SinkError('pt.delta(…) needs the package deltalake: pip install "punctuated[delta]"') from error


class DeltaTable:
    """A Delta table as the driver sees it."""

    def __init__(self, sink: TableSink) -> None:
        self._sink, self.location = sink, TableLocation(sink.path)
        self._options = dict(sink.storage_options) or None
        self._address = self.location.root if self.location.is_local else sink.path

    def prepare(self, schema: pa.Schema, what: str) -> None:
        """Make the table if it does not exist; raise if it exists with other columns."""
        stored, package = stored_schema(schema), deltalake()
        parted = list(self._sink.partition_by)
        if self.location.is_local:
            self.location.files.create_dir(self.location.root, recursive=True)
        table = package.DeltaTable.create(
            self._address, stored, mode="ignore", partition_by=parted, storage_options=self._options
        )
        wanted = package.Schema.from_arrow(stored)
        theirs = [(field.name, field.type) for field in table.schema().fields]
        if theirs != [(field.name, field.type) for field in wanted.fields]:
            raise SinkError(
                f"{self._sink.path} is a table with other columns than {what}: it has "
                f"{_listed(table.schema().fields)}, and would get {_listed(wanted.fields)}"
            )
        if list(table.metadata().partition_columns) != parted:
            raise SinkError(
                f"{self._sink.path} is partitioned by {', '.join(table.metadata().partition_columns) or 'nothing'}; "
                "give the same as partition_by="
            )

    def publish(self, batch: int, files: Sequence[WrittenFile], rows: OutputTable) -> None:
        """Commit the files of a batch, unless the log has the batch."""
        if not files:
            return
        if not self.location.exists(LOG):
            self.prepare(rows.schema, f"the {rows.part}s")
        table = self._open()
        if self._has_batch(table, rows.token, batch):
            self.remove(self.location.to(file.name) for file in files)
            return
        package, transaction = deltalake(), deltalake("deltalake.transaction")
        now, schema = int(time() * 1000), package.Schema.from_arrow(stored_schema(rows.schema))
        adds = [
            transaction.AddAction(file.name, file.n_bytes, dict(file.partition), now, True, file.stats)
            for file in files
        ]
        properties = package.CommitProperties(app_transactions=[package.Transaction(_app(rows.token), batch, now)])
        parted = list(self._sink.partition_by)
        try:
            table.create_write_transaction(adds, "append", schema, parted, commit_properties=properties)
        except deltalake("deltalake.exceptions").CommitFailedError:
            if not self._has_batch(self._open(), rows.token, batch):  # else another driver of this query was faster
                raise

    def left_over(self, *, stopped: bool = False) -> list[str]:
        """Files that failed attempts have left: written by us, for a batch that was committed, and in no log entry.

        Files of a later batch may be in use, unless all queries that write to the table have `stopped`. Files that the
        log has removed are left to Delta's own vacuum.
        """
        table = self._open()
        lasts = {token: table.transaction_version(_app(token)) for token in self._tokens()}

        def is_over(name: str) -> bool:
            token, batch = token_of(name), batch_of(name)
            if token is None or batch is None:
                return False
            last = lasts.get(token)
            return stopped or (last is not None and batch <= last)

        return sorted(self.location.to(name) for name in self._unknown(table) if "/" not in name and is_over(name))

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files, if they exist."""
        for path in paths:
            with suppress(FileNotFoundError):
                self.location.files.delete_file(path)

    def _unknown(self, table: Any) -> set[str]:
        """Files in no entry of the log: files that a full vacuum would remove, without those that the log removed."""
        how = {"retention_hours": 0, "dry_run": True, "enforce_retention_duration": False}
        return set(table.vacuum(**how, full=True)) - set(table.vacuum(**how, full=False))

    def _tokens(self) -> set[str]:
        found = (token_of(entry.base_name) for entry in self.location.entries())
        return {token for token in found if token is not None}

    def _open(self) -> Any:
        return deltalake().DeltaTable(self._address, storage_options=self._options)

    def _has_batch(self, table: Any, token: str, batch: int) -> bool:
        last = table.transaction_version(_app(token))
        return last is not None and batch <= last


def _app(token: str) -> str:
    return f"punctuated-{token}"


def _listed(fields: Iterable[Any]) -> str:
    return ", ".join(f"{field.name} {getattr(field.type, 'type', field.type)}" for field in fields)


def delta_statistics(metadata: pq.FileMetaData) -> str:
    """The statistics of a file as JSON, from its footer; times are rounded outwards to Delta's milliseconds.

    Texts and floating point numbers have no bounds: Parquet may cut texts, and NaN is in no order.
    """
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for index in range(metadata.num_columns):
        name = metadata.schema.column(index).path
        found = list(_column_statistics(metadata, index))
        if "." in name or None in found:
            continue
        nulls[name] = sum(each[2] for each in found if each is not None)
        bounds = [each[:2] for each in found if each is not None and each[0] is not None]
        if bounds:
            least[name] = _shown(min(low for low, _ in bounds), up=False)
            greatest[name] = _shown(max(high for _, high in bounds), up=True)
    statistics = {"numRecords": metadata.num_rows, "minValues": least, "maxValues": greatest, "nullCount": nulls}
    return json.dumps(statistics)


def _column_statistics(metadata: pq.FileMetaData, index: int) -> Iterator[tuple[Any, Any, int] | None]:
    """The bounds, if there are any, and the nulls of a column in each row group; None where they are not known."""
    for number in range(metadata.num_row_groups):
        column = metadata.row_group(number).column(index)
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
