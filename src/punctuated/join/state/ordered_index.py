"""An ordered index over the I-Nodes, for range endings (PW-20).

It is a long sorted run and a short one of what has come since; when the short one has grown, both become one. Streams
without range endings never pay for it.
"""

import numpy as np
import numpy.typing as npt

from punctuated.kernels import layout as lay

_SHORT = 1 << 10  # values that are worth no merge
_PARTS = 1 << 6  # the short run holds at most this part of all

Ints = npt.NDArray[np.int64]
_NO_INTS = np.empty(0, np.int64)


class OrderedIndex:
    """Finds the values whose code lies in an interval."""

    def __init__(self) -> None:
        self._source: lay.Records | None = None
        self._codes, self._indices = _NO_INTS, _NO_INTS

    def find(self, arrays: lay.AnyState, low: int, high: int) -> Ints:
        """Indices of the values with `low <= code <= high`, by ascending code."""
        self._catch_up(arrays)
        first = np.searchsorted(self._codes, low)
        last = np.searchsorted(self._codes, high, side="right")
        recent = arrays.values["code"][self._codes.size : int(arrays.common[0]["n_values"])]
        hits = np.flatnonzero((recent >= low) & (recent <= high))
        if not hits.size:
            return self._indices[first:last]
        codes = np.concatenate([self._codes[first:last], recent[hits]])
        indices = np.concatenate([self._indices[first:last], hits + self._codes.size])
        return np.asarray(indices[np.argsort(codes, kind="stable")])

    def _catch_up(self, arrays: lay.AnyState) -> None:
        if self._source is not arrays.values:  # a rebuild has renumbered the values
            self._source = arrays.values
            self._codes, self._indices = _NO_INTS, _NO_INTS
        known, n_values = self._codes.size, int(arrays.common[0]["n_values"])
        if n_values - known <= max(_SHORT, known // _PARTS):
            return
        fresh = arrays.values["code"][known:n_values]
        order = np.argsort(fresh, kind="stable")
        places = np.searchsorted(self._codes, fresh[order])
        self._codes = np.insert(self._codes, places, fresh[order])
        self._indices = np.insert(self._indices, places, known + order)
