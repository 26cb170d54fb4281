"""Groups are numbered as by a dictionary: by all their columns, nulls included, known ones first."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from punctuated.output.groups.group_by import number_groups

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])
NAN = float("nan")
rows = st.tuples(
    st.none() | st.integers(-2, 2), st.sampled_from([None, "", "x", "y"]), st.sampled_from([None, 0.5, 0.0, -0.0])
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


def test_both_zeros_are_one_group_and_all_nans_another() -> None:
    other_nan = np.uint64(0xFFF8_0000_0000_0001).view(np.float64)
    for dtype in (pa.float64(), pa.float32(), pa.float16()):
        known = pa.schema([("x", dtype)]).empty_table()
        first, known = number_groups(known, pa.table({"x": pa.array([-0.0, 0.0, NAN, None], dtype)}))
        second, known = number_groups(known, pa.table({"x": pa.array([other_nan, None, -0.0, 5.0], dtype)}))
        assert first.tolist() == [0, 0, 1, 2] and second.tolist() == [1, 2, 0, 3]
        assert repr(known["x"].to_pylist()) == "[0.0, nan, None, 5.0]"
