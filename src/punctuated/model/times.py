"""Event times: integers in microseconds inside, timestamp or integer columns outside."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import ColumnError

LARGEST_TIME = 2**60  # so that a window can be added to any time
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def is_time(dtype: pa.DataType) -> bool:
    """Whether a column of this type can carry event times."""
    return bool(pa.types.is_timestamp(dtype) or pa.types.is_integer(dtype))


def to_microseconds(column: pa.ChunkedArray, name: str) -> npt.NDArray[np.int64]:
    """Times of a column as int64 microseconds; nanoseconds are cut."""
    if not is_time(column.type):
        raise ColumnError(
            f"time column {name!r} is of type {column.type}; it must be a timestamp or an integer (microseconds)"
        )
    if column.null_count:
        raise ColumnError(f"time column {name!r} has {column.null_count} nulls; drop or fill these rows first")
    times = _as_int64(column, name)
    if pa.types.is_timestamp(column.type):
        per_second = PER_SECOND[column.type.unit]
        times = times // 1_000 if per_second > 1_000_000 else times * (1_000_000 // per_second)
    if times.size and max(-int(times.min()), int(times.max())) > LARGEST_TIME:
        raise ColumnError(f"time column {name!r} has times beyond ±{LARGEST_TIME} µs; are they in another unit?")
    return times


def _as_int64(column: pa.ChunkedArray, name: str) -> npt.NDArray[np.int64]:
    try:
        integers = pc.cast(column, pa.int64())
    except pa.ArrowInvalid as error:
        raise ColumnError(f"time column {name!r} does not fit into 64 bits: {error}") from None
    return np.asarray(integers.combine_chunks().to_numpy(zero_copy_only=False), dtype=np.int64)


def from_known_microseconds(times: pa.ChunkedArray, dtype: pa.DataType) -> pa.Array:
    """The same for a column in which nulls stay null."""
    array = times.combine_chunks()
    converted = from_microseconds(np.asarray(pc.fill_null(array, 0)), dtype)
    return pc.if_else(array.is_valid(), converted, pa.scalar(None, dtype)) if array.null_count else converted


def from_microseconds(times: npt.NDArray[np.int64], dtype: pa.DataType) -> pa.Array:
    """The inverse, as far as the type's unit allows."""
    if pa.types.is_timestamp(dtype):
        return pa.array(times, pa.timestamp("us", dtype.tz)).cast(dtype, safe=False)
    return pa.array(times, pa.int64()).cast(dtype)
