"""Plain checks that the structures over windows are what the textbooks say. Slow, and blind to how they are kept so."""

from collections.abc import Callable, Iterator

import numpy as np

from punctuated.kernels.windows.layout import BTREE, HASHED, NESTED, TTREE, WindowIndex

NONE = -1
Key = tuple[int, int, int, int]


def check_structures(index: WindowIndex, stored: tuple[dict[int, Key], dict[int, Key]]) -> None:
    """Every structure holds what is stored, in its order and shape, and every node is in use or free."""
    for side in range(2):
        ours = index.sides[side]
        assert ours["count"] == len(stored[side])
        for place, key in stored[side].items():
            assert key_at(index, place) == key
        _CHECKS[int(ours["kind"])](index, side, stored[side])
        assert ours["n_nodes"] == np.count_nonzero(index.tree["side"] == side)
    check_pool(index)


def key_at(index: WindowIndex, place: int) -> Key:
    """In the order of the trees."""
    return int(index.group[place]), int(index.high[place]), int(index.low[place]), int(index.number[place])


def check_pool(index: WindowIndex) -> None:
    free: set[int] = set()
    node = int(index.pool["free"][0])
    n_free = int(index.pool["n_free"][0])
    while len(free) < n_free:
        assert node not in free
        free.add(node)
        node = int(index.tree["right"][node])
    assert node == NONE or not index.tree.size
    assert free == set(np.flatnonzero(index.tree["side"] == NONE).tolist())


def check_buffer(index: WindowIndex, side: int, stored: dict[int, Key]) -> None:
    ours = index.sides[side]
    assert all(ours["first_position"] <= place <= ours["last_position"] for place in stored)


def check_buckets(index: WindowIndex, side: int, stored: dict[int, Key]) -> None:
    ours, found = index.sides[side], []
    first, n_buckets = int(ours["first_bucket"]), int(ours["n_buckets"])
    groups: dict[int, int] = {}
    for number in range(first, first + n_buckets):
        chain = list(_chain(index, int(index.buckets["head"][number])))
        if chain:
            assert index.buckets["tail"][number] == chain[-1]
        arrivals = index.number[chain].tolist()
        assert arrivals == sorted(arrivals)
        for place in chain:
            assert groups.setdefault(int(index.group[place]), number) == number
        found += chain
    assert sorted(found) == sorted(stored)


def _chain(index: WindowIndex, place: int) -> Iterator[int]:
    while place != NONE:
        yield place
        place = int(index.chain[place])


def entries_of(index: WindowIndex, node: int) -> list[int]:
    """Places of a node's entries; the copies of their keys are right."""
    count = int(index.tree["count"][node])
    places: list[int] = index.entries.position[node, :count].tolist()
    assert index.entries.group[node, :count].tolist() == index.group[places].tolist()
    assert index.entries.high[node, :count].tolist() == index.high[places].tolist()
    return places


def check_order(index: WindowIndex, places: list[int], stored: dict[int, Key]) -> None:
    assert [stored[place] for place in places] == sorted(stored.values())
    assert len(places) == len(stored)


def check_b_tree(index: WindowIndex, side: int, stored: dict[int, Key]) -> None:
    ours, size = index.sides[side], int(index.pool["node_size"][0])
    used: set[int] = set()
    leaves: list[int] = []

    def visit(node: int, height: int, is_root: bool) -> list[int]:
        assert index.tree["height"][node] == height and node not in used
        used.add(node)
        entries = entries_of(index, node)
        assert len(entries) <= size
        if height == 1:
            assert len(entries) >= (1 if is_root else (size + 1) // 2)
            leaves.append(node)
            return entries
        assert len(entries) >= (1 if is_root else size // 2)
        children = int(index.tree["left"][node])
        assert index.tree["height"][children] == 0 and children not in used
        used.add(children)
        parts = [
            visit(child, height - 1, False) for child in index.entries.position[children, : len(entries) + 1].tolist()
        ]
        assert [part[0] for part in parts[1:]] == entries  # a separator is the smallest entry to its right
        return [place for part in parts for place in part]

    if ours["root"] == NONE:
        assert ours["height"] == 0 and not stored
    else:
        check_order(index, visit(int(ours["root"]), int(ours["height"]), True), stored)
    assert index.tree["left"][leaves].tolist() == [NONE, *leaves][: len(leaves)]
    assert index.tree["right"][leaves].tolist() == [*leaves, NONE][1:][: len(leaves)]
    assert ours["reserve"] == 2 * ours["height"] + 1
    assert used == set(np.flatnonzero(index.tree["side"] == side).tolist())


def check_t_tree(index: WindowIndex, side: int, stored: dict[int, Key]) -> None:
    ours, size = index.sides[side], int(index.pool["node_size"][0])
    used: set[int] = set()

    def visit(node: int, parent: int) -> tuple[list[int], int]:
        if node == NONE:
            return [], 0
        assert index.tree["parent"][node] == parent and node not in used
        used.add(node)
        entries = entries_of(index, node)
        assert 1 <= len(entries) <= size
        left, right = int(index.tree["left"][node]), int(index.tree["right"][node])
        below, left_height = visit(left, node)
        above, right_height = visit(right, node)
        assert abs(left_height - right_height) <= 1
        assert index.tree["height"][node] == 1 + max(left_height, right_height)
        if left != NONE and right != NONE:
            assert len(entries) >= max(size - 2, 1)
        elif left != NONE or right != NONE:
            assert len(entries) + len(below) + len(above) > size
        return below + entries + above, 1 + max(left_height, right_height)

    check_order(index, visit(int(ours["root"]), NONE)[0], stored)
    assert ours["reserve"] == 1
    assert used == set(np.flatnonzero(index.tree["side"] == side).tolist())


_CHECKS: dict[int, Callable[[WindowIndex, int, dict[int, Key]], None]] = {
    NESTED: check_buffer,
    HASHED: check_buckets,
    BTREE: check_b_tree,
    TTREE: check_t_tree,
}
