"""Arrow's types taken apart and put together again, and columns under types of the same values.

What has a type for each kind of value and layout walks over types by `with_parts`, `leaf_types` and `decoded`, so that
a kind of nested type is known here and nowhere else.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Walking over types


def with_parts(dtype: pa.DataType, change: Callable[[pa.Field], pa.Field | pa.DataType]) -> pa.DataType:
    """A struct, list or map of the same kind with changed parts; any other type as it is.

    If `change` returns a field, the part is declared like it; if it returns a type, the part may be null, and a list's
    elements have their default name.

    >>> with_parts(pa.list_(pa.int8()), lambda part: pa.string())
    ListType(list<item: string>)
    >>> with_parts(pa.int8(), lambda part: pa.string())
    DataType(int8)
    """
    kind = pa.types
    if kind.is_struct(dtype):
        return pa.struct([_named(change(field), field.name) for field in dtype])
    if kind.is_map(dtype):
        key, item = change(dtype.key_field), change(dtype.item_field)
        if isinstance(key, pa.Field):
            return pa.map_(key.with_nullable(False), item, dtype.keys_sorted)
        return pa.map_(key, item)
    if kind.is_list(dtype):
        return pa.list_(change(dtype.value_field))
    if kind.is_large_list(dtype):
        return pa.large_list(change(dtype.value_field))
    if kind.is_fixed_size_list(dtype):
        return pa.list_(change(dtype.value_field), dtype.list_size)
    return dtype


def _named(part: pa.Field | pa.DataType, name: str) -> pa.Field:
    return part if isinstance(part, pa.Field) else pa.field(name, part)


def leaf_types(dtype: pa.DataType) -> Iterator[pa.DataType]:
    """The types inside of a nested type that are not nested themselves; of any other type, itself.

    >>> [str(leaf) for leaf in leaf_types(pa.struct([("a", pa.list_(pa.int8())), ("b", pa.string())]))]
    ['int8', 'string']
    """
    if not pa.types.is_nested(dtype):
        yield dtype
        return
    for number in range(dtype.num_fields):
        yield from leaf_types(dtype.field(number).type)


def decoded(array: pa.Array) -> pa.Array:
    """The values of an array whose type is an extension, a dictionary or runs; any other array as it is."""
    dtype = array.type
    if isinstance(dtype, pa.BaseExtensionType):
        return decoded(array.storage)
    if pa.types.is_dictionary(dtype):
        return decoded(array.cast(dtype.value_type))
    return decoded(pc.run_end_decode(array)) if pa.types.is_run_end_encoded(dtype) else array


def is_text(dtype: pa.DataType) -> bool:
    """Whether values are texts, in any layout."""
    kind = pa.types
    return bool(kind.is_string(dtype) or kind.is_large_string(dtype) or kind.is_string_view(dtype))


def is_bytes(dtype: pa.DataType) -> bool:
    """Whether values are bytes that are no text, in any layout."""
    kind = pa.types
    is_long = kind.is_large_binary(dtype) or kind.is_binary_view(dtype)
    return bool(kind.is_binary(dtype) or is_long or kind.is_fixed_size_binary(dtype))


def plain_type(dtype: pa.DataType) -> pa.DataType:
    """The type of the same values without dictionaries, runs and views, inside of nested types, too.

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
    if kind.is_list_view(dtype):
        return plain_type(pa.list_(dtype.value_field))
    if kind.is_large_list_view(dtype):
        return plain_type(pa.large_list(dtype.value_field))
    return with_parts(dtype, lambda part: part.with_type(plain_type(part.type)))


# Columns under other types; nested values stay as they are in memory
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
        return pa.chunked_array([pa.array(_DeclaredArray(chunk, dtype)) for chunk in column.chunks], dtype)
    return column.cast(dtype)


def uncastable(column: pa.ChunkedArray, dtype: pa.DataType) -> list[int]:
    """The indices of values that another type cannot hold, found by halving: most often there is none."""
    if not len(column):
        return []
    try:
        _recast(column, dtype)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return [0]
        half = len(column) // 2
        return [*uncastable(column[:half], dtype), *(half + index for index in uncastable(column[half:], dtype))]
    return []


class _DeclaredArray:
    """An array under another type of the same layout, for Arrow's interface between libraries."""

    def __init__(self, array: pa.Array, dtype: pa.DataType) -> None:
        self._array, self._dtype = array, dtype

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return self._dtype.__arrow_c_schema__(), self._array.__arrow_c_array__()[1]


def _layout(dtype: pa.DataType) -> pa.DataType:
    """A type without declarations that make no difference in memory."""
    if pa.types.is_timestamp(dtype):
        return pa.timestamp(dtype.unit)
    return with_parts(dtype, lambda part: _layout(part.type))


# One form for equal floating-point numbers: 0.0 for both zeros, one NaN for all of them


def canonical_floats(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The column with 0.0 for both zeros and one NaN for all NaNs; columns of other types stay as they are.

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
