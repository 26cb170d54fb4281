"""`pt.join(select={…})` and `group_by(having=, select=)`: results and groups of other columns."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import punctuated as pt
from table_streams import declare

pytestmark = pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")
TOTAL = pt.column("price") * pt.column("n")


def streams() -> tuple[pt.TableStream, pt.TableStream]:
    a = pa.table({"k": [1, 2, 3], "ts": [0, 1, 2], "price": [10, 20, 30], "note": ["x", "y", "z"]})
    b = pa.table({"k": [1, 2, 2, 3], "ts": [3, 4, 5, 6], "n": [1, 2, 3, 4]})
    ours = declare(a, name="A", key="k", time="ts", punctuations=pt.unique())
    return ours, declare(b, name="B", key="k", time="ts", window=100, punctuations=pt.clustered())


def test_results_have_exactly_these_columns_in_this_order() -> None:
    joined = pt.join(*streams(), select={"total": TOTAL, "item": "k", "note": pt.call("upper", pt.column("note"))})
    assert joined.schema.names == ["total", "item", "note"]
    assert joined.results.to_pylist() == [
        {"total": 10, "item": 1, "note": "X"},
        {"total": 40, "item": 2, "note": "Y"},
        {"total": 60, "item": 2, "note": "Y"},
        {"total": 120, "item": 3, "note": "Z"},
    ]
    assert joined.reader().read_all() == joined.results
    assert joined.punctuations.column_names == ["item", "ts", "reason", "pattern"]
    assert sorted(joined.punctuations["item"].to_pylist()) == [1, 2, 3]


def test_columns_that_no_expression_reads_are_never_made() -> None:
    joined = pt.join(*streams(), select={"total": TOTAL})
    assert joined.bound.columns.schema.names == ["k", "price", "n"]


def test_a_rename_does_not_copy() -> None:
    shape = pt.join(*streams(), select={"cost": "price"}).bound.shape
    assert shape is not None
    table = pa.table({"k": [1], "price": [2]})
    made = shape.shaped(table)["cost"].chunk(0)
    assert made.buffers()[1].address == table["price"].chunk(0).buffers()[1].address


@pytest.mark.parametrize("select", [{"total": TOTAL, "item": "k"}, {"total": TOTAL}, {"k": TOTAL}])
def test_everything_in_one_table(select: dict[str, Any]) -> None:
    joined = pt.join(*streams(), select=select)
    told = joined.all.filter(pc.equal(joined.all["_kind"], "punctuation"))
    name = joined.punctuations.column_names[0]
    assert name == ("item" if "item" in select else "k_" if "k" in select else "k")
    assert sorted(told[name].to_pylist()) == [1, 2, 3] == sorted(joined.punctuations[name].to_pylist())
    results = joined.all.filter(pc.equal(joined.all["_kind"], "result")).select(joined.schema.names)
    assert results.to_pylist() == joined.results.to_pylist()


@pytest.mark.parametrize("how", ["left", "full", "anti", "semi"])
def test_unmatched_rows_are_shaped_too(how: str) -> None:
    a, _ = streams()
    c = declare(pa.table({"k": [1, 9], "ts": [3, 4], "n": [1, 2]}), name="B", key="k", time="ts", window=9)
    whole = pt.join(a, c, how=how).results
    shaped = pt.join(a, c, how=how, select={"twice": pt.column("price") * 2, "k": "k"}).results
    assert shaped["twice"].to_pylist() == [None if v is None else 2 * v for v in whole["price"].to_pylist()]
    assert shaped["k"].to_pylist() == whole["k"].to_pylist()


def test_many_streams() -> None:
    a, b = streams()
    c = declare(pa.table({"k": [1, 2], "ts": [7, 8]}), name="C", key="k", time="ts", window=100)
    joined = pt.join(a, b, c, select={"id": "k", "total": pt.column("A_price") * pt.column("B_n")})
    assert sorted(joined.results["total"].to_pylist()) == [10, 40, 60]


def test_groups_by_a_renamed_key_are_still_finished() -> None:
    joined = pt.join(*streams(), select={"item": "k", "total": TOTAL})
    groups = joined.group_by("item").agg(sum=pt.sum("total"))  # no warning that nothing finishes them
    assert groups.to_pylist() == [{"item": 1, "sum": 10}, {"item": 2, "sum": 100}, {"item": 3, "sum": 120}]
    run = joined.bound.group_by(("item",), {"n": pt.count()}).groups()
    assert sum(len(run.process(batch)) for batch in joined._run.batches[:-1]) > 0


def test_groups_by_computed_columns() -> None:
    joined = pt.join(*streams(), select={"high": TOTAL > 50, "total": TOTAL})
    with pytest.warns(pt.LateGroupsWarning):
        groups = joined.group_by("high").agg(n=pt.count(), most=pt.max("total"))
    assert sorted(groups.to_pylist(), key=repr) == [
        {"high": False, "n": 2, "most": 40},
        {"high": True, "n": 2, "most": 120},
    ]


def test_having_and_select() -> None:
    joined = pt.join(*streams())
    select: dict[str, Any] = {"id": "k", "mean": pt.call("divide", pt.column("sum"), pt.column("n"))}
    groups = joined.group_by("k", having=pt.column("n") > 1, select=select).agg(n=pt.count(), sum=pt.sum("price"))
    assert groups.to_pylist() == [{"id": 2, "mean": 20.0}]
    assert groups.schema.names == ["id", "mean"]
    plain = joined.group_by("k", select=["n"]).agg(n=pt.count())
    assert plain.to_pylist() == [{"n": 1}, {"n": 2}, {"n": 1}]


@pytest.mark.parametrize(
    ("select", "told"), [({"id": "k", "n": "n"}, True), ({"id": pt.column("k") + 0, "n": "n"}, False)]
)
def test_shaped_groups_go_on_as_a_stream(select: dict[str, Any], told: bool) -> None:
    groups = pt.join(*streams()).group_by("k", having=pt.column("n") != 2, select=select).agg(n=pt.count())
    stream = pt.stream(groups, name="G", key="id", window=100)
    assert stream.spec.punctuated is told
    c = declare(pa.table({"k": [1, 2, 3], "t": [0, 0, 0], "c": [7, 8, 9]}), name="C", key="k", time="t", window=1000)
    joined = pt.join(stream, c)
    assert sorted(joined.results["c"].to_pylist()) == [7, 9]


@pytest.mark.parametrize(("select", "told"), [({"id": "k", "total": TOTAL}, True), ({"total": TOTAL}, False)])
def test_shaped_results_go_on_as_a_stream(select: dict[str, Any], told: bool) -> None:
    joined = pt.join(*streams(), select=select)
    stream = pt.stream(joined, name="AB", window=100) if told else pt.stream(joined, name="AB", key="total", window=100)
    assert stream.spec.punctuated is told
    c = declare(pa.table({"k": [1, 10, 60, 3], "t": [0] * 4}), name="C", key="k", time="t", punctuations=pt.unique())
    found = pt.join(stream, c)
    assert sorted(found.results["total"].to_pylist()) == ([10, 120] if told else [10, 60])


def test_a_result_without_its_key_is_a_stream_without_a_key() -> None:
    stream = pt.stream(pt.join(*streams(), select={"total": TOTAL}), name="AB", window=100)
    assert stream.spec.key == () and not stream.spec.punctuated
    c = declare(pa.table({"limit": [50], "t": [0]}), name="C", time="t", window=100)
    found = pt.join(stream, c, where=pt.left("total") > pt.right("limit"))
    assert sorted(found.results["total"].to_pylist()) == [60, 120]


def test_what_a_saved_state_depends_on() -> None:
    joined = pt.join(*streams(), select={"item": "k", "total": TOTAL})
    assert joined.bound.definition == {}
    grouped = joined.bound.group_by(("item",), {"n": pt.count()}, pt.column("n") > 1)
    assert grouped.definition["select= of the results"] == "item = k, total = (price * n)"
    assert grouped.definition["having= and select= of the groups"] == "item, n where (n > 1)"


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ({}, "names no column"),
        ({"x": "prize"}, "no column 'prize'; did you mean 'price'"),
        ({"x": pt.left("price")}, r"write pt.column\('price'\)"),
        ({"x": pt.call("upper", pt.column("price"))}, "cannot evaluate upper"),
    ],
)
def test_bad_shapes_are_refused(select: dict[str, Any], message: str) -> None:
    with pytest.raises(pt.PunctuatedError, match=message):
        pt.join(*streams(), select=select)
    if select:
        with pytest.raises(pt.PunctuatedError):
            pt.join(*streams()).group_by("k", select=select).agg(price=pt.max("price"), x=pt.count())


def test_having_must_be_a_predicate() -> None:
    with pytest.raises(pt.PunctuatedError, match="not true or false"):
        pt.join(*streams()).group_by("k", having=pt.column("n") + 1).agg(n=pt.count())
