"""Keys of queries and of streams: what punctuations by the declared key say of a join by another one."""

import warnings

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.bind.sources import Source
from punctuated.sql.bind.names import Ref
from punctuated.sql.bind.predicates import join_key

ITEMS = pa.table({"item": [1, 2, 3], "shop": [1, 1, 2], "at": [0, 1, 2]})
SALES = pa.table({"item": [1, 2, 2], "shop": [1, 1, 1], "sold": [3, 4, 5], "last": [True, False, True]})


def items(key: str | list[str] | None = None, punctuations: Source | None = None) -> pt.TableStream:
    made: pt.TableStream = pt.stream(ITEMS, time="at", window=100, key=key, punctuations=punctuations)
    return made


def sales(key: str | list[str] | None = None, punctuations: Source | None = None) -> pt.TableStream:
    made: pt.TableStream = pt.stream(SALES, time="sold", window=100, key=key, punctuations=punctuations)
    return made


def ask(on: str, ours: pt.TableStream, other: pt.TableStream) -> pt.SqlQuery:
    return pt.sql(f"SELECT i.item, s.sold FROM items i JOIN sales s ON {on}", items=ours, sales=other)


def test_punctuations_by_the_join_key_are_used() -> None:
    query = ask("i.item = s.item", items(key="item", punctuations=pt.unique()), sales(key="item"))
    assert query.joined.spec.left.punctuated
    assert query.results.num_rows == 3


def test_punctuations_by_another_key_are_left_out_with_a_warning() -> None:
    with pytest.warns(pt.UnusedPunctuationsWarning, match="i is punctuated by item, but this query joins it by shop"):
        query = ask("i.shop = s.shop", items(key="item", punctuations=pt.unique()), sales(key="shop"))
    assert not query.joined.spec.left.punctuated
    assert query.results.num_rows == 6


def test_unique_keys_are_unique_in_a_longer_key_too() -> None:
    query = ask(
        "i.item = s.item AND i.shop = s.shop", items(key="item", punctuations=pt.unique()), sales(key=["item", "shop"])
    )
    assert query.joined.spec.left.key == ("item", "shop") and query.joined.spec.left.unique
    assert query.results.num_rows == 3


def test_a_cluster_of_a_key_is_none_of_a_longer_one() -> None:
    with pytest.warns(pt.UnusedPunctuationsWarning):
        ask(
            "i.item = s.item AND i.shop = s.shop",
            items(key="item", punctuations=pt.clustered()),
            sales(key=["item", "shop"]),
        )


def test_the_same_columns_in_another_order_are_the_same_key() -> None:
    endings = pa.table({"shop": [1], "item": [1], "at": [9]})
    said = pt.endings(endings, key=["shop", "item"], time="at")
    ours = items(key=["item", "shop"], punctuations=pt.unique())
    query = ask("i.shop = s.shop AND i.item = s.item", ours, sales(key=["shop", "item"], punctuations=said))
    assert [stream.key for stream in query.joined.spec.streams] == [("item", "shop")] * 2
    assert all(stream.punctuated for stream in query.joined.spec.streams)
    assert query.results.num_rows == 3
    assert {"item": 1, "shop": 1} in query.punctuations.select(["item", "shop"]).to_pylist()


def test_streams_without_a_key_are_joined_by_any() -> None:
    assert ask("i.item = s.item", items(), sales()).results.num_rows == 3


def test_a_predicate_alone_needs_no_key() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        query = ask("i.item < s.item", items(), sales())
    assert query.joined.spec.left.key == ()
    assert query.results.num_rows == 2


def test_punctuations_say_nothing_to_a_join_without_a_key() -> None:
    with pytest.warns(pt.UnusedPunctuationsWarning, match="joins it by no key"):
        ask("i.item < s.item", items(), sales(key="item", punctuations=pt.when("last")))


def test_equalities_are_tied_together() -> None:
    pairs = [(Ref(0, "a"), Ref(1, "b")), (Ref(1, "b"), Ref(2, "c")), (Ref(0, "d"), Ref(1, "e"))]
    key = join_key(pairs, [("a",), (), ()])
    assert key.columns == (("a",), ("b",), ("c",))
    assert key.holds((Ref(0, "a"), Ref(2, "c"))) and not key.holds(pairs[2])


def test_punctuations_flow_through_projections_and_selections() -> None:
    ours = items(key="item", punctuations=pt.unique())
    text = (
        "SELECT q.thing, s.sold FROM (SELECT item AS thing FROM items WHERE shop = 1) q, sales s WHERE q.thing = s.item"
    )
    query = pt.sql(text, items=ours, sales=sales(key="item"))
    assert query.joined.spec.left.unique
    assert query.results.to_pydict() == {"thing": [1, 2, 2], "sold": [3, 4, 5]}


def test_the_output_of_a_join_is_joined_without_a_key() -> None:
    ours, other = items(key="item", punctuations=pt.unique()), sales(key="item")
    text = """
    SELECT q.sold, i.item FROM (SELECT i.item, s.sold FROM items i, sales s WHERE i.item = s.item) q [RANGE 10],
    items i [RANGE 10] WHERE q.sold > i.item + 3
    """
    with pytest.warns(pt.UnusedPunctuationsWarning, match="i is punctuated"):
        query = pt.sql(text, items=ours, sales=other)
    assert sorted(query.to_pylist(), key=str) == [{"sold": 5, "item": 1}]
