"""Windows that end by a column of the tuple itself."""

from itertools import permutations

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.local.join import Join

AUCTION = pa.schema([("id", pa.int64()), ("opened", pa.int64()), ("expires", pa.int64())])
BID = pa.schema([("id", pa.int64()), ("at", pa.int64()), ("price", pa.int64())])


def auctions(*rows: tuple[int, int, int | None]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(AUCTION.names, row, strict=True)) for row in rows], AUCTION)


def bids(*rows: tuple[int, int, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(BID.names, row, strict=True)) for row in rows], BID)


def join(auction: object, bid: object, how: str = "inner", **options: object) -> Join:
    left = pt.stream(
        auction,  # type: ignore[call-overload]
        name="A",
        key="id",
        time="opened",
        window=pt.until("expires"),
        punctuations=pt.unique(),
        **options,
    )
    right = pt.stream(bid, name="B", key="id", time="at", lateness=options.get("lateness", 0))  # type: ignore[call-overload]
    joined = pt.join(left, right, how=how)
    assert isinstance(joined, Join)
    return joined


def prices(joined: Join) -> list[int]:
    return sorted(joined.results["price"].to_pylist())


def test_the_bound_is_closed_and_its_own() -> None:
    opened = auctions((1, 0, 10), (2, 0, 20))
    come = bids((1, 10, 1), (1, 11, 2), (2, 11, 3), (2, 20, 4), (2, 21, 5))

    assert prices(join(opened, come)) == [1, 3, 4]


def test_null_has_no_end_and_an_end_before_its_time_admits_nothing_later() -> None:
    opened = auctions((1, 5, None), (2, 5, 4), (3, 5, 5))
    come = bids((1, 1000, 1), (2, 5, 2), (2, 6, 3), (3, 5, 4), (3, 6, 5), (2, 3, 6))

    assert prices(join(opened, come)) == [1, 4, 6]  # the last bid came before its auction, and has no window


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_bids_that_arrive_before_their_auction_count_up_to_its_expiry(order: tuple[int, ...]) -> None:
    nothing = auctions(), bids()
    parts = [(auctions((1, 0, 10)), bids()), (auctions(), bids((1, 5, 1), (1, 10, 2))), (auctions(), bids((1, 12, 3)))]
    arriving = [nothing, *(parts[place] for place in order)]
    joined = join([a for a, _ in arriving], [b for _, b in arriving], lateness=100)

    assert prices(joined) == [1, 2]
    assert joined.rejected.num_rows == 0


def test_a_group_is_final_at_the_expiry() -> None:
    opened = [auctions((1, 0, 10), (2, 1, 30)), auctions((3, 40, 50)), auctions((4, 60, None))]
    come = [bids((1, 3, 7), (2, 5, 8)), bids((2, 11, 9)), bids((1, 31, 1))]
    joined = join(opened, come)

    assert joined.group_by("id").agg(best=pt.max("price")).to_pydict() == {"id": [1, 2], "best": [7, 9]}
    assert joined.punctuations.to_pydict()["ts"][:2] == [11, 31]
    assert joined.punctuations["reason"].to_pylist()[:2] == ["early", "early"]


def test_what_is_unmatched_comes_out_at_the_expiry() -> None:
    joined = join([auctions((1, 0, 10), (2, 0, 90))], [bids((3, 20, 7))], how="left")
    out = joined.all.filter(pa.compute.equal(joined.all["_kind"], "result"))

    assert dict(zip(out["id"].to_pylist(), out["_ts"].to_pylist(), strict=True)) == {1: 10, 2: 20}


def test_the_state_holds_what_can_still_be_met() -> None:
    left = pt.stream(
        auctions((1, 0, 5), (2, 0, 1_000), (3, 0, None)), key="id", time="opened", window=pt.until("expires")
    )
    right = pt.stream(bids(*((9, at, 0) for at in range(0, 100, 10))), key="id", time="at", window=10)
    held = pt.join(left, right, sample_every=10).metrics["state_left"].to_pylist()

    assert held[0] == 3
    assert held[3:-1] == [2] * len(held[3:-1])


def test_an_end_before_all_times_is_before_the_first_of_them() -> None:
    first = -(2**60)
    opened = auctions((1, first, -(2**63)), (2, first, first))

    assert prices(join(opened, bids((1, first, 1), (2, first, 2)))) == [2]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit(unit: str) -> None:
    per_second = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[unit]
    ends = pa.array([3 * per_second, None, 2**62, -(2**62)], pa.timestamp(unit))
    opened = pa.table({"id": [1, 2, 3, 4], "opened": pa.array([0] * 4, pa.timestamp("us")), "expires": ends})
    at = pa.array([3_000_000, 3_000_001, 9_000_000, 9_000_000, 9_000_000], pa.timestamp("us"))
    come = pa.table({"id": [1, 1, 2, 3, 4], "at": at, "price": [1, 2, 3, 4, 5]})

    assert prices(join(opened, come)) == [1, 3, 4]


def test_the_results_of_a_join_end_by_a_column() -> None:
    first = join(auctions((1, 0, 10), (2, 0, 20)), bids((1, 5, 7), (2, 6, 8)))
    more = pa.table({"id": [1, 1, 2], "seen": [10, 11, 12]})
    second = pt.join(pt.stream(first, window=pt.until("expires")), pt.stream(more, key="id", time="seen"))

    assert second.results["seen"].to_pylist() == [10, 12]


def test_explain_names_the_column_and_expects_its_lengths() -> None:
    opened = auctions(*((i, i * 1_000_000, i * 1_000_000 + 5_000_000) for i in range(100)))
    told = join(opened, bids(*((i, i * 1_000_000, 0) for i in range(100)))).explain()

    assert "window: until 'expires'" in told
    assert "about 5 tuples" in told


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (pt.until("expire"), "did you mean 'expires'"),
        (pt.until("price"), "needs a column of timestamps or integers"),
        (pt.until("seconds"), "give both as timestamps, or both as integers"),
    ],
)
def test_a_column_that_holds_no_times(window: object, message: str) -> None:
    table = auctions((1, 0, 10)).append_column("price", pa.array(["x"])).append_column("seconds", pa.array([1]))
    table = table.set_column(1, "opened", pa.array([0], pa.timestamp("us")))

    with pytest.raises(pt.ColumnError, match=message):
        pt.stream(table, key="id", time="opened", window=window)  # type: ignore[call-overload]


def test_until_takes_a_name() -> None:
    with pytest.raises(pt.WindowError, match="name of a column"):
        pt.until(5)  # type: ignore[arg-type]
