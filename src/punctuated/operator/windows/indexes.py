"""The arrays of the structures over a join's windows and their growth. The kernels fill them; this gives them room."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from punctuated.errors import AlgorithmError
from punctuated.kernels.layout import NONE, Indices, Ints, Records
from punctuated.kernels.windows import layout as lay
from punctuated.kernels.windows.hash_buckets import spread_buckets
from punctuated.kernels.windows.structures import load
from punctuated.model.algorithm import STRUCTURES
from punctuated.model.spec import DEFAULT_BUCKET_SIZE, DEFAULT_NODE_SIZE, Side

_KINDS = {"N": lay.NESTED, "H": lay.HASHED, "B": lay.BTREE, "T": lay.TTREE}
_FEWEST_BUCKETS = _FEWEST_NODES = 16
_SPARE = 4 / 3
_LEVELS = 64
BYTES_PER_KEY = 4 * 8  # of each tuple, whatever its structure
BYTES_PER_LINK = 4  # in a hash bucket

Places = npt.NDArray[np.integer[Any]]


class WindowIndexes:
    """One structure per side: N (nested loops), H (hash buckets), B (B+tree) or T (T-tree).

    >>> indexes = WindowIndexes(("T", "N"), capacity=1000)
    >>> indexes.arrays.sides["kind"].tolist()
    [3, 0]
    """

    def __init__(
        self,
        structures: Sequence[str] = ("H", "H"),
        node_size: int = DEFAULT_NODE_SIZE,
        bucket_size: int = DEFAULT_BUCKET_SIZE,
        capacity: int = 0,
    ) -> None:
        assert node_size >= 2 and bucket_size >= 1  # see JoinSpec
        self.structures = structures
        self._node_size, self._bucket_size = node_size, bucket_size
        nothing = np.empty(0, np.int64)
        self.reload(capacity, nothing, nothing, nothing, nothing, nothing, nothing)

    @property
    def structures(self) -> tuple[str, str]:
        """Letters of the left and the right structure. Others come into effect with the next `reload`."""
        return self._structures

    @structures.setter
    def structures(self, structures: Sequence[str]) -> None:
        known = ", ".join(f"{letter} ({what})" for letter, what in STRUCTURES.items())
        if len(structures) != 2:
            raise AlgorithmError(f"structures={structures!r}: give one for each side of {known}")
        for letter in structures:
            if letter not in _KINDS:
                raise AlgorithmError(f"unknown structure {letter!r}; known: {known}")
        self._structures = structures[0], structures[1]

    def reload(
        self, capacity: int, left: Places, right: Places, group: Ints, low: Ints, high: Ints, number: Ints
    ) -> None:
        """Build the structures anew over rings of `capacity` slots, for tuples at the given places of either side.

        Places are given oldest first; so are keys, those of the left tuples before those of the right ones.
        """
        places = left.astype(np.int32), right.astype(np.int32)
        both = np.concatenate(places)
        sides, n_buckets = self._empty_sides(left.size, right.size)
        n_nodes = self._nodes_for(left.size, right.size)
        self.arrays = lay.WindowIndex(
            sides=sides,
            group=_scattered(group, both, capacity, 0),
            low=_scattered(low, both, capacity, lay.LARGEST),  # other slots match nothing
            high=_scattered(high, both, capacity, lay.SMALLEST),
            number=_scattered(number, both, capacity, 0),
            chain=np.empty(capacity if "H" in self.structures else 0, np.int32),
            buckets=np.full(n_buckets, NONE, np.int32).repeat(2).view(lay.BUCKET),
            tree=_free_nodes(0, n_nodes, NONE),
            entries=lay.Entries(
                group=np.empty((n_nodes, self._node_size + 1), np.int64),
                high=np.empty((n_nodes, self._node_size + 1), np.int64),
                position=np.empty((n_nodes, self._node_size + 2), np.int32),
            ),
            path=np.empty((2, _LEVELS), np.int32),
            pool=np.array([(self._node_size, 0, n_nodes)], lay.POOL),
        )
        for side in Side:
            load(self.arrays, int(side), self._in_order(side, places[side]))

    def _empty_sides(self, *counts: int) -> tuple[Records, int]:
        """The records of both sides, with buckets for so many tuples, and how many buckets there are."""
        sides = np.zeros(2, lay.INDEX)
        sides["kind"] = [_KINDS[letter] for letter in self.structures]
        sides["first_position"] = sides["limit"] = lay.UNLIMITED
        sides["last_position"] = sides["root"] = NONE
        sides["reserve"] = [letter in "BT" for letter in self.structures]
        n_buckets = 0
        for side in Side:
            if self.structures[side] == "H":
                ours = _FEWEST_BUCKETS
                while int(counts[side] * _SPARE) > ours * self._bucket_size:
                    ours *= 2
                self._set_buckets(sides, side, n_buckets, ours)
                n_buckets += ours
        return sides, n_buckets

    def _set_buckets(self, sides: Records, side: Side, first: int, n: int) -> None:
        sides["first_bucket"][side], sides["n_buckets"][side] = first, n
        sides["shift"][side] = 64 - n.bit_length() + 1
        sides["limit"][side] = n * self._bucket_size

    def _nodes_for(self, *counts: int) -> int:
        """Nodes for trees of so many tuples, and some more."""
        trees = [side for side in Side if self.structures[side] in "BT"]
        needed = sum(_NODES[self.structures[side]](counts[side], self._node_size) for side in trees)
        return int(needed * _SPARE) + _FEWEST_NODES * len(trees)

    def _in_order(self, side: Side, places: Indices) -> Indices:
        """Places as `load` wants them."""
        if self.structures[side] not in "BT":
            return places
        keys = self.arrays.number, self.arrays.low, self.arrays.high, self.arrays.group
        return places[np.lexsort([key[places] for key in keys])]

    # Room

    def grow(self) -> None:
        """More nodes or more buckets, where `lacks_room` asks for them."""
        sides = self.arrays.sides
        if self.arrays.pool["n_free"][0] < sides["reserve"].max():
            self._add_nodes(max(self.arrays.tree.size // 2, _FEWEST_NODES, int(sides["reserve"].max())))
        if (sides["count"] > sides["limit"]).any():
            self._add_buckets()

    def _add_nodes(self, n_more: int) -> None:
        arrays, pool = self.arrays, self.arrays.pool
        known = arrays.tree.size
        fresh = _free_nodes(known, n_more, int(pool["free"][0]))
        pool["free"] = known
        pool["n_free"] += n_more
        self.arrays = arrays._replace(
            tree=np.concatenate([arrays.tree, fresh]),
            entries=lay.Entries(*(_lengthened(each, n_more) for each in arrays.entries)),
        )

    def _add_buckets(self) -> None:
        sides, coarse = self.arrays.sides, {}
        n_buckets = 0
        for side in Side:
            first, n = int(sides["first_bucket"][side]), int(sides["n_buckets"][side])
            if n:
                coarse[side] = self.arrays.buckets[first : first + n]
                while sides["count"][side] > n * self._bucket_size:
                    n *= 2
                self._set_buckets(sides, side, n_buckets, n)
                n_buckets += n
        self.arrays = self.arrays._replace(buckets=np.full(n_buckets, NONE, np.int32).repeat(2).view(lay.BUCKET))
        for side, buckets in coarse.items():
            spread_buckets(buckets, self.arrays, int(side))

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, room to spare included."""
        arrays = self.arrays._asdict()
        entries = arrays.pop("entries")
        return sum(array.nbytes for array in (*arrays.values(), *entries))

    def bytes_in_use(self, side: Side) -> int:
        """What the tuples of a side take: their keys, and the buckets and nodes of the structure (KN-24)."""
        ours, arrays = self.arrays.sides[side], self.arrays
        per_tuple = BYTES_PER_KEY + (BYTES_PER_LINK if self.structures[side] == "H" else 0)
        per_node = arrays.tree.itemsize + sum(each.shape[1] * each.itemsize for each in arrays.entries)
        buckets, nodes = ours["n_buckets"] * arrays.buckets.itemsize, ours["n_nodes"] * per_node
        return int(ours["count"] * per_tuple + buckets + nodes)


def _scattered(keys: Ints, places: Indices, capacity: int, otherwise: int) -> Ints:
    by_place = np.full(capacity, otherwise, np.int64)
    by_place[places] = keys
    return by_place


def _free_nodes(first: int, n: int, behind: int) -> Records:
    """Nodes `first` and so on, in the list of free ones before the node `behind`."""
    nodes = np.zeros(n, lay.TREE_NODE)
    nodes["side"] = NONE
    nodes["right"] = np.arange(first + 1, first + n + 1)
    nodes["right"][-1:] = behind
    return nodes


def _lengthened(entries: npt.NDArray[Any], n_more: int) -> npt.NDArray[Any]:
    fresh = np.empty((len(entries) + n_more, entries.shape[1]), entries.dtype)
    fresh[: len(entries)] = entries
    return fresh


def _b_tree_nodes(count: int, node_size: int) -> int:
    """At most so many, if leaves are three quarters full and inner nodes half full, each of which takes two."""
    level = -(-4 * count // (3 * node_size))
    total = level
    while level > 1:
        level = -(-level // (node_size // 2 + 1))
        total += 2 * level
    return total


def _t_tree_nodes(count: int, node_size: int) -> int:
    return -(-count // node_size)


_NODES = {"B": _b_tree_nodes, "T": _t_tree_nodes}
