"""A portion of values with all that is known of them beside their I-Nodes, apart from the arrays of a state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels.layout import NOT_SET
from punctuated.snapshot.parts import Ints

Mask = npt.NDArray[np.bool_]
_MANY = 32  # a search takes as long as going through so many tuples
_NUMBERS = 24  # bytes of what is known of a tuple beside its row
_FIELDS = ("owner", "id", "ts", "mark", "end")  # behind the columns of the rows; the last one only if it is its own


@dataclass(frozen=True)
class ColdTuples:
    """Tuples of one side, in the order of their values: `owner` is the place of its value in the portion."""

    rows: pa.Table
    owner: npt.NDArray[Any]
    ids: Ints  # in the order of arrival
    ts: Ints
    ends: Ints  # of their own windows; where there are none, `ts` itself
    marks: npt.NDArray[Any]

    def __len__(self) -> int:
        return int(self.ids.size)

    def select(self, which: Mask | Ints, owner: Ints) -> "ColdTuples":
        """Some of them, of values that have other places."""
        rows = self.rows.filter(pa.array(which)) if which.dtype == np.bool_ else self.rows.take(pa.array(which))
        ts = self.ts[which]
        return ColdTuples(rows, owner, self.ids[which], ts, self._own_ends(ts, which), self.marks[which])

    def _own_ends(self, ts: Ints, which: Mask | Ints | slice) -> Ints:
        return ts if self.ends is self.ts else self.ends[which]

    def slice(self, start: int, stop: int, first_owner: int) -> "ColdTuples":
        """A stretch of them; their values are numbered from `first_owner` on."""
        which = slice(start, stop)
        rows, ts = self.rows.slice(start, stop - start), self.ts[which]
        owner = self.owner[which] - first_owner
        return ColdTuples(rows, owner, self.ids[which], ts, self._own_ends(ts, which), self.marks[which])

    def soonest(self, n_values: int) -> Ints:
        """The first end among each value's tuples; NOT_SET where there is none."""
        first = np.full(n_values, NOT_SET, np.int64)
        np.minimum.at(first, self.owner, self.ends)
        return first

    def to_table(self) -> pa.Table:
        """All of it as columns."""
        numbers = [self.owner.astype(np.int32), self.ids, self.ts, self.marks.astype(np.uint8)]
        numbers += [] if self.ends is self.ts else [self.ends]
        names = [*self.rows.column_names, *_FIELDS[: len(numbers)]]
        return pa.table([*self.rows.columns, *map(pa.array, numbers)], names=names)

    @staticmethod
    def of_table(table: pa.Table) -> "ColdTuples":
        """The inverse; names may come twice, places do not."""
        n_fields = len(_FIELDS) - (table.column_names[-1] != _FIELDS[-1])
        n = table.num_columns - n_fields
        owner, ids, ts, marks, *ends = (np.asarray(column.chunk(0)) for column in table.columns[n:])
        rows = pa.table(table.columns[:n], schema=pa.schema(list(table.schema)[:n]))
        return ColdTuples(rows, owner, ids, ts, ends[0] if ends else ts, marks)

    @staticmethod
    def joined(several: "Sequence[ColdTuples]", first_owners: Sequence[int]) -> "ColdTuples":
        """Those of several portions as one."""
        owner = [each.owner + first for each, first in zip(several, first_owners, strict=True)]
        numbers = [(each.ids, each.ts, each.ends, each.marks) for each in several]
        ids, ts, ends, marks = map(np.concatenate, zip(*numbers, strict=True))
        own = any(each.ends is not each.ts for each in several)
        rows = pa.concat_tables([each.rows for each in several])
        return ColdTuples(rows, np.concatenate(owner), ids, ts, ends if own else ts, marks)


@dataclass(frozen=True)
class Portion:
    """Values by their addresses, the times of their last tuples, and their tuples of all sides."""

    addresses: Ints
    last_ts: Ints  # (values, width)
    last_ends: Ints  # (values, width)
    tuples: tuple[ColdTuples, ...]  # side by side

    @property
    def n_tuples(self) -> int:
        return sum(map(len, self.tuples))

    @property
    def nbytes(self) -> int:
        """Of the tuples, about."""
        return sum(each.rows.nbytes + _NUMBERS * len(each) for each in self.tuples)

    def select(self, which: Ints) -> "Portion":
        """Some values, in this order; tuples stay in the order of their values."""
        return Portion(
            self.addresses[which],
            self.last_ts[which],
            self.last_ends[which],
            tuple(_of_values(each, which) for each in self.tuples),
        )

    def of_values(self, which: Ints) -> "Portion":
        """These values, ascending, without the others, which have no tuples."""
        place = np.empty(self.addresses.size, np.int64)
        place[which] = np.arange(which.size)
        tuples = tuple(replace(each, owner=place[each.owner]) for each in self.tuples)
        return Portion(self.addresses[which], self.last_ts[which], self.last_ends[which], tuples)

    def slice(self, start: int, stop: int) -> "Portion":
        """The values from one place to another."""
        edges = [np.searchsorted(each.owner, [start, stop]) for each in self.tuples]
        return Portion(
            self.addresses[start:stop],
            self.last_ts[start:stop],
            self.last_ends[start:stop],
            tuple(each.slice(int(a), int(b), start) for each, (a, b) in zip(self.tuples, edges, strict=True)),
        )

    @staticmethod
    def joined(portions: "Sequence[Portion]") -> "Portion":
        """Several as one."""
        if len(portions) == 1:
            return portions[0]
        sizes = [each.addresses.size for each in portions]
        firsts = [0, *np.cumsum(sizes)[:-1].tolist()]
        return Portion(
            np.concatenate([each.addresses for each in portions]),
            np.concatenate([each.last_ts for each in portions]),
            np.concatenate([each.last_ends for each in portions]),
            tuple(
                ColdTuples.joined(several, firsts) for several in zip(*(each.tuples for each in portions), strict=True)
            ),
        )


def _of_values(tuples: ColdTuples, which: Ints) -> ColdTuples:
    """The tuples of these values, value by value; the cost of a few of them is that of what is asked for."""
    wanted = which.astype(tuples.owner.dtype, copy=False)
    if which.size * _MANY < len(tuples):
        starts, stops = (np.searchsorted(tuples.owner, wanted, side=side) for side in ("left", "right"))
    else:
        n = 1 + max(int(tuples.owner[-1]) if len(tuples) else 0, int(which.max(initial=0)))
        edges = np.concatenate([[0], np.cumsum(np.bincount(tuples.owner, minlength=n))])
        starts, stops = edges[wanted], edges[wanted + 1]
    counts = stops - starts
    owner = np.repeat(np.arange(which.size), counts)
    firsts = starts - (np.cumsum(counts) - counts)
    return tuples.select(firsts[owner] + np.arange(owner.size), owner)
