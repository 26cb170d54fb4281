"""Tables of any library as Arrow tables with plain columns: pandas, and every library with Arrow's C interface.

Dictionaries, runs and views save memory, but are not types of their own. Other libraries use them without being asked,
and only some of Arrow's functions know them: so every column becomes a plain one here, with the same values.
"""

from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.types import plain_type
from punctuated.errors import ColumnError, StreamError


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
    """The batches that have rows: Arrow passes an empty one, cut out of a larger one, on with too little memory."""
    reader = pa.RecordBatchReader.from_stream(data)
    return pa.Table.from_batches([batch for batch in reader if batch.num_rows], reader.schema)


def _is_pandas(data: Any) -> bool:
    return type(data).__name__ == "DataFrame" and type(data).__module__.startswith("pandas.")


def _from_pandas(frame: Any) -> pa.Table:
    """A named index becomes a column; an index without a name is not part of the data."""
    is_named = any(name is not None for name in frame.index.names)
    return pa.Table.from_pandas(frame.reset_index() if is_named else frame, preserve_index=False)


# Plain columns


def plain_table(table: pa.Table) -> pa.Table:
    """The table without dictionaries, runs and views in its columns."""
    wanted = [plain_type(dtype) for dtype in table.schema.types]
    if wanted == table.schema.types:
        return table
    columns = [_plain_column(*each) for each in zip(table.column_names, table.columns, wanted, strict=True)]
    fields = [field.with_type(dtype) for field, dtype in zip(table.schema, wanted, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


def _plain_column(name: str, column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    if column.type == wanted:
        return column
    try:
        return pa.chunked_array([_plain_array(chunk, wanted) for chunk in column.chunks], wanted)
    except pa.ArrowException as error:
        message = f"column {name!r} of type {column.type} cannot be read as {wanted} ({error}); cast it"
        raise ColumnError(message) from None


def _plain_array(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    if pa.types.is_run_end_encoded(array.type):
        return _plain_array(pc.run_end_decode(array), wanted)
    if pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type):
        return _plain_lists(array, wanted)
    plain = array if array.type == wanted else array.cast(wanted)
    plain.validate()
    return plain


def _plain_lists(views: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Lists of an array of list views. Not by Arrow's cast, which forgets the last offset."""
    lengths = pc.fill_null(pc.list_value_length(views), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = _plain_array(views.flatten(), wanted.value_type)
    is_large = pa.types.is_large_list(wanted)
    offsets_array = pa.array(offsets, pa.int64() if is_large else pa.int32())
    kind = pa.LargeListArray if is_large else pa.ListArray
    return kind.from_arrays(offsets_array, values, mask=views.is_null()).cast(wanted)
