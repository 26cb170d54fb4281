"""Groups of a join as a stream for another one."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import punctuated as pt
from table_streams import declare

AUCTIONS = pa.table(
    {
        "id": [1, 2, 3, 4],
        "opened": [0, 5, 10, 40],
        "expires": [20, 15, 30, 60],
        "category": ["car", "car", "art", "art"],
    }
)
BIDS = pa.table(
    {
        "id": [1, 2, 1, 3, 1, 2, 3, 4, 9],
        "at": [3, 6, 18, 25, 21, 16, 30, 50, 99],
        "price": [5, 7, 9, 4, 99, 99, 6, 8, 0],
    }
)


def finals(cut: int = 100) -> pa.Table:
    """The best price of each auction, when it is over."""
    opened = declare(AUCTIONS, name="A", key="id", time="opened", window=pt.until("expires"), punctuations=pt.unique())
    parts = [BIDS.sort_by("at").slice(start, cut) for start in range(0, len(BIDS), cut)]
    joined = pt.join(opened, declare(parts, name="B", key="id", time="at"))
    return joined.group_by("id", "category").agg(final=pt.max("price"))


@pytest.mark.parametrize("cut", [100, 3, 1])
def test_a_group_comes_when_it_is_final_and_is_over_then(cut: int) -> None:
    seen = pa.table({"id": [1, 2, 3, 4, 1], "seen": [20, 17, 35, 59, 25]})
    second = pt.join(pt.stream(finals(cut), name="final", window=10), declare(seen, name="C", key="id", time="seen"))
    rows = zip(*(second.all[name].to_pylist() for name in ("_kind", "id", "_ts", "final", "seen")), strict=True)
    told = sorted(row[1:] for row in rows if row[0] == "result")

    # Each from the moment after its expiry, if that is within the window; who came before waits for the group.
    assert told == [(1, 21, 9, 20), (1, 25, 9, 25), (2, 17, 7, 17), (3, 35, 6, 35), (4, 61, 8, 59)]
    over = second.punctuations
    assert set(over.filter(pc.less(over["ts"], 62))["id"].to_pylist()) == {1, 2, 3, 4}
    assert second.rejected.num_rows == 0


@pytest.mark.parametrize("cut", [100, 2])
def test_the_average_of_final_prices_per_category(cut: int) -> None:
    """Query 4 of NEXMark."""
    categories = declare(
        pa.table({"category": ["car", "art"], "since": [0, 0]}),
        name="category",
        key="category",
        time="since",
        punctuations=pt.unique(),
    )
    with pytest.warns(pt.UnboundedStateWarning):
        by_category = pt.join(categories, pt.stream(finals(cut), name="final", key="category"))
    averages = by_category.group_by("category").agg(average=pt.mean("final"), n=pt.count()).to_pylist()

    assert sorted(averages, key=lambda row: row["category"]) == [
        {"category": "art", "average": 7.0, "n": 2},
        {"category": "car", "average": 8.0, "n": 2},
    ]


def test_groups_without_the_key_come_at_the_end() -> None:
    opened = declare(AUCTIONS, name="A", key="id", time="opened", window=100)
    with pytest.warns(pt.LateGroupsWarning):
        groups = (
            pt.join(opened, declare(BIDS, name="B", key="id", time="at", window=100))
            .group_by("category")
            .agg(n=pt.count())
        )
    later = declare(pa.table({"category": ["car", "art"], "at": [0, 99]}), name="C", key="category", time="at")
    with pytest.warns(pt.UnboundedStateWarning):
        rows = pt.join(pt.stream(groups, name="G", key="category"), later).all

    assert sorted(rows.filter(pc.equal(rows["_kind"], "result"))["_ts"].to_pylist()) == [99, 99]


def test_only_the_very_groups_are_a_stream() -> None:
    groups = finals()

    assert pt.stream(groups).spec.is_output
    assert pt.stream(groups).spec.key == ("id",)
    with pytest.raises(pt.StreamError, match="give time="):
        pt.stream(groups.select(["id", "final"]), key="id")


@pytest.mark.parametrize("options", [{"time": "final"}, {"punctuations": pt.unique()}, {"lateness": 5}])
def test_groups_bring_their_own_times_and_punctuations(options: dict[str, Any]) -> None:
    with pytest.raises(pt.StreamError, match="leave out"):
        pt.stream(finals(), **options)
