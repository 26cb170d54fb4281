"""The state of a join of any number of streams: that of two, and how far the members of a result may be apart."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from punctuated.kernels.by_state import n_streams
from punctuated.kernels.jit import inlined
from punctuated.kernels.layout import Indices, Ints, Records, State

# How tuples are found that may complete a result. In a union every tuple is a result by itself.
BY_VALUE, BY_SCAN, BY_TIME, UNJOINED = 0, 1, 2, 3

# The enumeration of a tuple's results: how far it has come, and how it is done.
WALK = np.dtype(
    [
        ("level", "i8"),
        ("alternative", "i8"),  # the one of `reaches` that is tried
        ("is_under_way", "i8"),  # it was interrupted
        ("method", "i8"),
        ("refines", "i8"),  # periods are wider than windows
        ("cleans_every", "i8"),  # tuples between two clean-ups; 0: every tuple invalidates what is out of reach
        ("since_cleaned", "i8"),
    ]
)
STEP = np.dtype([("position", "i8"), ("left", "i8"), ("chosen", "i8")])

if TYPE_CHECKING:

    class MultiState(State):
        """All fields of a `State`, and those below."""

        reaches: Ints  # (alternatives, n, n): how much later than a tuple of one side that of another may be
        max_gaps: Ints  # (n, n): the largest of these over all alternatives, UNBOUNDED where windows do not forget
        plan: Indices  # (n, n - 1): in which order the other sides complete the tuple of a side that is at hand
        periods: Ints  # (alternatives, n, n): by which members are looked for; see `refines`
        low: Ints  # (n, n): from when a partner of each side may be, after so many members
        high: Ints  # (n, n): up to when
        walk: Records  # (1,) WALK
        steps: Records  # (n,) STEP, one for each member to be found

else:
    _OWN = {"reaches": Ints, "max_gaps": Ints, "plan": Indices, "periods": Ints, "low": Ints, "high": Ints}
    _OWN |= {"walk": Records, "steps": Records}
    MultiState = NamedTuple("MultiState", [*State.__annotations__.items(), *_OWN.items()])


@n_streams.of(MultiState)
@inlined
def n_streams_of_many(state: MultiState) -> int:
    """The number of records of sides."""
    return int(state.sides.size)
