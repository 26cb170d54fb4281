"""Rows are taken from several tables as from one."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from punctuated.arrow.rows import take_rows


@given(st.data(), st.lists(st.integers(0, 40), min_size=1, max_size=5))
def test_rows_come_in_the_order_asked_for(data: st.DataObject, sizes: list[int]) -> None:
    whole = pa.table({"n": range(sum(sizes)), "text": [str(n) * (n % 3) or None for n in range(sum(sizes))]})
    stops = np.cumsum(sizes).tolist()
    tables = [whole.slice(stop - size, size) for stop, size in zip(stops, sizes, strict=True)]
    asked = data.draw(st.lists(st.integers(0, sum(sizes) - 1), max_size=60)) if sum(sizes) else []
    rows = np.array(asked, np.int32)
    assert take_rows(tables, rows).equals(whole.take(pa.array(rows)))
