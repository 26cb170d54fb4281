"""Punctuations pass through selection, projection, union, duplicate elimination, groups and joins of queries."""

import warnings

import pyarrow as pa
import pytest

import punctuated as pt

BIDS = pa.table({"item": [7, 7, 8], "price": [1, 2, 3], "at": [1, 2, 3], "closed": [False, True, False]})
MORE = pa.table({"item": [7, 8, 9], "price": [4, 5, 6], "at": [1, 4, 9], "closed": [False, True, False]})
END = 1 << 62


def declared(table: pa.Table) -> pt.TableStream:
    made: pt.TableStream = pt.stream(table, key="item", time="at", punctuations=pt.when("closed"))
    return made


def streams() -> dict[str, pt.TableStream]:
    return {"bids": declared(BIDS), "more": declared(MORE)}


def ended(query: pt.SqlQuery) -> list[tuple[int, int]]:
    """Values that are over, and when, but for the end of everything."""
    found = query.punctuations
    rows = zip(found[0].to_pylist(), found["ts"].to_pylist(), strict=True)
    return sorted((value, ts) for value, ts in rows if value is not None and ts < END)


def test_selection_passes_them_though_the_row_itself_is_left_out() -> None:
    query = pt.sql("SELECT item, price FROM bids WHERE price <> 2", **streams())
    assert query.results["price"].to_pylist() == [1, 3]
    assert ended(query) == [(7, 2)]


def test_projection_passes_those_of_a_renamed_key() -> None:
    query = pt.sql("SELECT price * 2 AS twice, item AS thing FROM bids", **streams())
    assert query.punctuations.column_names[0] == "thing"
    assert ended(query) == [(7, 2)]


def test_projection_without_the_key_has_none_to_pass() -> None:
    query = pt.sql("SELECT q.price FROM (SELECT price FROM bids UNION ALL SELECT price FROM more) q", **streams())
    assert query.joined.spec.left.key == ()
    assert query.results.num_rows == 6


def test_a_value_of_a_union_is_over_when_all_have_ended_it() -> None:
    both = {name: declared(BIDS) for name in ("bids", "more")}
    text = "SELECT item, price FROM bids UNION ALL SELECT item, price FROM more"
    assert ended(pt.sql(text, **both)) == [(7, 2)]
    assert (7, 2) not in ended(pt.sql(text, **streams()))


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT item, COUNT(*) AS n FROM bids GROUP BY item",
        "SELECT DISTINCT item, price FROM bids",
        "SELECT item, price FROM bids UNION ALL SELECT item, price FROM bids",
        "SELECT b.item, m.price FROM bids b, more m WHERE b.item = m.item",
    ],
    ids=["groups", "distinct", "union", "join"],
)
def test_queries_in_from_bring_theirs(inner: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        query = pt.sql(f"SELECT q.item, b.at FROM ({inner}) q, bids b WHERE q.item = b.item", **streams())
    assert query.joined.spec.left.punctuated
    assert 7 in [value for value, _ in ended(query)]


def test_groups_are_final_when_their_key_is_over_whatever_it_is_called() -> None:
    query = pt.sql("SELECT item AS thing, COUNT(*) AS n FROM bids GROUP BY item HAVING COUNT(*) > 0", **streams())
    assert query.to_pylist() == [{"thing": 7, "n": 2}, {"thing": 8, "n": 1}]
    with pytest.warns(pt.LateGroupsWarning):
        assert pt.sql("SELECT price, COUNT(*) AS n FROM bids GROUP BY price", **streams()).results.num_rows == 3
