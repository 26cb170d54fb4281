"""`select=`: only the columns that are wanted come out."""

import pyarrow as pa
import pytest

import punctuated as pt
from table_streams import declare


def streams() -> tuple[pt.TableStream, pt.TableStream]:
    a = pa.table({"k": [1, 2], "ts": [0, 1], "v": [10, 20], "note": ["x", "y"]})
    b = pa.table({"k": [1, 2], "ts": [2, 3], "v": [5, 6], "w": [7, 8]})
    return declare(a, name="A", key="k", time="ts", window=10), declare(b, name="B", key="k", time="ts", window=10)


def test_columns_come_in_the_order_of_the_results() -> None:
    joined = pt.join(*streams(), select=["w", "v_left"])
    assert joined.results.to_pylist() == [{"k": 1, "v_left": 10, "w": 7}, {"k": 2, "v_left": 20, "w": 8}]


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_the_rest_is_as_without_it(how: str) -> None:
    whole = pt.join(*streams(), how=how).results
    assert pt.join(*streams(), how=how, select=["v" if how in ("semi", "anti") else "v_left"]).results == whole.select(
        ["k", "v" if how in ("semi", "anti") else "v_left"]
    )


def test_no_column_but_the_key() -> None:
    assert pt.join(*streams(), select=[]).results.column_names == ["k"]


def test_groups_see_the_selected_columns() -> None:
    with pytest.raises(pt.PunctuatedError, match="w"):
        pt.join(*streams(), select=["v_left"]).group_by("k").agg(largest=pt.max("w"))


def test_unknown_columns_are_named() -> None:
    with pytest.raises(pt.PunctuatedError, match="no column 'v'; they have: k, ts_left, v_left"):
        pt.join(*streams(), select=["v"])
    with pytest.raises(pt.PunctuatedError, match="list of column names"):
        pt.join(*streams(), select="v_left")
