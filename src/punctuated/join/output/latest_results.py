"""The latest result of each value in a batch: what a punctuation for the next join must not come before.

A punctuation's time is that of its proof. Results of its value may be later, if a stream lags or a broken promise was
accepted. The next join would take them for broken promises.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.intake.keys import key_codec

Ints = npt.NDArray[np.int64]


class LatestResults:
    """Times of results by key, of a batch that may come in several parts.

    >>> latest = LatestResults([pa.int64()])
    >>> latest.add([pa.chunked_array([[7, 5, 7]])], np.array([1, 4, 3]))
    >>> latest.not_before([pa.chunked_array([[7, 8]])], np.array([2, 2]), horizon=9).tolist()
    [3, 2]
    """

    def __init__(self, key_types: Sequence[pa.DataType]) -> None:
        self._codec = key_codec(key_types)
        self._codes, self._ts = np.empty(0, np.int64), np.empty(0, np.int64)

    def add(self, keys: Sequence[pa.ChunkedArray], ts: Ints) -> None:
        """Results with these keys came at these times."""
        codes, valid = self._codec.encode(keys)
        codes, ts = np.concatenate([self._codes, codes[valid]]), np.concatenate([self._ts, ts[valid]])
        if not codes.size:
            return
        order = np.argsort(codes, kind="stable")
        codes, ts = codes[order], ts[order]
        starts = np.flatnonzero(np.r_[True, codes[1:] != codes[:-1]])
        self._codes, self._ts = codes[starts], np.maximum.reduceat(ts, starts)

    def not_before(self, keys: Sequence[pa.Array | pa.ChunkedArray], ts: Ints, horizon: int) -> Ints:
        """These times of punctuations, or those of the latest results that they cover, if these are later.

        A range, whose keys are null, also covers other buckets: of their results only the horizon is known.
        """
        codes, valid = self._codec.encode(keys)
        own = np.where(valid, ts, np.maximum(ts, horizon))
        if not self._codes.size:
            return own
        place = np.minimum(np.searchsorted(self._codes, codes), self._codes.size - 1)
        return np.where(valid & (self._codes[place] == codes), np.maximum(ts, self._ts[place]), own)
