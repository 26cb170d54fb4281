"""Tables with other types; nested values stay as they are in memory.

Arrow's cast refuses a null struct if its fields are declared without nulls, as in Spark's variants. But nested types of
one stream differ only in declarations: the time zone in which times are shown, and where nulls may be.
"""

from typing import Any

import pyarrow as pa


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
