"""Records in an array with room to grow, in which a stretch can be exchanged for another."""

import numpy as np
import numpy.typing as npt

from punctuated.kernels import layout as lay

_SMALLEST = 16


class GrowingRecords:
    """A sequence of records; changes near its ends cost the same however many there are.

    >>> numbers = GrowingRecords(np.dtype([("n", "i8")]))
    >>> numbers.exchange(0, 0, np.array([(1,), (2,), (5,)], numbers.dtype))
    >>> numbers.exchange(1, 2, np.array([(3,), (4,)], numbers.dtype))
    >>> numbers.view["n"].tolist()
    [1, 3, 4, 5]
    """

    def __init__(self, dtype: np.dtype[np.void]) -> None:
        self.dtype = dtype
        self._room, self._head, self._n = np.zeros(_SMALLEST, dtype), 0, 0

    def __len__(self) -> int:
        return self._n

    @property
    def view(self) -> lay.Records:
        """The records as they are; the next change may show in it or not."""
        return self._room[self._head : self._head + self._n]

    @property
    def nbytes(self) -> int:
        return int(self._room.nbytes)

    def exchange(self, start: int, stop: int, fresh: lay.Records) -> None:
        """Other records in the place of those from `start` to `stop`; taking away the first ones moves nothing."""
        grown = fresh.size - (stop - start)
        if start == 0 and grown < 0:
            self._head, self._n, stop, grown = self._head - grown, self._n + grown, stop + grown, 0
        if self._head + self._n + grown > self._room.size:
            room = np.zeros(2 * (self._n + grown), self.dtype)
            room[: self._n] = self.view
            self._room, self._head = room, 0
        records = self._room[self._head :]
        if grown:
            records[stop + grown : self._n + grown] = records[stop : self._n]
        records[start : start + fresh.size] = fresh
        self._n += grown

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Only the records that are marked, in their order."""
        survivors = self.view[kept]
        self._room[: survivors.size] = survivors
        self._head, self._n = 0, survivors.size
