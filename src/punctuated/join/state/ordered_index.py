"""An ordered index over the I-Nodes, for range endings (PW-20).

It is a sorted run, into which new values are merged when a range asks. Streams without range endings never pay for it.
"""

import numpy as np
import numpy.typing as npt

from punctuated.kernels import layout as lay


class OrderedIndex:
    """Finds the values whose code lies in an interval."""

    def __init__(self) -> None:
        self._source: lay.Records | None = None
        self._codes = np.empty(0, np.int64)
        self._indices = np.empty(0, np.int64)

    def find(self, arrays: lay.State, low: int, high: int) -> npt.NDArray[np.int64]:
        """Indices of the values with `low <= code <= high`, by ascending code."""
        self._catch_up(arrays)
        first, last = np.searchsorted(self._codes, [low, high + 1] if high < 2**63 - 1 else [low, high])
        if high == 2**63 - 1:
            last = self._codes.size
        return self._indices[first:last]

    def _catch_up(self, arrays: lay.State) -> None:
        if self._source is not arrays.values:  # a rebuild has renumbered the values
            self._source = arrays.values
            self._codes = self._indices = np.empty(0, np.int64)
        known, n_values = self._codes.size, int(arrays.common[0]["n_values"])
        if known == n_values:
            return
        fresh = arrays.values["code"][known:n_values]
        order = np.argsort(fresh, kind="stable")
        places = np.searchsorted(self._codes, fresh[order])
        self._codes = np.insert(self._codes, places, fresh[order])
        self._indices = np.insert(self._indices, places, known + order)
