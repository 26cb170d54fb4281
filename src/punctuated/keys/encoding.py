"""Key rows as bytes: equal keys have equal bytes, different keys different ones. A key with a null column has none.

A nested value is one value, as in Spark: inside it nulls are equal to each other and to nothing else, both zeros are
equal, and so are all NaNs. So every value inside another one comes after its length, which is -1 for a null.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.buffers import byte_data, byte_offsets, list_ends, with_nulls
from punctuated.arrow.types import canonical_floats, decoded, is_bytes, is_text

Encoded = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]
NESTED_VERSION = 2  # of the bytes of nested values, which decide their buckets
_BYTES = pa.large_binary()


def encode_rows(table: pa.Table) -> Encoded:
    """Offsets and data of one byte string per row, and which rows have no null in the key."""
    columns = [_encoded(_one_array(column)) for column in table.columns]
    joined = columns[0] if len(columns) == 1 else _framed(columns, len(table))
    valid = np.ones(len(table), np.bool_)
    for column in columns:
        valid &= np.asarray(column.is_valid())
    return byte_offsets(joined), byte_data(joined), valid


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)


def _encoded(column: pa.Array) -> pa.Array:
    """The bytes of each value, null where it is null."""
    column = decoded(column)
    kind, dtype = pa.types, column.type
    if kind.is_null(dtype):
        return pa.nulls(len(column), _BYTES)
    if kind.is_struct(dtype):
        fields = [_encoded(field) for field in column.flatten()]
        return with_nulls(_framed(fields, len(column)), column)
    if kind.is_map(dtype):
        return _encoded_map(column)
    if kind.is_union(dtype):
        return pa.array([repr(value).encode() for value in column.to_pylist()], _BYTES)
    if kind.is_nested(dtype):
        return _concatenated(_framed_each(column.flatten()), column)
    return _variable_width(column) if is_text(dtype) or is_bytes(dtype) else _fixed_width(column)


def _encoded_map(column: pa.Array) -> pa.Array:
    """A map is a set of entries: they are sorted by their bytes."""
    entry = pa.struct([pa.field("key", column.type.key_type), pa.field("value", column.type.item_type)])
    lists = column.cast(pa.large_list(entry))
    entries = _framed_each(lists.flatten())
    owners = np.repeat(np.arange(len(lists)), np.diff(list_ends(lists)))
    keyed = pa.table({"owner": owners, "entry": entries})
    order = pc.sort_indices(keyed, sort_keys=[("owner", "ascending"), ("entry", "ascending")])
    return _concatenated(entries.take(order), lists)


def _variable_width(column: pa.Array) -> pa.Array:
    """The bytes of texts and of bytes."""
    is_large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    return column.cast(_BYTES) if is_large else column.cast(pa.binary()).cast(_BYTES)


def _fixed_width(column: pa.Array) -> pa.Array:
    """The bytes of values of a fixed width, floating-point numbers in one form (-0.0 is 0.0, NaN is NaN)."""
    if pa.types.is_floating(column.type):
        column = canonical_floats(column.cast(pa.float64()))
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    width = column.type.bit_width // 8
    compact = pa.concat_arrays([column])
    raw = pa.Array.from_buffers(pa.binary(width), len(compact), compact.buffers()[:2], offset=compact.offset)
    return raw.cast(pa.binary()).cast(_BYTES)


def _framed(parts: list[pa.Array], n: int) -> pa.Array:
    """The bytes of all parts of a row, each after its length, so that boundaries cannot shift.

    Without parts there are `n` rows without bytes.
    """
    pieces: list[pa.Array] = []
    for part in parts:
        lengths = pc.fill_null(pc.binary_length(part).cast(pa.int64()), -1)
        pieces += [_fixed_width(lengths), pc.fill_null(part, b"") if part.null_count else part]
    if not pieces:
        return pa.array([b""], _BYTES).take(pa.array(np.zeros(n, np.int64)))
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", _BYTES))


def _framed_each(elements: pa.Array) -> pa.Array:
    """The bytes of each element after its length."""
    return _framed([_encoded(elements)], len(elements))


def _concatenated(elements: pa.Array, lists: pa.Array) -> pa.Array:
    """The bytes of all elements of each list as one value, without a copy."""
    offsets = pa.py_buffer(byte_offsets(elements)[list_ends(lists)])
    rows = pa.Array.from_buffers(_BYTES, len(lists), [None, offsets, pa.py_buffer(byte_data(elements))])
    return with_nulls(rows, lists)
