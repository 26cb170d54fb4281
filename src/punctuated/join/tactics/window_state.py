"""The state of a join whose windows have structures: the arrays of every join, and the structures over their nodes.

A structure names tuples by their positions in the rings. Whatever moves nodes rebuilds the structures.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from punctuated.join.state.arrays import SMALLEST, JoinState
from punctuated.join.tactics.window_indexes import BYTES_PER_KEY, BYTES_PER_LINK, WindowIndexes
from punctuated.kernels import layout as lay
from punctuated.kernels.structures import lacks_room
from punctuated.model.side import Side
from punctuated.model.spec import JoinSpec

Ints = npt.NDArray[np.int64]


class WindowState(JoinState):
    """The arrays that the loop over structures works on."""

    def __init__(self, spec: JoinSpec, allow: Callable[[int], None], *, filtered: bool, hash_bits: int) -> None:
        super().__init__(spec, allow, filtered=filtered, hash_bits=hash_bits)
        assert spec.algorithm.structures is not None
        self.indexes = WindowIndexes(spec.algorithm.structures, spec.node_size, spec.bucket_size, 2 * SMALLEST)
        self.indexes.arrays.sides["head"] = self.sides["head"]
        self.found = np.empty(2 * SMALLEST, np.int32)  # scratch: what a probe of a structure gave

    def make_room(self, deadlines: int = 0) -> bool:
        """Also for another tuple in the structures."""
        grown = super().make_room(deadlines)
        if not lacks_room(self.indexes.arrays):
            return grown
        self.indexes.grow()
        return True

    def copy_rings(self, more: Sequence[int] | None = None) -> None:
        """Nodes get other positions, so the structures are built anew."""
        keys = self._indexed_keys()
        super().copy_rings(more)
        self._load_index(*keys)

    @property
    def bytes_per_node(self) -> int:
        """With what its structure takes."""
        return super().bytes_per_node + BYTES_PER_KEY + BYTES_PER_LINK

    @property
    def nbytes(self) -> int:
        """With the structures."""
        return super().nbytes + self.indexes.nbytes

    def groups(self) -> Ints:
        """Codes of the keys of all tuples in the structures."""
        return self._indexed_keys()[0]

    def regroup(self, moved: Ints) -> None:
        """Keys were numbered anew."""
        group, *others = self._indexed_keys()
        self._load_index(moved[group], *others)

    def restructure(self, structures: tuple[str, str]) -> None:
        """Other structures over the same windows."""
        keys = self._indexed_keys()
        self.indexes.structures = structures
        self._load_index(*keys)

    def index_nodes(self, positions: tuple[Ints, Ints], group: Ints, low: Ints, high: Ints) -> None:
        """Tuples of both sides, oldest first, enter empty structures."""
        nodes, places = self.arrays.nodes, np.concatenate(positions)
        matching = low <= high
        nodes["mark"] &= ~lay.INDEXED
        nodes["mark"][places[matching]] |= lay.INDEXED
        first = int(self.common["seq"][0]) - places.size
        number = np.concatenate([first + np.arange(each.size) for each in positions])
        self._load_index(*(each[matching] for each in (group, low, high, number)))

    def _indexed(self, side: Side) -> Ints:
        """Positions of the tuples in a side's structure, oldest first."""
        positions = self.positions(side)
        nodes = self.arrays.nodes[positions]
        return np.asarray(positions[(nodes["value"] >= 0) & (nodes["mark"] & (lay.INDEXED | lay.DEAD) == lay.INDEXED)])

    def _indexed_keys(self) -> list[Ints]:
        positions = np.concatenate([self._indexed(side) for side in Side])
        index = self.indexes.arrays
        return [each[positions] for each in (index.group, index.low, index.high, index.number)]

    def _load_index(self, *keys: Ints) -> None:
        """Structures anew for the tuples that are marked; keys of the left ones first, oldest first."""
        nodes, size = self.arrays.nodes, self.arrays.nodes.size
        nodes["mark"][nodes["mark"] & lay.DEAD != 0] &= ~lay.INDEXED
        self.indexes.reload(size, self._indexed(Side.LEFT), self._indexed(Side.RIGHT), *keys)
        self.indexes.arrays.sides["head"] = self.sides["head"]
        self.found = np.empty(size, np.int32)
