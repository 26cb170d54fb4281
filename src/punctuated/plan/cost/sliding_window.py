"""A window in one structure, to be measured: searches alone, or updates alone (KN-18)."""

from time import thread_time

import numpy as np

from punctuated.join.window_index import WindowIndexes
from punctuated.kernels.measure_window import Keys, search_window, slide_window
from punctuated.kernels.window_index import lacks_room
from punctuated.model.side import LEFT
from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE

_VALUES = 2**40  # of points that are searched by ranges, so many that hardly two are equal
_TURNS = 2  # how often all tuples are exchanged before anything is measured


class SlidingWindow:
    """A full window, its structure in the shape that it has after many tuples have come and gone.

    With the predicate `=` tuples are groups of one point, with `band` points of one group that are searched by ranges.
    """

    def __init__(
        self,
        structure: str,
        window: int,
        *,
        predicate: str = "=",
        matches: float = 0.1,
        bucket_size: int = BUCKET_SIZE,
        node_size: int = NODE_SIZE,
    ) -> None:
        """`matches` is the expected number of them in a search."""
        self._window, self._predicate, self._matches = window, predicate, matches
        self._rng = np.random.default_rng(window)
        self._indexes = WindowIndexes((structure, "N"), node_size, bucket_size)
        self._found = np.empty(window + 1, np.int32)
        self._free = window  # the slot of the ring without a tuple
        first, places = self._keys(window), np.arange(window)
        self._indexes.reload(window + 1, places, places[:0], first.group, first.low, first.high, places)
        self._indexes.arrays.number[self._free] = -1  # in line with the others
        self.update(_TURNS * window)

    def search(self, n: int) -> float:
        """CPU seconds of so many searches."""
        keys = self._keys(n, reach=0 if self._predicate == "=" else round(_VALUES * self._matches / self._window / 2))
        start = thread_time()
        search_window(self._indexes.arrays, keys, self._free, self._found)
        return thread_time() - start

    def update(self, n: int) -> float:
        """CPU seconds of so many insertions, each with the removal of the oldest tuple."""
        keys, at, seconds = self._keys(n), 0, 0.0
        while at < n:
            start = thread_time()
            if lacks_room(self._indexes.arrays):
                self._indexes.grow()
            came_to = slide_window(self._indexes.arrays, keys, at, self._free)
            seconds += thread_time() - start
            self._free = (self._free + came_to - at) % (self._window + 1)
            at = came_to
        return seconds

    @property
    def tuples_per_bucket(self) -> float:
        """Of a hash index, on average; buckets come in powers of two, so that it is below what was asked for."""
        return self._window / max(1, int(self._indexes.arrays.sides["n_buckets"][LEFT]))

    @property
    def bytes_per_tuple(self) -> float:
        """Keys, buckets and nodes; room to spare is not counted."""
        return self._indexes.bytes_in_use(LEFT) / self._window

    def _keys(self, n: int, reach: int = 0) -> Keys:
        if self._predicate == "=":
            points = np.zeros(n, np.int64)
            return Keys(self._rng.integers(0, max(1, round(self._window / self._matches)), n), points, points)
        points = self._rng.integers(0, _VALUES, n)
        return Keys(np.zeros(n, np.int64), points - reach, points + reach)
