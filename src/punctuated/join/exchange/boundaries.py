"""Boundaries: when a batch of a clustered stream first brings each of its values; other values are over by then.

A value goes by its mark: its code if the key is one column of numbers, else a hash of the key. A key with a null in it
equals no other one, so each of its tuples is a value of its own. Boundaries of the parts of a batch, one under the
other, are those of the whole once each mark has kept its earliest time. Two keys with one hash count as one value: that
can delay an ending, but never causes one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.intake.key_encoding import encode_rows
from punctuated.join.intake.keys import OrderedKeys
from punctuated.kernels.key_bytes import hash_whole_keys
from punctuated.kernels.layout import BOUNDARY, Records
from punctuated.model.spec import StreamSpec

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Boundaries:
    """Times and marks of values, not yet the earliest ones of each; `valid` is false for keys with a null in them."""

    ts: Ints
    mark: Ints
    valid: Mask

    @staticmethod
    def none() -> "Boundaries":
        return Boundaries(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))

    @staticmethod
    def of(stream: StreamSpec, rows: pa.Table, ts: Ints) -> "Boundaries":
        """Those of all tuples of a clustered stream, with these times; other streams have none."""
        if not stream.clustered:
            return Boundaries.none()
        return Boundaries(ts, *mark_keys([rows[name] for name in stream.key]))

    def select(self, which: Mask | Ints) -> "Boundaries":
        return Boundaries(self.ts[which], self.mark[which], self.valid[which])

    def earliest(self) -> "Boundaries":
        """The earliest time of each value, ascending."""
        mark = np.where(self.valid, self.mark, self.ts)  # of null keys those of one time are enough
        order = np.lexsort((self.ts, mark, self.valid))
        is_first = np.ones(order.size, np.bool_)
        is_first[1:] = (np.diff(mark[order]) != 0) | (np.diff(self.valid[order]) != 0)
        first = order[is_first]
        return self.select(first[np.argsort(self.ts[first], kind="stable")])


def mark_keys(columns: Sequence[pa.ChunkedArray]) -> tuple[Ints, Mask]:
    """The mark of each key, and which keys have no null in them."""
    types = [column.type for column in columns]
    if len(types) == 1 and OrderedKeys.fits(types[0]):
        return OrderedKeys(types[0]).encode(columns)
    offsets, data, valid = encode_rows(pa.table(list(columns), names=[str(i) for i in range(len(types))]))
    return hash_whole_keys(offsets, data), valid


def with_codes(boundaries: Boundaries, came: Boundaries, codes: Ints) -> Records:
    """The boundaries in the form that the kernels read; `came` are times and marks of the tuples that came here.

    A value of which none came here cannot have been rejected here, and that is all its code is needed for.
    """
    found = np.zeros(boundaries.ts.size, BOUNDARY)
    found["time"] = boundaries.ts
    marks, places = np.unique(came.mark[came.valid], return_index=True)
    if marks.size:
        at = np.minimum(np.searchsorted(marks, boundaries.mark), marks.size - 1)
        found["is_here"] = boundaries.valid & (marks[at] == boundaries.mark)
        found["code"] = codes[came.valid][places][at]
    return found
