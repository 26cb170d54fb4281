"""The index of addresses on disk finds what a dictionary finds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punctuated.spill.index import AddressIndex, block_of, entry_of, position_of

ADDRESSES = st.integers(0, 9)
KINDS = st.sampled_from(["add", "add", "take", "return", "compact"])
STEPS = st.lists(st.tuples(KINDS, st.lists(ADDRESSES, max_size=6)), max_size=12)


def ints(numbers: object) -> np.ndarray:
    return np.array(numbers, np.int64)


def test_a_position_is_a_block_and_an_entry() -> None:
    positions = position_of(7, ints([0, 3]))
    assert block_of(positions).tolist() == [7, 7] and entry_of(positions).tolist() == [0, 3]


@given(STEPS)
def test_it_finds_what_is_there(steps: list[tuple[str, list[int]]]) -> None:
    """What was taken may return until something is added or the index is compacted."""
    index, here, taken = AddressIndex(), set[tuple[int, int]](), set[tuple[int, int]]()
    for block, (what, addresses) in enumerate(steps):
        if what == "add":
            added = sorted(addresses)
            positions = position_of(block, np.arange(len(added)))
            index.add(ints(added), positions)
            here, taken = here | set(zip(added, positions.tolist(), strict=True)), set()
        elif what == "compact":
            index.compact()
            taken = set()
        else:
            moved = {each for each in (here if what == "take" else taken) if each[0] in addresses}
            index.mark(ints([a for a, _ in moved]), ints([p for _, p in moved]), here=what == "return")
            here, taken = (here - moved, taken | moved) if what == "take" else (here | moved, taken - moved)
        wanted = ints(sorted(set(addresses)))
        which, found = index.find(wanted)
        assert set(zip(wanted[which].tolist(), found.tolist(), strict=True)) == {e for e in here if e[0] in addresses}
    assert sorted(index.between(3, 6).tolist()) == sorted(position for address, position in here if 3 <= address <= 6)
