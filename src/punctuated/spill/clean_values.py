"""Clean values: they were loaded, and their copy on disk is still good, so they return there without being written.

As in a buffer pool only what has changed is written back. A loaded value is clean as long as all tuples that came with
it are still there, with the marks that they had. Tuples that have come since are written alone, so a value may lie in
several blocks; all of it is loaded together. One that lies in too many blocks is written as a whole.

Loaded tuples are told from others by the numbers of their rows, so all values are forgotten when rows are gathered.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from punctuated.kernels.rebuild import find_values
from punctuated.snapshot.parts import NO_INTS, Ints
from punctuated.spill.detached import DetachedValues
from punctuated.state.arrays import JoinState

_MOST = 4  # positions of a value: with fewer, tuples are written more often, with more, blocks are read more often
_CHANGED = 1 << 32  # more tuples than a value can have: the counts never agree
Mask = npt.NDArray[np.bool_]


class Owned(Protocol):
    """Tuples of one side, each with the index of its value."""

    @property
    def owner(self) -> Ints: ...
    @property
    def marks(self) -> Ints: ...


class TakenValues(NamedTuple):
    """Values that were taken out of one block."""

    values: DetachedValues
    positions: Ints
    eager: bool


class ReturningValues(NamedTuple):
    """Values that go back to where they were on disk, unwritten."""

    addresses: Ints
    positions: Ints
    n_tuples: Ints  # (values, sides)


class CleanValues:
    """Which of the values that were loaded since rows were last gathered may return to their positions."""

    def __init__(self) -> None:
        self._loaded: list[tuple[Ints, Ints]] = []  # a row for each value, as `_facts` has it, and their codes

    def __bool__(self) -> bool:
        return bool(self._loaded)

    def remember(self, taken: TakenValues, codes: Ints) -> None:
        """Values with these codes were loaded with all tuples that they had in this block."""
        self._loaded.append((_facts(taken), codes))

    def mark_changed(self, n_sides: int, codes: Ints) -> None:
        """Values with these codes were loaded without some of their tuples: they will have to be written."""
        facts = np.zeros((codes.size, 4 + n_sides), np.int64)
        facts[:, 4:] = _CHANGED
        self._loaded.append((facts, codes))

    def forget(self) -> None:
        """From now on no value returns unwritten."""
        self._loaded = []

    def returning(
        self, state: JoinState, values: Ints, eager: Mask, tuples: Sequence[Owned], is_loaded: Sequence[Mask]
    ) -> tuple[Mask, ReturningValues]:
        """Which of these values return with all of their loaded tuples, and what returns to which position.

        `tuples` are those of the values, side by side, and `is_loaded` says which of them were on disk.
        """
        n = values.size
        facts = np.concatenate([np.empty((0, 4 + len(tuples)), np.int64), *(facts for facts, _ in self._loaded)])
        (addresses, positions, marks, was_eager), counts = facts[:, :4].T, facts[:, 4:]
        codes = np.concatenate([NO_INTS, *(codes for _, codes in self._loaded)])
        owner = np.full(state.n_values + 1, n)  # the last one is for codes that are not in memory
        owner[values] = np.arange(n)
        of = owner[find_values(state.arrays, codes)]

        def total(numbers: Ints) -> Ints:
            return np.bincount(of, numbers, minlength=n + 1)[:n].astype(np.int64)

        loaded = [(each.owner[ours], each.marks[ours]) for each, ours in zip(tuples, is_loaded, strict=True)]
        owners, marks_now = (np.concatenate(each) for each in zip(*loaded, strict=True))
        n_positions = np.bincount(of, minlength=n + 1)[:n]
        may = (n_positions > 0) & (n_positions < _MOST)
        may &= total(counts.sum(axis=1)) == np.bincount(owners, minlength=n)
        may &= total(marks) == np.bincount(owners, marks_now, minlength=n)  # a mark that was set stays set
        may &= total(was_eager) == n_positions * eager
        chosen = np.append(may, False)[of]
        return may, ReturningValues(addresses[chosen], positions[chosen], counts[chosen])


def _facts(taken: TakenValues) -> Ints:
    """For each value: address, position, sum of its tuples' marks, whether it was eager, number of tuples by side."""
    values, n = taken.values, taken.positions.size
    marks = sum(np.bincount(each.owner, each.marks, minlength=n) for each in values.tuples)
    counts = [np.bincount(each.owner, minlength=n) for each in values.tuples]
    eager = np.full(n, int(taken.eager))
    return np.stack([values.addresses, taken.positions, np.asarray(marks, np.int64), eager, *counts], axis=1)
