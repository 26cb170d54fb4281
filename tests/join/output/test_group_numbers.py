"""Groups are numbered as by a dictionary: by all their columns, nulls included, known ones first."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from punctuated.join.output.group_numbers import number_groups

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])
rows = st.tuples(
    st.none() | st.integers(-2, 2), st.sampled_from([None, "", "x", "y"]), st.sampled_from([None, 0.5, -1.0])
)


def table(groups: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*groups, strict=True)) or [(), (), ()]
    return pa.table([pa.array(column, f.type) for column, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


@given(st.lists(st.lists(rows, max_size=12), max_size=4), st.integers(1, 3))
def test_numbers_are_those_of_a_dictionary(batches: list[list[tuple[Any, ...]]], n_columns: int) -> None:
    names = SCHEMA.names[:n_columns]
    known, places = SCHEMA.empty_table().select(names), dict[tuple[Any, ...], int]()
    for batch in batches:
        numbers, known = number_groups(known, table(batch))
        assert numbers.dtype == np.int64
        assert numbers.tolist() == [places.setdefault(row[:n_columns], len(places)) for row in batch]
        assert [tuple(row.values()) for row in known.to_pylist()] == list(places)
