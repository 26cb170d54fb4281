"""The ends of windows, for streams whose tuples have windows of their own."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.kernels.layout import UNBOUNDED
from punctuated.model.spec import StreamSpec
from punctuated.model.times import LARGEST_TIME, PER_SECOND
from punctuated.model.window import TimeWindow, UntilWindow

Ints = npt.NDArray[np.int64]


def window_ends(stream: StreamSpec, rows: pa.Table, ts: Ints) -> Ints:
    """When the windows of these rows end, in microseconds; `ts` are their times.

    An empty window ends just before its tuple: up to then an earlier tuple may still come that meets it.
    """
    if isinstance(stream.window, TimeWindow):
        return ts + stream.window.span_us
    if not isinstance(stream.window, UntilWindow):
        return np.full(ts.size, UNBOUNDED)
    column = rows[stream.window.column].combine_chunks()
    ends = np.maximum(_microseconds(column), ts - 1)
    return np.where(np.asarray(column.is_valid()), ends, UNBOUNDED)


def _microseconds(column: pa.Array) -> Ints:
    """Ends are cut to the range of times, so that nothing overflows; what they admit stays the same."""
    known = pc.fill_null(column, pa.scalar(0, column.type))
    if column.type == pa.uint64():
        known = pc.min_element_wise(known, pa.scalar(LARGEST_TIME, pa.uint64()))
    numbers: Ints = np.asarray(known.cast(pa.int64()))
    per_second = PER_SECOND[column.type.unit] if pa.types.is_timestamp(column.type) else 1_000_000
    if per_second > 1_000_000:
        return numbers // (per_second // 1_000_000)
    factor = 1_000_000 // per_second
    limit = LARGEST_TIME // factor
    return np.clip(numbers, -limit - 1, limit) * factor
