"""Numbers for groups: open ones keep theirs, new ones get the next, in the order in which they come."""

from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels.first_places import first_places

Ints = npt.NDArray[np.int64]


def number_groups(known: pa.Table, rows: pa.Table) -> tuple[Ints, pa.Table]:
    """The number of each row's group, and all groups by their numbers, the known ones first.

    >>> numbers, groups = number_groups(pa.table({"k": [7, 5]}), pa.table({"k": [5, None, 8, None]}))
    >>> numbers.tolist(), groups.to_pydict()
    ([1, 2, 3, 2], {'k': [7, 5, None, 8]})
    """
    stacked = pa.concat_tables([known, rows.select(known.column_names)])
    numbers = reduce(_combined, map(_encoded, stacked.columns))[len(known) :]
    fresh = stacked.slice(len(known)).take(pa.array(first_places(numbers, len(known))))
    return numbers, pa.concat_tables([known, fresh]).combine_chunks()


def _encoded(column: pa.ChunkedArray) -> Ints:
    """Equal numbers for equal values, counted from 0 in the order in which they come."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    return np.asarray(plain.dictionary_encode("encode").combine_chunks().indices).astype(np.int64)


def _combined(ours: Ints, other: Ints) -> Ints:
    pairs = ours * (other.max(initial=0) + 1) + other
    return _encoded(pa.chunked_array([pairs]))
