"""Numbers for groups: open groups keep theirs, new groups get the next ones, in the order in which they come."""

from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.intake.canonical import canonical_floats
from punctuated.join.intake.keys import OrderedKeys
from punctuated.kernels.first_places import first_places
from punctuated.kernels.number_codes import number_codes

Ints = npt.NDArray[np.int64]


def number_groups(known: pa.Table, rows: pa.Table) -> tuple[Ints, pa.Table]:
    """The number of each row's group, and all groups by their numbers, the known ones first.

    >>> numbers, groups = number_groups(pa.table({"k": [7, 5]}), pa.table({"k": [5, None, 8, None]}))
    >>> numbers.tolist(), groups.to_pydict()
    ([1, 2, 3, 2], {'k': [7, 5, None, 8]})

    Both zeros are one group, and all NaNs are one group.
    """
    plain = pa.table([canonical_floats(rows[name]) for name in known.column_names], schema=known.schema)
    stacked = pa.concat_tables([known, plain])
    numbers = reduce(_combined, map(_encoded, stacked.columns))[len(known) :]
    fresh = stacked.slice(len(known)).take(pa.array(first_places(numbers, len(known))))
    return numbers, pa.concat_tables([known, fresh]).combine_chunks()


def _encoded(column: pa.ChunkedArray) -> Ints:
    """Equal numbers for equal values, counted from 0 in the order in which they come."""
    if OrderedKeys.fits(column.type) and not column.null_count:
        return number_codes(read_only(OrderedKeys(column.type).encode([column])[0]))
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    chunks = plain.dictionary_encode("encode").chunks  # with one dictionary, which Arrow cannot unify if it has NaN
    return np.concatenate([np.empty(0, np.int64), *(np.asarray(chunk.indices) for chunk in chunks)]).astype(np.int64)


def read_only(codes: Ints) -> Ints:
    """As arrays in Arrow memory are, so that kernels are compiled once."""
    view = codes.view()
    view.flags.writeable = False
    return view


def _combined(ours: Ints, other: Ints) -> Ints:
    pairs = ours * (other.max(initial=0) + 1) + other
    return number_codes(read_only(pairs))
