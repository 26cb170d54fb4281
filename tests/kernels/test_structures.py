"""The structures over windows against a list of tuples, and against the invariants of the textbooks after each step."""

from collections import deque
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.errors import AlgorithmError
from punctuated.kernels.jit import in_place
from punctuated.kernels.layout import Indices
from punctuated.kernels.windows.structures import WindowIndex, clear, collect, insert, lacks_room, remove
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.operator.windows.indexes import WindowIndexes
from structure_checks import Key, check_structures

STRUCTURES = "NHBT"
NODE_SIZES = (2, 3, 4, 5, 10, 100)
BUCKET_SIZES = (1, 2, 10)
LARGEST = 2**63 - 2


@in_place
def run_insert(index: WindowIndex, side: int, place: int) -> None:
    insert(index, side, place)


@in_place
def run_remove(index: WindowIndex, side: int, place: int) -> None:
    remove(index, side, place)


@in_place
def run_clear(index: WindowIndex, side: int) -> None:
    clear(index, side)


@in_place
def run_collect(
    index: WindowIndex, side: int, first: int, last: int, group: int, low: int, high: int, found: Indices
) -> int:
    return collect(index, side, first, last, group, low, high, found)


@dataclass
class Ring:
    """Slots of one side, oldest first; those of tuples that were removed from the middle stay until they are oldest."""

    start: int
    stop: int
    slots: deque[int] = field(default_factory=deque)

    @property
    def is_full(self) -> bool:
        return len(self.slots) == self.stop - self.start

    def append(self) -> int:
        place = self.slots[-1] + 1 if self.slots else self.start
        self.slots.append(self.start if place == self.stop else place)
        return self.slots[-1]

    def segments(self) -> list[tuple[int, int]]:
        if not self.slots:
            return []
        first, last = self.slots[0], self.slots[-1] + 1
        return [(first, last)] if first < last else [(first, self.stop), (self.start, last)]


class Windows:
    """Two windows as a join keeps them, and beside them what is in them."""

    def __init__(self, structures: str, node_size: int, bucket_size: int) -> None:
        self.indexes = WindowIndexes(tuple(structures), node_size, bucket_size, 8)
        self.rings = Ring(0, 4), Ring(4, 8)
        self.stored: tuple[dict[int, Key], dict[int, Key]] = ({}, {})
        self.arrivals = 0

    def insert(self, side: Side, group: int, low: int, high: int) -> None:
        if self.rings[side].is_full:
            self.reload(2)
        if lacks_room(self.indexes.arrays):
            self.indexes.grow()
            assert not lacks_room(self.indexes.arrays)
        place = self.rings[side].append()
        index = self.indexes.arrays
        index.group[place], index.low[place], index.high[place], index.number[place] = group, low, high, self.arrivals
        run_insert(index, int(side), place)
        self.stored[side][place] = group, high, low, self.arrivals
        self.arrivals += 1

    def remove(self, side: Side, position: int) -> None:
        if self.stored[side]:
            place = list(self.stored[side])[position % len(self.stored[side])]
            run_remove(self.indexes.arrays, int(side), place)
            del self.stored[side][place]
            self._advance(side)

    def _advance(self, side: Side) -> None:
        slots = self.rings[side].slots
        while slots and slots[0] not in self.stored[side]:
            slots.popleft()

    def clear(self, side: Side) -> None:
        """Slots stay in the ring, as after a purge."""
        run_clear(self.indexes.arrays, int(side))
        self.stored[side].clear()

    def reload(self, factor: int = 1) -> None:
        """To other places, of rings that may be longer."""
        sizes = [max(4, factor * len(self.stored[side])) for side in Side]
        keys = np.array([*self.stored[LEFT].values(), *self.stored[RIGHT].values()], np.int64).reshape(-1, 4)
        for side, start in zip(Side, (0, sizes[0]), strict=True):
            entries = list(self.stored[side].values())
            self.stored[side].clear()
            self.stored[side].update(enumerate(entries, start))
            ring = self.rings[side]
            ring.start, ring.stop, ring.slots = start, start + sizes[side], deque(self.stored[side])
        left, right = (np.array(list(self.stored[side]), np.int64) for side in Side)
        group, high, low, number = keys.T
        self.indexes.reload(sum(sizes), left, right, group, low, high, number)

    def restructure(self, structures: str) -> None:
        self.indexes.structures = tuple(structures)
        self.reload()

    def probe(self, side: Side, group: int, low: int, high: int) -> None:
        """What is found is what a look at everything finds; and it is found again in the same order."""
        expected = [
            place
            for place, (its_group, its_high, its_low, _) in self.stored[side].items()
            if its_group == group and its_high >= low and its_low <= high
        ]
        found = self._collect(side, group, low, high)
        assert sorted(found) == sorted(expected)
        assert self._collect(side, group, low, high) == found

    def _collect(self, side: Side, group: int, low: int, high: int) -> list[int]:
        found = np.full(self.indexes.arrays.group.size, -7, np.int32)
        segments = self.rings[side].segments() if self.indexes.structures[side] == "N" else [(0, 0)]
        places = []
        for first, last in segments:
            n = run_collect(self.indexes.arrays, int(side), first, last, group, low, high, found)
            places += found[:n].tolist()
        return places

    def check(self) -> None:
        check_structures(self.indexes.arrays, self.stored)


@dataclass(frozen=True)
class Shape:
    """How a value becomes an interval: both ends grow with it, and may come to a stop."""

    below: int
    above: int
    last: int = 10**9

    def interval(self, value: int) -> tuple[int, int]:
        return value - self.below, min(value + self.above, max(self.last, value - self.below))


SHAPES = st.sampled_from([Shape(0, 0), Shape(2, 3), Shape(0, 5), Shape(3, 4, last=6), Shape(10**6, 10**6)])
STEPS = st.sampled_from(
    ["insert"] * 12 + ["oldest"] * 5 + ["any"] * 2 + ["probe"] * 3 + ["reload", "clear", "burst", "drain", "structures"]
)
ACTION = st.tuples(STEPS, st.sampled_from(Side), st.integers(0, 3), st.integers(0, 12))
ACTIONS = st.lists(ACTION, max_size=60) | st.lists(ACTION, min_size=60, max_size=150)
PAIRS = st.sampled_from(["".join(pair) for pair in product(STRUCTURES, repeat=2)])


def act(windows: Windows, shapes: tuple[Shape, Shape], step: str, side: Side, group: int, value: int) -> None:
    """One step; `burst` and `drain` are many of one kind."""
    low, high = shapes[side].interval(value)
    if step == "insert":
        windows.insert(side, group, low, high)
    elif step == "burst":
        for i in range(30):
            windows.insert(side, group, *shapes[side].interval((value * i) % 13))
    elif step == "oldest":
        windows.remove(side, 0)
    elif step == "any":
        windows.remove(side, 31 * value + group)
    elif step == "drain":
        for i in range(2 * len(windows.stored[side]) // 3):
            windows.remove(side, i * group)
    elif step == "reload":
        windows.reload(1 + group)
    elif step == "structures":
        windows.restructure(STRUCTURES[group] + STRUCTURES[value % 4])
    elif step == "clear":
        windows.clear(side)
    else:
        windows.probe(side, group, low, high)


@given(PAIRS, st.sampled_from(NODE_SIZES), st.sampled_from(BUCKET_SIZES), st.tuples(SHAPES, SHAPES), ACTIONS)
def test_structures_find_what_a_list_finds(
    structures: str,
    node_size: int,
    bucket_size: int,
    shapes: tuple[Shape, Shape],
    actions: list[tuple[str, Side, int, int]],
) -> None:
    windows = Windows(structures, node_size, bucket_size)
    for step, side, group, value in actions:
        act(windows, shapes, step, side, group, value)
        windows.check()
    for side, group, value in product(Side, range(4), range(-1, 14)):
        windows.probe(side, group, *shapes[1 - side].interval(value))


@pytest.mark.parametrize("node_size", NODE_SIZES)
@pytest.mark.parametrize("n_groups", [1, 3, 10_000])
def test_trees_keep_their_shape(node_size: int, n_groups: int) -> None:
    n_steps = 10_000 if (node_size, n_groups) == (4, 3) else 600
    rng = np.random.default_rng(node_size * n_groups)
    windows = Windows("BT", node_size, 1)
    target = 60
    for i in range(n_steps):
        if i % 200 == 0:
            target = int(rng.integers(0, max(60, 8 * node_size)))
        side = Side(int(rng.integers(2)))
        n = len(windows.stored[side])
        if rng.random() < (0.8 if n < target else 0.2):
            windows.insert(side, int(rng.integers(n_groups)), *Shape(2, 3).interval(int(rng.integers(20))))
        else:
            windows.remove(side, 0 if rng.random() < 0.7 else int(rng.integers(n + 1)))
        windows.check()
    for value in range(-5, 30):
        for side in Side:
            windows.probe(side, int(rng.integers(n_groups)), value, value + 2)


@pytest.mark.parametrize("structures", ["NH", "BT"])
@pytest.mark.parametrize("order", ["ascending", "descending", "equal", "random"])
def test_large_windows_slide(structures: str, order: str) -> None:
    rng = np.random.default_rng(1)
    size, n = 3_000, 9_000
    values = {
        "ascending": np.arange(n),
        "descending": np.arange(n)[::-1],
        "equal": np.zeros(n, np.int64),
        "random": rng.integers(0, 5_000, n),
    }[order]
    windows = Windows(structures, 100, 10)
    for i, value in enumerate(values.tolist()):
        for side in Side:
            windows.insert(side, value, 0, 0)
            if i >= size:
                windows.remove(side, 0)
        if i % 500 == 0:
            windows.check()
            for side in Side:
                windows.probe(side, value, 0, 0)
    windows.check()


@pytest.mark.parametrize("structure", STRUCTURES)
def test_probes_and_tuples_reach_to_the_ends_of_the_integers(structure: str) -> None:
    windows = Windows(structure * 2, 2, 1)
    for value in (-LARGEST, -1, 0, 1, LARGEST):
        windows.insert(LEFT, 0, value, value)
    windows.remove(LEFT, 2)
    for low, high in [(-LARGEST, LARGEST), (-LARGEST, -LARGEST), (LARGEST, LARGEST), (0, LARGEST), (-LARGEST, 0)]:
        windows.probe(LEFT, 0, low, high)
    windows.probe(LEFT, 0, -LARGEST - 2, LARGEST + 1)  # what was removed does not even match everything


def test_bytes_in_use_follow_the_tuples() -> None:
    for structure in STRUCTURES:
        windows = Windows(structure + "N", 10, 10)
        for i in range(500):
            windows.insert(LEFT, i, 0, 0)
        full = windows.indexes.bytes_in_use(LEFT)
        assert 500 * 32 <= full <= windows.indexes.nbytes
        assert windows.indexes.bytes_in_use(RIGHT) == 0
        windows.clear(LEFT)
        windows.reload()
        assert windows.indexes.bytes_in_use(LEFT) < full / 10


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ({"structures": ("T", "X")}, r"unknown structure 'X'; known: N \(nested loops\), H \(hash buckets\)"),
        ({"structures": "T"}, "give one for each side"),
    ],
)
def test_what_cannot_be_built_is_refused(arguments: dict[str, object], advice: str) -> None:
    with pytest.raises(AlgorithmError, match=advice):
        WindowIndexes(**arguments)  # type: ignore[arg-type]
