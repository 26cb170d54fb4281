"""The state of a join of any number of streams: that of two, and how far the members of a result may be apart."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from punctuated.kernels.by_state import n_streams
from punctuated.kernels.jit import inlined
from punctuated.kernels.layout import Indices, Ints, Records, State

# How the tuples of a stream are found that may complete a result; in a union none does, and each is a result by itself.
BY_VALUE, BY_SCAN, BY_TIME, UNJOINED = 0, 1, 2, 3

# Where the enumeration of a tuple's results stands, and how it is done.
WALK = np.dtype(
    [
        ("level", "i8"),
        ("way", "i8"),
        ("is_under_way", "i8"),  # it was interrupted
        ("method", "i8"),
        ("refines", "i8"),  # periods are wider than windows
        ("cleans_every", "i8"),  # so many tuples; else each one lets go of what is out of reach
        ("since_cleaned", "i8"),
    ]
)
STEP = np.dtype([("position", "i8"), ("left", "i8"), ("chosen", "i8")])

if TYPE_CHECKING:

    class MultiState(State):
        """All fields of a `State`, and those below."""

        reaches: Ints  # (ways, n, n): how much later than a tuple of one side that of another may be, way by way
        far: Ints  # (n, n): the same by any way, as far as windows forget
        plan: Indices  # (n, n - 1): in which order the other sides complete the tuple of a side that is at hand
        periods: Ints  # (ways, n, n): by which members are looked for; where they are wider than reaches, see `refines`
        low: Ints  # (n, n): from when a partner of each side may be, after so many members
        high: Ints  # (n, n): up to when
        walk: Records  # (1,) WALK
        steps: Records  # (n,) STEP, one for each member to be found

else:
    _OWN = {"reaches": Ints, "far": Ints, "plan": Indices, "periods": Ints, "low": Ints, "high": Ints}
    _OWN |= {"walk": Records, "steps": Records}
    MultiState = NamedTuple("MultiState", [*State.__annotations__.items(), *_OWN.items()])


@n_streams.of(MultiState)
@inlined
def count_streams(state: MultiState) -> int:
    """As many as have records."""
    return int(state.sides.size)
