"""One form for equal floating-point numbers: 0.0 for both zeros, one NaN for all of them."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def canonical_floats(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The same values in one form; columns of other types stay as they are.

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
