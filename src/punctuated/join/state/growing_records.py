"""Records in an array with room to grow, in which a stretch can be exchanged for another."""

import numpy as np
import numpy.typing as npt

from punctuated.kernels import layout as lay

_SMALLEST = 16


class GrowingRecords:
    """A sequence of records; adding at the end costs the same however many there are.

    >>> numbers = GrowingRecords(np.dtype([("n", "i8")]))
    >>> numbers.exchange(0, 0, np.array([(1,), (2,), (5,)], numbers.dtype))
    >>> numbers.exchange(1, 2, np.array([(3,), (4,)], numbers.dtype))
    >>> numbers.view["n"].tolist()
    [1, 3, 4, 5]
    """

    def __init__(self, dtype: np.dtype[np.void]) -> None:
        self.dtype = dtype
        self._room, self._n = np.zeros(_SMALLEST, dtype), 0

    def __len__(self) -> int:
        return self._n

    @property
    def view(self) -> lay.Records:
        """The records as they are; the next change may show in it or not."""
        return self._room[: self._n]

    @property
    def nbytes(self) -> int:
        return int(self._room.nbytes)

    def exchange(self, start: int, stop: int, fresh: lay.Records) -> None:
        """Other records in the place of those from `start` to `stop`."""
        n = self._n + fresh.size - (stop - start)
        if n > self._room.size:
            room = np.zeros(2 * n, self.dtype)
            room[: self._n] = self.view
            self._room = room
        self._room[start + fresh.size : n] = self._room[stop : self._n]
        self._room[start : start + fresh.size] = fresh
        self._n = n

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Only the records that are marked, in their order."""
        survivors = self.view[kept]
        self._room[: survivors.size] = survivors
        self._n = survivors.size
