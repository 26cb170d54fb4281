"""Opens the table of a sink, or the table at a path, as the driver and the command line use it."""

from punctuated.errors import SinkError
from punctuated.storage.tables.delta_table import LOG, DeltaTable
from punctuated.storage.tables.location import TableLocation
from punctuated.storage.tables.parquet_folder import BATCH_ID, ParquetFolder
from punctuated.storage.tables.sink import TableKind, TableSink, delta
from punctuated.storage.tables.written_file import STAGED

OpenTable = ParquetFolder | DeltaTable


def table_of(sink: TableSink, batches: str = BATCH_ID) -> OpenTable:
    """The table of a sink; `batches` is the name of the folders of batches."""
    return DeltaTable(sink) if sink.kind is TableKind.DELTA else ParquetFolder(sink.path, batches)


def table_at(path: str) -> OpenTable:
    """The table at a path; raises if it is none that `write_to` has written."""
    location = TableLocation(path.rstrip("/"))
    if location.exists(LOG):
        return DeltaTable(delta(path))
    if location.exists(STAGED):
        return ParquetFolder(location.path)
    raise SinkError(f"{path} holds no table that write_to has written: neither {STAGED!r} nor {LOG!r} is there")
