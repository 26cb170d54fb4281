"""The table behind a sink, or at a path, as the driver and the command line see it."""

from punctuated.errors import SinkError
from punctuated.storage.tables.delta_table import LOG, DeltaTable
from punctuated.storage.tables.location import Place
from punctuated.storage.tables.names import STAGED
from punctuated.storage.tables.parquet_folder import BATCH_ID, ParquetFolder
from punctuated.storage.tables.sink import Kind, TableSink, delta

OpenTable = ParquetFolder | DeltaTable


def table_of(sink: TableSink, batches: str = BATCH_ID) -> OpenTable:
    """The table of a sink; `batches` is what folders of batches are called."""
    return DeltaTable(sink) if sink.kind is Kind.DELTA else ParquetFolder(sink.path, batches)


def table_at(path: str) -> OpenTable:
    """The table that lies there; raises if none of ours does."""
    place = Place(path.rstrip("/"))
    if place.exists(LOG):
        return DeltaTable(delta(path))
    if place.exists(STAGED):
        return ParquetFolder(place.path)
    raise SinkError(f"{path} holds no table that write_to has written: neither {STAGED!r} nor {LOG!r} is there")
