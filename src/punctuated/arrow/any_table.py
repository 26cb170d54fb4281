"""Tables of any library as Arrow tables: pandas, and every library with Arrow's C interface."""

from typing import Any, Protocol

import pyarrow as pa

from punctuated.arrow.types import plain_table
from punctuated.errors import StreamError


class AnyTable(Protocol):
    """A pyarrow Table, RecordBatch or RecordBatchReader, a pandas or polars frame, or something similar."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def as_table(data: Any) -> pa.Table | None:
    """The table with plain columns, or None if this is no table; a reader is read to its end."""
    try:
        table = _table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise StreamError(f"cannot read a {type(data).__name__} as a table: {error}") from error
    return None if table is None else plain_table(table.replace_schema_metadata(None))


def _table(data: Any) -> pa.Table | None:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if _is_pandas(data):
        return _from_pandas(data)
    return _from_stream(data) if hasattr(type(data), "__arrow_c_stream__") else None


def _from_stream(data: Any) -> pa.Table:
    """Without empty batches: if one was cut out of a larger batch, Arrow passes it on with too little memory."""
    reader = pa.RecordBatchReader.from_stream(data)
    return pa.Table.from_batches([batch for batch in reader if batch.num_rows], reader.schema)


def _is_pandas(data: Any) -> bool:
    return type(data).__name__ == "DataFrame" and type(data).__module__.startswith("pandas.")


def _from_pandas(frame: Any) -> pa.Table:
    """A named index becomes a column; an index without a name is not part of the data."""
    is_named = any(name is not None for name in frame.index.names)
    return pa.Table.from_pandas(frame.reset_index() if is_named else frame, preserve_index=False)
