"""Key rows as bytes: equal keys have equal bytes, different keys different ones. A key with a null column has none.

A nested value is one value, as in Spark: inside it nulls are equal to each other and to nothing else, both zeros are
one, and so are all NaNs. So every value inside another stands behind its length, which is -1 for a null.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.intake.canonical import canonical_floats

Encoded = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]
NESTED_VERSION = 2  # how nested values become bytes, by which they find their buckets
_BYTES = pa.large_binary()


def encode_rows(table: pa.Table) -> Encoded:
    """Offsets and data of one byte string per row, and which rows have no null in the key."""
    columns = [_encoded(_one_array(column)) for column in table.columns]
    joined = columns[0] if len(columns) == 1 else _framed(columns, len(table))
    valid = np.ones(len(table), np.bool_)
    for column in columns:
        valid &= np.asarray(column.is_valid())
    return _offsets(joined), _data(joined), valid


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)


def _encoded(column: pa.Array) -> pa.Array:
    """The bytes of each value, null where it is null."""
    kind, dtype = pa.types, column.type
    if isinstance(dtype, pa.BaseExtensionType):
        return _encoded(column.storage)
    if kind.is_dictionary(dtype):
        return _encoded(column.cast(dtype.value_type))
    if kind.is_run_end_encoded(dtype):
        return _encoded(pc.run_end_decode(column))
    if kind.is_null(dtype):
        return pa.nulls(len(column), _BYTES)
    if kind.is_struct(dtype):
        fields = [_encoded(field) for field in column.flatten()]
        return _with_nulls(_framed(fields, len(column)), column)
    if kind.is_map(dtype):
        return _encoded_map(column)
    if kind.is_union(dtype):
        return pa.array([repr(value).encode() for value in column.to_pylist()], _BYTES)
    if kind.is_nested(dtype):
        return _concatenated(_framed_each(column.flatten()), column)
    return _plain_bytes(column) if _is_bytes(dtype) else _fixed_width(column)


def _encoded_map(column: pa.Array) -> pa.Array:
    """A map is a set of entries: they are sorted by their bytes."""
    entry = pa.struct([pa.field("key", column.type.key_type), pa.field("value", column.type.item_type)])
    lists = column.cast(pa.large_list(entry))
    entries = _framed_each(lists.flatten())
    owners = np.repeat(np.arange(len(lists)), _lengths(lists))
    keyed = pa.table({"owner": owners, "entry": entries})
    order = pc.sort_indices(keyed, sort_keys=[("owner", "ascending"), ("entry", "ascending")])
    return _concatenated(entries.take(order), lists)


def _is_bytes(dtype: pa.DataType) -> bool:
    kind = pa.types
    is_text = kind.is_string(dtype) or kind.is_large_string(dtype) or kind.is_string_view(dtype)
    is_binary = kind.is_binary(dtype) or kind.is_large_binary(dtype) or kind.is_binary_view(dtype)
    return bool(is_text or is_binary or kind.is_fixed_size_binary(dtype))


def _plain_bytes(column: pa.Array) -> pa.Array:
    is_text = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    return column.cast(_BYTES) if is_text else column.cast(pa.binary()).cast(_BYTES)


def _fixed_width(column: pa.Array) -> pa.Array:
    """The values' own bytes; numbers are brought to one form first (-0.0 is 0.0, NaN is NaN)."""
    if pa.types.is_floating(column.type):
        column = canonical_floats(column.cast(pa.float64()))
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    width = column.type.bit_width // 8
    compact = pa.concat_arrays([column])
    raw = pa.Array.from_buffers(pa.binary(width), len(compact), compact.buffers()[:2], offset=compact.offset)
    return raw.cast(pa.binary()).cast(_BYTES)


def _framed(parts: list[pa.Array], n: int) -> pa.Array:
    """Row by row, each part behind its length, so that boundaries cannot shift; without parts, `n` empty rows."""
    pieces: list[pa.Array] = []
    for part in parts:
        lengths = pc.fill_null(pc.binary_length(part).cast(pa.int64()), -1)
        pieces += [_fixed_width(lengths), pc.fill_null(part, b"") if part.null_count else part]
    if not pieces:
        return pa.array([b""], _BYTES).take(pa.array(np.zeros(n, np.int64)))
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", _BYTES))


def _framed_each(elements: pa.Array) -> pa.Array:
    return _framed([_encoded(elements)], len(elements))


def _concatenated(elements: pa.Array, lists: pa.Array) -> pa.Array:
    """The bytes of all elements of a list as one, where they lie."""
    ends = np.concatenate([[0], np.cumsum(_lengths(lists), dtype=np.int64)])
    offsets = pa.py_buffer(_offsets(elements)[ends])
    rows = pa.Array.from_buffers(_BYTES, len(lists), [None, offsets, pa.py_buffer(_data(elements))])
    return _with_nulls(rows, lists)


def _lengths(lists: pa.Array) -> npt.NDArray[np.int64]:
    return np.asarray(pc.fill_null(pc.list_value_length(lists), 0)).astype(np.int64)


def _with_nulls(values: pa.Array, column: pa.Array) -> pa.Array:
    return pc.if_else(column.is_valid(), values, pa.scalar(None, _BYTES)) if column.null_count else values


def _offsets(values: pa.Array) -> npt.NDArray[np.int64]:
    """Where each value begins and ends in the data; that of a null is whatever stands there."""
    if not len(values):
        return np.zeros(1, np.int64)
    return np.frombuffer(values.buffers()[1], np.int64)[values.offset : values.offset + len(values) + 1].copy()


def _data(values: pa.Array) -> npt.NDArray[np.uint8]:
    buffer = values.buffers()[2]
    return np.frombuffer(buffer, np.uint8) if buffer is not None else np.empty(0, np.uint8)
