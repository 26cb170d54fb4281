"""The clock of stamps: which tuple came, and which one left memory, before which other."""

import numpy as np

from punctuated.join.state.arrays import JoinState
from punctuated.join.state.saved import Ints

_TICK_BITS = 16  # below the number of an object: what is done between two objects


class StampClock:
    """Ticks for every object, and for everything that is done between two of them."""

    def __init__(self, state: JoinState) -> None:
        self._state, self.last = state, 0

    def tick(self) -> int:
        """A stamp that is larger than all so far, and smaller than those of all tuples to come."""
        now = int(self._state.common["seq"][0]) << _TICK_BITS
        self.last = max(self.last, now) + 1
        assert self.last - now < 1 << _TICK_BITS
        return self.last

    @staticmethod
    def arrivals(numbers: Ints) -> Ints:
        """The stamps of tuples by the numbers of their objects."""
        return np.asarray(numbers << _TICK_BITS)
