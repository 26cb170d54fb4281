"""Look-ups in an ascending sequence equal binary searches, whatever the order of what is wanted."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punctuated.kernels.sequences import occurrences

NUMBERS = st.lists(st.integers(-9, 9) | st.sampled_from([-(2**63), 2**63 - 1]), max_size=30)


@given(NUMBERS, NUMBERS, st.booleans())
def test_occurrences_equal_binary_searches(numbers: list[int], wanted: list[int], in_order: bool) -> None:
    ascending = np.array(sorted(numbers), np.int64)
    sought = np.array(sorted(wanted) if in_order else wanted, np.int64)
    starts, counts = occurrences(ascending, sought)
    assert starts.tolist() == np.searchsorted(ascending, sought).tolist()
    assert (starts + counts).tolist() == np.searchsorted(ascending, sought, side="right").tolist()
