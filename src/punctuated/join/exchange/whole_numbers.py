"""Columns that are whole numbers in memory, whatever their type means: as NumPy arrays for kernels, and back."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
_STORED = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}  # by width; to gain from less than that is not worth it


def are_whole(column: pa.ChunkedArray) -> bool:
    """Whether a column is one of whole numbers without nulls."""
    return _stored(column.type) is not None and not column.null_count


def read_whole(array: pa.Array) -> Ints:
    """The numbers of a part of such a column; read-only, so that kernels are compiled once."""
    numbers: Ints = array.view(_stored(array.type)).to_numpy().astype(np.int64, copy=False).view()
    numbers.flags.writeable = False
    return numbers


def write_whole(numbers: Ints, dtype: pa.DataType) -> pa.Array:
    """The inverse; of 64-bit types without a copy."""
    stored = numbers.astype(f"int{dtype.bit_width}", copy=False)
    return pa.Array.from_buffers(dtype, stored.size, [None, pa.py_buffer(stored)])


def _stored(dtype: pa.DataType) -> pa.DataType | None:
    kind = pa.types
    is_moment = kind.is_temporal(dtype) and not kind.is_interval(dtype)
    return _STORED.get(dtype.bit_width) if kind.is_integer(dtype) or is_moment else None
