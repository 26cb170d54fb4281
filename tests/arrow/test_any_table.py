"""Tables of any library, in any encoding, are streams: what comes out does not depend on it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import punctuated as pt
from table_streams import declare

LEFT = pa.table({"k": ["a", "b", None], "ts": [0, 1, 2], "v": [1.5, None, 2.5]})
RIGHT = pa.table({"k": ["b", "a", "a"], "at": [2, 3, 4]})


class Foreign:
    """A table of another library."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def joined(data: Any, endings: Any = None) -> pt.Join:
    said = None if endings is None else pt.endings(endings, key="k", time="at")
    left = declare(data, name="A", key="k", time="ts", window=10, punctuations=said)
    return pt.join(left, declare(RIGHT, name="B", key="k", time="at", window=10))


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(LEFT.to_pandas, id="pandas"),
        pytest.param(lambda: LEFT.to_pandas().set_index("k"), id="pandas with a named index"),
        pytest.param(lambda: LEFT.to_pandas().loc[[0, 1, 2]], id="pandas without its own index"),
        pytest.param(LEFT.to_reader, id="reader"),
        pytest.param(lambda: LEFT.to_batches()[0], id="batch"),
        pytest.param(lambda: Foreign(LEFT), id="foreign"),
        pytest.param(lambda: (LEFT.slice(i, 1) for i in range(3)), id="generator"),
        pytest.param(lambda: [LEFT.slice(0, 1).to_pandas(), Foreign(LEFT.slice(1))], id="list of both"),
    ],
)
def test_a_table_of_any_library_is_a_stream(given: Callable[[], Any]) -> None:
    assert joined(given()).results.sort_by("at").equals(joined(LEFT).results.sort_by("at"))
    endings = RIGHT.rename_columns(["k", "at"])
    expected = joined(LEFT, endings).punctuations
    assert expected.num_rows and joined(LEFT, iter([endings.to_pandas()])).punctuations.equals(expected)


def test_empty_parts_of_a_stream_of_arrow_do_no_harm() -> None:
    (whole,) = LEFT.to_batches()
    given = Foreign(pa.Table.from_batches([whole[:2], whole[2:2], whole[2:]]))
    assert joined(given).results.sort_by("at").equals(joined(LEFT).results.sort_by("at"))


def test_what_is_no_table_is_refused() -> None:
    mixed = pd.DataFrame({"k": ["a", 1], "ts": [0, 1]})
    for given in (mixed, Foreign(pa.chunked_array([[1, 2]])), [LEFT, 5], [], 5, "table", None):
        with pytest.raises(pt.StreamError, match=r"a stream needs|cannot read a"):
            joined(given)


WORDS = ["x", None, "", "é" * 30, "x"]
LISTS = [["x"], None, [], ["y", None], ["x"]]


@pytest.mark.parametrize(
    ("column", "plain"),
    [
        (pa.array(WORDS, pa.string_view()), pa.string()),
        (pa.array(WORDS).dictionary_encode(), pa.string()),
        (pa.array(WORDS).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.large_string())), pa.large_string()),
        (pa.compute.run_end_encode(pa.array(WORDS)), pa.string()),
        (pa.array([None if each is None else each.encode() for each in WORDS], pa.binary_view()), pa.binary()),
        (pa.array(LISTS, pa.list_view(pa.string())), pa.list_(pa.string())),
        (pa.array(LISTS, pa.large_list_view(pa.string_view())), pa.large_list(pa.string())),
        (pa.array(LISTS, pa.list_(pa.string_view())), pa.list_(pa.string())),
        (
            pa.array([{"a": word} for word in WORDS], pa.struct([("a", pa.string_view())])),
            pa.struct([("a", pa.string())]),
        ),
    ],
    ids=lambda given: str(given.type if isinstance(given, pa.Array) else given),
)
def test_encodings_do_not_matter(column: pa.Array, plain: pa.DataType) -> None:
    values = column.to_pylist()
    table = pa.table({"k": np.arange(5), "ts": np.arange(5), "v": column})
    right = declare(pa.table({"k": np.arange(1, 5), "at": np.arange(1, 5)}), name="B", key="k", time="at", window=9)
    results = pt.join(declare(table.slice(1), name="A", key="k", time="ts", window=9), right).results
    assert results.schema.field("v").type == plain
    assert results["v"].to_pylist() == values[1:]


def test_patterns_and_predicates_see_through_encodings() -> None:
    table = pa.table({"k": [1, 2, None], "ts": [0, 1, 2], "v": pa.array(["x", "y", None]).dictionary_encode()})
    table = table.append_column("said", pa.array([None, None, "<*,*,y>"], pa.string_view()))
    later = table.set_column(1, "ts", pa.array([3, 4, 5])).slice(0, 2)
    left = declare([table, later], name="A", key="k", time="ts", window=9, punctuations=pt.rows_with("said"))
    right = declare(pa.table({"k": [1, 2], "at": [6, 6]}), name="B", key="k", time="at", window=9)
    both = pt.join(left, right, where=pt.left("v") != "z")
    assert sorted(both.results["v"].to_pylist()) == ["x", "x", "y"]
    assert both.rejected["reason"].to_pylist() == ["promise"]


def test_an_encoding_that_arrow_cannot_undo_is_named() -> None:
    inner = pa.array([[1], None], pa.list_view(pa.int64()))
    table = pa.table({"k": [1, 2], "ts": [0, 1], "v": pa.StructArray.from_arrays([inner], names=["a"])})
    with pytest.raises(pt.ColumnError, match="column 'v' of type struct<a: list_view<item: int64>> cannot be read"):
        joined(table)


def test_numbers_of_numpy_are_numbers() -> None:
    left = declare(LEFT, name="A", key="k", time="ts", window=np.int64(2), lateness=np.uint8(1))
    right = declare(RIGHT, name="B", key="k", time="at", window=pt.rows(np.int32(3)))  # type: ignore[arg-type]
    numbers: dict[str, Any] = {"purge_threshold": np.int8(1), "bucket_memory": np.int64(1 << 30)}
    found: pt.Join = pt.join(left, right, **numbers)
    assert found.spec.left.window == pt.between(0, 2) and type(found.spec.purge_threshold) is int
    assert found.results["at"].to_pylist() == [2]


def test_unary_minus() -> None:
    left = declare(LEFT, name="A", key="k", time="ts", window=9)
    right = declare(RIGHT, name="B", key="k", time="at", window=9)
    assert pt.join(left, right, where=-pt.left("v") > -pt.right("at")).results["at"].to_pylist() == [3, 4]


def test_groups_by_a_list_of_columns() -> None:
    said = pt.join(
        declare(LEFT, name="A", key="k", time="ts", window=9, punctuations=pt.unique()),
        declare(RIGHT, name="B", key="k", time="at", window=9),
    )
    assert said.group_by(["k", "ts"]).agg(n=pt.count()).equals(said.group_by("k", "ts").agg(n=pt.count()))
    assert said.group_by(["k"]).agg(n=pt.count()).equals(said.group_by("k").agg(n=pt.count()))
