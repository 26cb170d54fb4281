"""Values that are in no array of the state: on their way to disk or back, with all that is known of them.

A value has an address (see `keys.codec`), the times of its last tuples, and its tuples of all sides. Invariant: tuples
stand value by value, and `owner` is the index of a tuple's value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels import layout as lay
from punctuated.kernels.layout import NOT_SET
from punctuated.snapshot.parts import Ints

Mask = npt.NDArray[np.bool_]
_NUMBER_BYTES = 24  # of what is known of a tuple beside its row
_SCANNED = 32  # going through so many tuples takes as long as one binary search
_FIELDS = ("owner", "id", "ts", "mark", "end")  # behind the columns of the rows; the last one only if it is its own


@dataclass(frozen=True)
class DetachedTuples:
    """Tuples of one side, in the order of their values."""

    rows: pa.Table
    owner: npt.NDArray[Any]  # the index of each tuple's value
    ids: Ints  # numbers in the order of arrival, which never change
    ts: Ints
    ends: Ints  # of windows that tuples have of their own; where there are none, `ts` itself
    marks: npt.NDArray[Any]

    def __len__(self) -> int:
        return int(self.ids.size)

    def select(self, which: Mask | Ints, owner: Ints) -> "DetachedTuples":
        """The tuples that `which` keeps; `owner` has the new indices of their values."""
        rows = self.rows.filter(pa.array(which)) if which.dtype == np.bool_ else self.rows.take(pa.array(which))
        ts = self.ts[which]
        return DetachedTuples(rows, owner, self.ids[which], ts, self._own_ends(ts, which), self.marks[which])

    def _own_ends(self, ts: Ints, which: Mask | Ints | slice) -> Ints:
        return ts if self.ends is self.ts else self.ends[which]

    def slice(self, start: int, stop: int, first_owner: int) -> "DetachedTuples":
        """The tuples from `start` to `stop`; value `first_owner` becomes number 0."""
        which = slice(start, stop)
        rows, ts = self.rows.slice(start, stop - start), self.ts[which]
        owner = self.owner[which] - first_owner
        return DetachedTuples(rows, owner, self.ids[which], ts, self._own_ends(ts, which), self.marks[which])

    def soonest(self, n_values: int) -> Ints:
        """The first end of a window among each value's tuples; NOT_SET where there is none."""
        first = np.full(n_values, NOT_SET, np.int64)
        np.minimum.at(first, self.owner, self.ends)
        return first

    def to_table(self) -> pa.Table:
        """The rows, and behind them what else is known of each tuple, as columns."""
        numbers = [self.owner.astype(np.int32), self.ids, self.ts, self.marks.astype(np.uint8)]
        numbers += [] if self.ends is self.ts else [self.ends]
        names = [*self.rows.column_names, *_FIELDS[: len(numbers)]]
        return pa.table([*self.rows.columns, *map(pa.array, numbers)], names=names)

    @staticmethod
    def of_table(table: pa.Table) -> "DetachedTuples":
        """Tuples from what `to_table` gave; columns go by position, since a stream's may have the same names."""
        n_fields = len(_FIELDS) - (table.column_names[-1] != _FIELDS[-1])
        n = table.num_columns - n_fields
        owner, ids, ts, marks, *ends = (np.asarray(column.chunk(0)) for column in table.columns[n:])
        rows = pa.table(table.columns[:n], schema=pa.schema(list(table.schema)[:n]))
        return DetachedTuples(rows, owner, ids, ts, ends[0] if ends else ts, marks)

    @staticmethod
    def joined(several: "Sequence[DetachedTuples]", first_owners: Sequence[int]) -> "DetachedTuples":
        """The tuples of several groups of values as one, whose first values get the numbers `first_owners`."""
        owner = [each.owner + first for each, first in zip(several, first_owners, strict=True)]
        numbers = [(each.ids, each.ts, each.ends, each.marks) for each in several]
        ids, ts, ends, marks = map(np.concatenate, zip(*numbers, strict=True))
        own = any(each.ends is not each.ts for each in several)
        rows = pa.concat_tables([each.rows for each in several])
        return DetachedTuples(rows, np.concatenate(owner), ids, ts, ends if own else ts, marks)


@dataclass(frozen=True)
class DetachedValues:
    """Values by their addresses, the times of their last tuples, and their tuples."""

    addresses: Ints
    last_ts: Ints  # (values, width)
    last_ends: Ints  # (values, width)
    tuples: tuple[DetachedTuples, ...]  # side by side

    @property
    def n_tuples(self) -> int:
        return sum(map(len, self.tuples))

    @property
    def nbytes(self) -> int:
        """About how many bytes the tuples take."""
        return sum(each.rows.nbytes + _NUMBER_BYTES * len(each) for each in self.tuples)

    def last_end(self, side: int) -> Ints:
        """When the window of each value's last tuple of a side ends, as `ends` of tuples; NEVER if there was none."""
        last_ts = self.last_ts[:, side]
        return np.where(last_ts != lay.NEVER, self.last_ends[:, side] if self.last_ends.size else last_ts, lay.NEVER)

    def select(self, which: Ints) -> "DetachedValues":
        """The values with these indices, in this order."""
        return DetachedValues(
            self.addresses[which],
            self.last_ts[which],
            self.last_ends[which],
            tuple(_of_values(each, which) for each in self.tuples),
        )

    def drop_empty(self, others: Ints) -> "DetachedValues":
        """Without values that have no tuples: `others` are the ascending indices of those that have some."""
        index = np.empty(self.addresses.size, np.int64)
        index[others] = np.arange(others.size)
        tuples = tuple(replace(each, owner=index[each.owner]) for each in self.tuples)
        return DetachedValues(self.addresses[others], self.last_ts[others], self.last_ends[others], tuples)

    def slice(self, start: int, stop: int) -> "DetachedValues":
        """The values from `start` to `stop`."""
        edges = [np.searchsorted(each.owner, [start, stop]) for each in self.tuples]
        return DetachedValues(
            self.addresses[start:stop],
            self.last_ts[start:stop],
            self.last_ends[start:stop],
            tuple(each.slice(int(a), int(b), start) for each, (a, b) in zip(self.tuples, edges, strict=True)),
        )

    @staticmethod
    def joined(several: "Sequence[DetachedValues]") -> "DetachedValues":
        """All of these values."""
        if len(several) == 1:
            return several[0]
        sizes = [each.addresses.size for each in several]
        firsts = [0, *np.cumsum(sizes)[:-1].tolist()]
        return DetachedValues(
            np.concatenate([each.addresses for each in several]),
            np.concatenate([each.last_ts for each in several]),
            np.concatenate([each.last_ends for each in several]),
            tuple(
                DetachedTuples.joined(of_side, firsts)
                for of_side in zip(*(each.tuples for each in several), strict=True)
            ),
        )


def _of_values(tuples: DetachedTuples, which: Ints) -> DetachedTuples:
    """The tuples of these values, value by value; to ask for a few costs no more than what they have."""
    wanted = which.astype(tuples.owner.dtype, copy=False)
    if which.size * _SCANNED < len(tuples):
        starts, stops = (np.searchsorted(tuples.owner, wanted, side=side) for side in ("left", "right"))
    else:
        n = 1 + max(int(tuples.owner[-1]) if len(tuples) else 0, int(which.max(initial=0)))
        edges = np.concatenate([[0], np.cumsum(np.bincount(tuples.owner, minlength=n))])
        starts, stops = edges[wanted], edges[wanted + 1]
    counts = stops - starts
    owner = np.repeat(np.arange(which.size), counts)
    firsts = starts - (np.cumsum(counts) - counts)
    return tuples.select(firsts[owner] + np.arange(owner.size), owner)
