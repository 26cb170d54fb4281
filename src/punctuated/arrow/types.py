"""Columns without encodings: the same values, however a library has packed them.

Dictionaries, runs and views save memory, but are not types of their own. Other libraries use them without being asked,
and only some of Arrow's functions know them.
"""

from typing import Any

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


# Tables with other types; nested values stay as they are in memory.
#
# Arrow's cast refuses a null struct if its fields are declared without nulls, as in Spark's variants. But nested
# types of one stream differ only in declarations: the time zone in which times are shown, and where nulls may be.


def recast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of a table with the types of a schema that has the same names."""
    columns = [_recast(column, field.type) for column, field in zip(table.columns, schema, strict=True)]
    return pa.table(columns, schema=schema)


def _recast(column: pa.ChunkedArray, dtype: pa.DataType) -> pa.ChunkedArray:
    if column.type == dtype:
        return column
    if pa.types.is_nested(dtype) and _layout(column.type) == _layout(dtype):
        return pa.chunked_array([pa.array(_Declared(chunk, dtype)) for chunk in column.chunks], dtype)
    return column.cast(dtype)


def uncastable(column: pa.ChunkedArray, dtype: pa.DataType) -> list[int]:
    """The places of values that another type cannot hold, found by halving: most often there is none."""
    if not len(column):
        return []
    try:
        _recast(column, dtype)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return [0]
        half = len(column) // 2
        return [*uncastable(column[:half], dtype), *(half + place for place in uncastable(column[half:], dtype))]
    return []


class _Declared:
    """An array under another type of the same layout, for Arrow's interface between libraries."""

    def __init__(self, array: pa.Array, dtype: pa.DataType) -> None:
        self._array, self._dtype = array, dtype

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self._dtype.__arrow_c_schema__(), self._array.__arrow_c_array__()[1]


def _layout(dtype: pa.DataType) -> pa.DataType:
    """A type without declarations that make no difference in memory."""
    if pa.types.is_timestamp(dtype):
        return pa.timestamp(dtype.unit)
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(field.name, _layout(field.type)) for field in dtype])
    if pa.types.is_map(dtype):
        return pa.map_(_layout(dtype.key_type), _layout(dtype.item_type))
    return pa.list_(_layout(dtype.value_type)) if pa.types.is_list(dtype) else dtype


# One form for equal floating-point numbers: 0.0 for both zeros, one NaN for all of them.


def canonical_floats(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The same values in one form; columns of other types stay as they are.

    >>> canonical_floats(pa.array([-0.0, None, 1.5])).to_pylist()
    [0.0, None, 1.5]
    """
    if not pa.types.is_floating(column.type):
        return column
    dtype = column.type.to_pandas_dtype()
    filled = pc.fill_null(column, pa.scalar(0.0, column.type)) if column.null_count else column
    numbers = filled.to_numpy(zero_copy_only=False) if isinstance(filled, pa.Array) else filled.to_numpy()
    plain = numbers + dtype(0.0)
    plain[np.isnan(plain)] = np.nan
    return pa.array(plain, column.type, mask=np.asarray(column.is_null()) if column.null_count else None)
