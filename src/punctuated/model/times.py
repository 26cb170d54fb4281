"""Event times: integers in microseconds inside, timestamp or integer columns outside.

Only exact times count: nulls, times beyond ±2^60 µs and times between two microseconds are faults of their rows.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import ColumnError

Times = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Fault = tuple[int, str]  # index of a row, and what is wrong with it
LARGEST_TIME = 2**60  # so that a window can be added to any time
_MICROSECONDS = 1_000_000  # of a second
PER_SECOND = {"s": 1, "ms": 1_000, "us": _MICROSECONDS, "ns": 1_000_000_000}
_NULL = "its time is null"
_BEYOND = "its time is beyond ±2^60 µs"
_BETWEEN = "its time lies between two microseconds"
_REMEDIES = {
    _NULL: "drop or fill such rows first",
    _BEYOND: "are its times in another unit?",
    _BETWEEN: "round them, with pyarrow.compute.floor_temporal(…, unit='microsecond') or the like",
}
NEVER = -(2**62)  # before every time
FOREVER = 2**62  # after every time
UNBOUNDED = 2**61  # a window that ends only with the other stream


def is_time(dtype: pa.DataType) -> bool:
    """Whether a column of this type can carry event times."""
    return bool(pa.types.is_timestamp(dtype) or pa.types.is_integer(dtype))


def are_times_alike(one: pa.DataType, two: pa.DataType) -> bool:
    """Whether times of both types can be compared: not if only one has a time zone, and so is a moment.

    Integers may be either, moments or local times.
    """
    stamps = [dtype for dtype in (one, two) if pa.types.is_timestamp(dtype)]
    return len({dtype.tz is None for dtype in stamps}) < 2


def output_time_type(dtype: pa.DataType) -> pa.DataType:
    """The type of an output's times, given that of an input: every time fits, to the microsecond.

    >>> output_time_type(pa.int32()), output_time_type(pa.timestamp("s", tz="UTC"))
    (DataType(int64), TimestampType(timestamp[us, tz=UTC]))
    """
    return pa.timestamp("us", dtype.tz) if pa.types.is_timestamp(dtype) else pa.int64()


def to_microseconds(column: pa.ChunkedArray, name: str) -> Times:
    """Times of a column as int64 microseconds; raises if a row has none."""
    if not is_time(column.type):
        raise ColumnError(
            f"time column {name!r} is of type {column.type}; it must be a timestamp or an integer (microseconds)"
        )
    times, faults = read_times(column)
    if faults:
        row, why = faults[0]
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise ColumnError(f"time column {name!r}: row {row}{more}: {why}; {_REMEDIES[why]}")
    return times


def read_times(column: pa.ChunkedArray) -> tuple[Times, list[Fault]]:
    """Times in microseconds, and the rows that have none; what stands there as their times means nothing."""
    faults: list[Fault] = []
    if column.null_count:
        faults += _at(np.asarray(column.is_null()), _NULL)
        column = pc.fill_null(column, pa.scalar(0, column.type))
    numbers = _as_int64(column)
    per_second = PER_SECOND[column.type.unit] if pa.types.is_timestamp(column.type) else _MICROSECONDS
    limit = LARGEST_TIME * per_second // _MICROSECONDS
    if numbers.size and (int(numbers.min()) < -limit or int(numbers.max()) > limit):
        faults += _at((numbers < -limit) | (numbers > limit), _BEYOND)
    if per_second == _MICROSECONDS and numbers.flags.writeable:  # kernels are compiled for arrays that can be written
        return numbers, sorted(faults)
    if per_second <= _MICROSECONDS:
        return numbers * (_MICROSECONDS // per_second), sorted(faults)
    step = per_second // _MICROSECONDS
    times = numbers // step
    faults += _at(times * step != numbers, _BETWEEN)
    return times, sorted(faults)


def _as_int64(column: pa.ChunkedArray) -> Times:
    if column.type == pa.uint64():
        column = pc.min_element_wise(column, pa.scalar(2**63 - 1, pa.uint64()))
    return np.asarray(column.cast(pa.int64()).to_numpy(), dtype=np.int64)


def _at(mask: Mask, why: str) -> list[Fault]:
    return [(row, why) for row in np.flatnonzero(mask).tolist()]


def key_microseconds(column: pa.Array) -> list[int]:
    """Timestamps of a key as integers in microseconds, as patterns hold them."""
    return list(column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64()).to_pylist())


def from_known_microseconds(times: pa.ChunkedArray, dtype: pa.DataType) -> pa.Array:
    """Times of a type from a column of microseconds that may be null; nulls stay null."""
    array = times.combine_chunks()
    converted = from_microseconds(np.asarray(pc.fill_null(array, 0)), dtype)
    return pc.if_else(array.is_valid(), converted, pa.scalar(None, dtype)) if array.null_count else converted


def from_microseconds(times: Times, dtype: pa.DataType) -> pa.Array:
    """Times of a type of an output's times, from microseconds."""
    return pa.array(times, pa.int64()).cast(dtype)
