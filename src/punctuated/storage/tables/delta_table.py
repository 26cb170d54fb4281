"""A Delta table: workers put files beside those of the table, a commit in its log makes those of a batch count.

Each commit names the checkpoint and the batch as an application transaction, which the log keeps for good. A batch that
is repeated finds its number there and is left out. If two drivers of one query commit at once, one of them fails.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from time import time
from typing import Any

import pyarrow as pa

from punctuated.errors import SinkError
from punctuated.storage.tables.location import Place
from punctuated.storage.tables.names import batch_of, token_of
from punctuated.storage.tables.sink import TableSink
from punctuated.storage.tables.types import stored_schema
from punctuated.storage.tables.writer import Written, WrittenFile

LOG = "_delta_log"


def deltalake(module: str = "deltalake") -> Any:
    """The package, or one of its modules."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "deltalake":
            raise
        raise SinkError('pt.delta(…) needs the package deltalake: pip install "punctuated[delta]"') from error


class DeltaTable:
    """The table, as the driver sees it."""

    def __init__(self, sink: TableSink) -> None:
        self._sink, self.place = sink, Place(sink.path)
        self._options = dict(sink.storage_options) or None
        self._address = self.place.root if self.place.is_local else sink.path

    def prepare(self, schema: pa.Schema, what: str) -> None:
        """Make the table if it is not there; raise if the one that is there has other columns."""
        stored, package = stored_schema(schema), deltalake()
        parted = list(self._sink.partition_by)
        if self.place.is_local:
            self.place.files.create_dir(self.place.root, recursive=True)
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

    def publish(self, batch: int, files: Sequence[WrittenFile], rows: Written) -> None:
        """Commit the files of a batch, unless the log has the batch."""
        if not files:
            return
        if not self.place.exists(LOG):
            self.prepare(rows.schema, f"the {rows.part}s")
        table = self._open()
        if self._is_there(table, rows.token, batch):
            self.remove(self.place.to(file.name) for file in files)
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
            if not self._is_there(self._open(), rows.token, batch):  # else another driver of this query was faster
                raise

    def left_over(self, *, stopped: bool = False) -> list[str]:
        """Files of failed attempts: of ours, of a batch that was committed, and in no entry of the log.

        Those of a later batch may be in use, unless all queries that write to the table have `stopped`. Files that the
        log has removed are the business of Delta's own vacuum.
        """
        table = self._open()
        lasts = {token: table.transaction_version(_app(token)) for token in self._tokens()}

        def is_over(name: str) -> bool:
            token, batch = token_of(name), batch_of(name)
            if token is None or batch is None:
                return False
            last = lasts.get(token)
            return stopped or (last is not None and batch <= last)

        return sorted(self.place.to(name) for name in self._unknown(table) if "/" not in name and is_over(name))

    def remove(self, paths: Iterable[str]) -> None:
        """Take away files, as far as they are there."""
        for path in paths:
            with suppress(FileNotFoundError):
                self.place.files.delete_file(path)

    def _unknown(self, table: Any) -> set[str]:
        """Files that stand in no entry of the log: of those that nobody needs, all but the removed ones."""
        how = {"retention_hours": 0, "dry_run": True, "enforce_retention_duration": False}
        return set(table.vacuum(**how, full=True)) - set(table.vacuum(**how, full=False))

    def _tokens(self) -> set[str]:
        found = (token_of(entry.base_name) for entry in self.place.entries())
        return {token for token in found if token is not None}

    def _open(self) -> Any:
        return deltalake().DeltaTable(self._address, storage_options=self._options)

    def _is_there(self, table: Any, token: str, batch: int) -> bool:
        last = table.transaction_version(_app(token))
        return last is not None and batch <= last


def _app(token: str) -> str:
    return f"punctuated-{token}"


def _listed(fields: Iterable[Any]) -> str:
    return ", ".join(f"{field.name} {getattr(field.type, 'type', field.type)}" for field in fields)
