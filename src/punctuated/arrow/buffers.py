"""The buffers behind arrays of bytes, texts and lists, for code that works on whole buffers."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]


def byte_offsets(values: pa.Array) -> Ints:
    """The offsets at which the values of a large binary or text array begin and end; those of a null mean nothing."""
    if not len(values):
        return np.zeros(1, np.int64)
    return np.frombuffer(values.buffers()[1], np.int64)[values.offset : values.offset + len(values) + 1].copy()


def byte_data(values: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of a large binary or text array, into which its offsets point."""
    buffer = values.buffers()[2]
    return np.frombuffer(buffer, np.uint8) if buffer is not None else np.empty(0, np.uint8)


def list_ends(lists: pa.Array) -> Ints:
    """The offsets of lists among their flattened elements, from 0 on; a null has no elements."""
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0))
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def with_nulls(values: pa.Array, column: pa.Array) -> pa.Array:
    """The values, null where another column of the same length is null."""
    return pc.if_else(column.is_valid(), values, pa.scalar(None, values.type)) if column.null_count else values
