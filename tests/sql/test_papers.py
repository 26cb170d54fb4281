"""The queries of the papers, verbatim but for their typos, give what the API gives (PW-39, WJ-04 … WJ-07)."""

import warnings

import pyarrow as pa
import pytest

import punctuated as pt
from sql_corpus import LENGTHS, by_name
from sql_streams import DECLARED, streams, tables


@pytest.fixture(autouse=True)
def _unbounded() -> None:
    warnings.simplefilter("ignore", pt.UnboundedStateWarning)


def ask(name: str, **given: object) -> pt.SqlQuery:
    (case,) = by_name(name)
    return pt.sql(case.query, **(streams() | given), **LENGTHS)


def stores(*names: str) -> list[pt.TableStream]:
    """Streams of the API, called A, B and C."""
    made = zip("ABC", names, strict=True)
    return [pt.stream(tables()[name], name=alias, **DECLARED[name]) for alias, name in made]


def test_bids_of_each_auction_within_twelve_hours_of_its_opening() -> None:
    query = ask("pwjoin_figure_1")
    auctions = pt.stream(tables()["Auction"], name="A", window="12 hours", **DECLARED["Auction"])
    bids = pt.stream(tables()["Bid"], name="B", **DECLARED["Bid"])
    joined = pt.join(auctions, bids, select=[])
    assert query.results.equals(joined.group_by("item_id").agg(count=pt.count()))
    assert query.punctuations.equals(joined.punctuations)
    assert query.joined.metrics["state_right"].to_pylist()[-1] == 0  # no bid is ever stored (PW-41)


def test_form_1() -> None:
    a, b, c = stores("Store1", "Store2", "Store3")
    joined = pt.join(a, b, c, within="20 minutes", select={"ItemName": "A_ItemName"})
    assert ask("wjoin_form_1").results.equals(joined.results)


@pytest.mark.parametrize(
    ("name", "within"),
    [
        ("wjoin_form_2", {("A", "B"): "10 min", ("B", "C"): "20 min", ("A", "C"): "15 min"}),
        ("wjoin_form_3", {("A", "B"): "10 min", ("B", "C"): "20 min"}),
    ],
)
def test_forms_2_and_3(name: str, within: dict[tuple[str, str], str]) -> None:
    joined = pt.join(*stores("Camera1", "Camera2", "Camera3"), within=within, select={"ObjID": "ObjID"})
    assert ask(name).results.equals(joined.results)


@pytest.mark.parametrize("both", [False, True])
def test_paths(both: bool) -> None:
    way = stores("Camera1", "Camera2", "Camera3")
    joined = pt.path(*way, within=["10 min", "20 min"], both_directions=both)
    found = ask("wjoin_path_both_directions" if both else "wjoin_path").results
    assert found["ObjID"].equals(joined.results["ObjID"])
    assert found[1].equals(joined.results["A_seen_at"])
    assert found[found.num_columns - 1].equals(joined.results["C_seen_at"])


def test_a_path_through_streams_in_another_order() -> None:
    text = (
        "SELECT A.ObjID, C.seen_at FROM Camera1 A, Camera2 B, Camera3 C "
        "DWINDOW (C, A) = 10 MINUTES AND DWINDOW (A, B) = 20 MINUTES WHERE A.ObjID = B.ObjID AND B.ObjID = C.ObjID"
    )
    a, b, c = stores("Camera1", "Camera2", "Camera3")
    joined = pt.path(c, a, b, within=["10 min", "20 min"], select={"ObjID": "ObjID", "seen_at": "C_seen_at"})
    assert joined.results.num_rows
    assert pt.sql(text, **streams()).results.equals(joined.results)


def test_the_window_of_a_name_must_be_a_length() -> None:
    (case,) = by_name("wjoin_form_1")
    with pytest.raises(pt.SqlError, match="no length of time 'w'"):
        pt.sql(case.query, **streams(), w=pa.table({"a": [1]}))
