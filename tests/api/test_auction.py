"""The running example of the PWJoin paper (figure 1): bids per auction within 12 hours of its opening."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from table_streams import declare

HOUR = 3_600_000_000


def auctions(rows: list[tuple[int, int]], **options: Any) -> pt.TableStream:
    table = pa.table({"item_id": [item for item, _ in rows], "opened_at": [hour * HOUR for _, hour in rows]})
    options = {"window": "12 hours", "punctuations": pt.unique(), **options}
    return declare(table, name="A", key="item_id", time="opened_at", **options)


def bids(rows: list[tuple[int, int, bool]]) -> pt.TableStream:
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], []]
    table = pa.table(
        {
            "item_id": pa.array(columns[0], pa.int64()),
            "bid_at": pa.array([hour * HOUR for hour in columns[1]], pa.int64()),
            "closed": pa.array(columns[2], pa.bool_()),
        }
    )
    return declare(table, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed"))


def test_bids_are_never_stored() -> None:
    """PW-41: item_id is unique in Auction, so a bid is joined and then discarded."""
    joined = pt.join(auctions([(1, 0), (2, 1)]), bids([(1, 2, False), (2, 3, False), (1, 4, True)]), sample_every=HOUR)
    assert len(joined.results) == 3
    assert set(joined.metrics["state_right"].to_pylist()) == {0}
    assert joined.metrics["discarded"].to_pylist()[-1] == 3


def test_a_closed_auction_is_forgotten_and_counted_at_once() -> None:
    """PW-42.

    A   1 . . . . . . . . . . . . . .      window of 12 hours
    B   . 1 1! . . . . . . . . . . 2 .     ! closes auction 1
            ^ group of 1 is final
    """
    one, two = (1, 0), (2, 13)
    first = [bids([(1, 1, False), (1, 2, True)]), bids([(2, 14, False)])]
    left = declare([_table(auctions([one])), _table(auctions([two]))], **_auction_options())
    right = declare([_table(each) for each in first], **_bid_options())
    joined = pt.join(left, right, sample_every=HOUR)
    assert joined.punctuations.select(["item_id", "ts", "reason"]).to_pylist()[0] == {
        "item_id": 1,
        "ts": 2 * HOUR,
        "reason": "both",
    }
    in_state = dict(zip(joined.metrics["ts"].to_pylist(), joined.metrics["state_left"].to_pylist(), strict=True))
    assert in_state[datetime(1970, 1, 1, 2, tzinfo=UTC)] == 0
    assert joined.group_by("item_id").agg(n=pt.count()).to_pylist() == [{"item_id": 1, "n": 2}, {"item_id": 2, "n": 1}]


def _table(stream: pt.TableStream) -> pa.Table:
    return stream.batches[0]


def _auction_options() -> dict[str, object]:
    return {"name": "A", "key": "item_id", "time": "opened_at", "window": "12 hours", "punctuations": pt.unique()}


def _bid_options() -> dict[str, object]:
    return {"name": "B", "key": "item_id", "time": "bid_at", "punctuations": pt.when("closed")}


def test_a_long_auction_ends_early_and_its_later_bids_are_dropped() -> None:
    """PW-43: 12 hours after its opening no result can come any more, though bids still do."""
    joined = pt.join(auctions([(1, 0)]), bids([(1, 5, False), (1, 13, False), (1, 14, False), (1, 15, True)]))
    assert len(joined.results) == 1
    assert joined.punctuations.select(["item_id", "ts", "reason"]).to_pylist() == [
        {"item_id": 1, "ts": 12 * HOUR + 1, "reason": "early"}
    ]
    assert joined.metrics["dropped"].to_pylist()[-1] == 3
    assert len(joined.rejected) == 0


def test_it_works_without_any_punctuation_of_bids() -> None:
    """PW-43, second half."""
    silent = declare(_table(bids([(1, 5, False), (9, 30, False)])), name="B", key="item_id", time="bid_at")
    joined = pt.join(auctions([(1, 0)]), silent)
    assert joined.punctuations["reason"].to_pylist() == ["early"]


def test_the_printed_rows_give_no_result() -> None:
    """PW-44: the bids come four days after the opening, so only punctuations flow."""
    auction, bid = pt.streams.auction_sample()
    joined = pt.join(
        pt.stream(auction, name="A", key="item_id", time="timestamp", window="12 hours", punctuations=pt.unique()),
        pt.stream(bid, name="B", key="item_id", time="timestamp", punctuations=pt.rows_with("pattern")),
    )
    assert len(joined.results) == 0
    assert sorted(joined.punctuations["item_id"].to_pylist()) == [180, 182]
    assert set(joined.punctuations["reason"].to_pylist()) == {"early"}


@pytest.mark.parametrize("cuts", [[3], [2, 1], [1, 1, 1]])
def test_a_bid_at_the_very_end_of_its_auction_counts(cuts: list[int]) -> None:
    """However the bids are cut into batches.

    A   1@0, announced to end at 10
    B   . 1@5 1@10 | 1@10
    """
    ends = pa.table({"item_id": [1], "at": [10 * HOUR]})
    placed = pa.table({"item_id": [1] * 3, "bid_at": [5 * HOUR, 10 * HOUR, 10 * HOUR], "price": [1, 2, 3]})
    starts = [sum(cuts[:number]) for number in range(len(cuts))]
    parts = [placed.slice(start, n) for start, n in zip(starts, cuts, strict=True)]
    said = pt.endings(ends, key="item_id", time="at")
    joined = pt.join(auctions([(1, 0)]), pt.stream(parts, name="B", key="item_id", time="bid_at", punctuations=said))
    assert joined.group_by("item_id").agg(n=pt.count()).to_pylist() == [{"item_id": 1, "n": 3}]
    assert joined.rejected.num_rows == 0


@pytest.mark.parametrize("algorithm", ["auto", "pwjoin", "wjoin", "pjoin", "shj"])
@pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")
def test_every_algorithm_gives_the_same_auctions(algorithm: str) -> None:
    opened, placed = pt.streams.auctions(500, seed=3)
    a = pt.stream(opened, name="A", key="item_id", time="opened_at", window="10 minutes", punctuations=pt.unique())
    b = pt.stream(placed, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed"))
    reference = pt.join(a, b).results.sort_by([("item_id", "ascending"), ("bid_at", "ascending")])
    again = pt.join(a, b, algorithm=algorithm).results.sort_by([("item_id", "ascending"), ("bid_at", "ascending")])
    assert again.equals(reference)
    assert 0 < len(again) < len(placed)
