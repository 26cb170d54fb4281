"""Key rows as bytes: equal keys have equal bytes, different keys different ones. Nulls have none."""

import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Encoded = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]


def encode_rows(table: pa.Table) -> Encoded:
    """Offsets and data of one byte string per row, and which rows have no null in the key."""
    parts = [part for column in table.columns for part in _parts(_one_array(column))]
    joined = parts[0] if len(parts) == 1 else _join(parts)
    valid = np.ones(len(table), np.bool_)
    for column in table.columns:
        valid &= column.is_valid().to_numpy()
    if joined.null_count:
        joined = pc.fill_null(joined, b"")
    buffers = joined.buffers()
    offsets = np.frombuffer(buffers[1], np.int64)[joined.offset : joined.offset + len(joined) + 1]
    data = np.frombuffer(buffers[2], np.uint8) if buffers[2] is not None else np.empty(0, np.uint8)
    return offsets.copy() if len(joined) else np.zeros(1, np.int64), data, valid


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    array = column.combine_chunks()
    return array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)


def _parts(column: pa.Array) -> Iterator[pa.Array]:
    """Large-binary arrays whose row-wise concatenation stands for the column, up to boundaries."""
    dtype = column.type
    if pa.types.is_struct(dtype):
        for field in column.flatten():
            yield from _parts(field)
    elif pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_binary(dtype):
        yield column.cast(pa.binary()).cast(pa.large_binary())
    elif _is_nested(dtype):
        yield pa.array([_canonical_text(value) for value in column.to_pylist()], pa.large_binary())
    else:
        yield _fixed_width(column)


def _is_nested(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_nested(dtype) or pa.types.is_null(dtype))


def _canonical_text(value: object) -> bytes | None:
    return None if value is None else json.dumps(value, default=repr, sort_keys=True).encode()


def _fixed_width(column: pa.Array) -> pa.Array:
    """The values' own bytes; numbers are brought to one form first (-0.0 is 0.0, NaN is NaN)."""
    if pa.types.is_floating(column.type):
        numbers = column.cast(pa.float64())
        valid = column.is_valid()
        plain = np.asarray(pc.fill_null(numbers, 0.0)) + 0.0
        plain[np.isnan(plain)] = np.nan
        column = pc.if_else(valid, pa.array(plain), pa.scalar(None, pa.float64()))
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    elif pa.types.is_fixed_size_binary(column.type):
        return column.cast(pa.binary()).cast(pa.large_binary())
    width = column.type.bit_width // 8
    compact = pa.concat_arrays([column])
    raw = pa.Array.from_buffers(pa.binary(width), len(compact), compact.buffers()[:2], offset=compact.offset)
    return raw.cast(pa.binary()).cast(pa.large_binary())


def _join(parts: list[pa.Array]) -> pa.Array:
    """Concatenate row by row, each part behind its length, so that boundaries cannot shift."""
    pieces: list[pa.Array] = []
    for part in parts:
        lengths = pc.fill_null(pc.binary_length(part), 0).cast(pa.int64())
        pieces.append(_fixed_width(_one(lengths)))
        pieces.append(part)
    return pc.binary_join_element_wise(*pieces, pa.scalar(b"", pa.large_binary()), null_handling="emit_null")


def _one(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
