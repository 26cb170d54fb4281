"""Columns without encodings: the same values, however a library has packed them.

Dictionaries, runs and views save memory, but are not types of their own. Other libraries use them without being asked,
and only some of Arrow's functions know them.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import ColumnError


def plain_table(table: pa.Table) -> pa.Table:
    """The table with plain columns."""
    wanted = [plain_type(dtype) for dtype in table.schema.types]
    if wanted == table.schema.types:
        return table
    columns = [_plain(*each) for each in zip(table.column_names, table.columns, wanted, strict=True)]
    fields = [field.with_type(dtype) for field, dtype in zip(table.schema, wanted, strict=True)]
    return pa.table(columns, schema=pa.schema(fields))


def plain_type(dtype: pa.DataType) -> pa.DataType:
    """The type of the values.

    >>> plain_type(pa.dictionary(pa.int8(), pa.string_view()))
    DataType(string)
    """
    kind = pa.types
    if kind.is_dictionary(dtype) or kind.is_run_end_encoded(dtype):
        return plain_type(dtype.value_type)
    if kind.is_string_view(dtype):
        return pa.string()
    if kind.is_binary_view(dtype):
        return pa.binary()
    if kind.is_list(dtype) or kind.is_list_view(dtype):
        return pa.list_(_plain_field(dtype.value_field))
    if kind.is_large_list(dtype) or kind.is_large_list_view(dtype):
        return pa.large_list(_plain_field(dtype.value_field))
    if kind.is_fixed_size_list(dtype):
        return pa.list_(_plain_field(dtype.value_field), dtype.list_size)
    if kind.is_struct(dtype):
        return pa.struct([_plain_field(field) for field in dtype])
    if kind.is_map(dtype):
        return pa.map_(_plain_field(dtype.key_field), _plain_field(dtype.item_field), dtype.keys_sorted)
    return dtype


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def _plain(name: str, column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
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
    """By hand: Arrow's own cast forgets the last offset."""
    lengths = pc.fill_null(pc.list_value_length(views), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = _plain_array(views.flatten(), wanted.value_type)
    is_large = pa.types.is_large_list(wanted)
    offsets_array = pa.array(offsets, pa.int64() if is_large else pa.int32())
    kind = pa.LargeListArray if is_large else pa.ListArray
    return kind.from_arrays(offsets_array, values, mask=views.is_null()).cast(wanted)
