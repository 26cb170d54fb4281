"""The auction streams: the paper's rows, and the large ones."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from punctuated.errors import StreamError
from punctuated.model.pattern import WILDCARD, Constant
from punctuated.model.pattern_text import parse_punctuation
from punctuated.streams import auction_sample, auctions

TIME = pa.timestamp("us", tz="UTC")


def test_schemas_and_sizes() -> None:
    auction, bid = auctions(500, seed=2)
    assert auction.schema == pa.schema(
        {"item_id": pa.int64(), "seller_id": pa.string(), "open_price": pa.float64(), "opened_at": TIME}.items()
    )
    assert bid.schema == pa.schema(
        {
            "item_id": pa.int64(),
            "bidder_id": pa.string(),
            "bid_price": pa.float64(),
            "bid_at": TIME,
            "closed": pa.bool_(),
        }.items()
    )
    assert (auction.num_rows, bid.num_rows) == (500, 4500)
    assert auctions(500, seed=2)[1].equals(bid)
    assert not auctions(500, seed=3)[1].equals(bid)


def test_bids_lie_in_the_life_of_their_auction_and_the_last_is_flagged() -> None:
    auction, bid = auctions(2000, seed=5)
    opened = auction["opened_at"].cast(pa.int64()).to_numpy()
    item, at = bid["item_id"].to_numpy(), bid["bid_at"].cast(pa.int64()).to_numpy()
    assert np.all(np.diff(opened) >= 0)
    assert np.all(np.diff(at) >= 0)
    assert opened[0] >= 0
    assert opened[-1] <= 200_000_000
    assert np.all(at >= opened[item])
    assert np.all(at - opened[item] <= 3_600_000_000)
    last = {key: row for row, key in enumerate(item.tolist())}
    assert np.flatnonzero(bid["closed"].to_numpy()).tolist() == sorted(last.values())
    assert pc.all(pc.greater_equal(bid["bid_price"], pa.array(auction["open_price"].to_numpy()[item]))).as_py()


def test_popularity_is_skewed() -> None:
    counts = np.bincount(auctions(5000, seed=1)[1]["item_id"].to_numpy(), minlength=5000)
    assert counts.max() > 50 * np.median(counts[counts > 0])
    assert (counts == 0).any()


def test_size_and_start_can_be_chosen() -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    auction, bid = auctions(100, bids=7, rate=1.0, start=start)
    assert bid.num_rows == 7
    assert all(0 <= (at - start).total_seconds() <= 100 for at in auction["opened_at"].to_pylist())
    assert [table.num_rows for table in auctions(0)] == [0, 0]


@pytest.mark.parametrize("arguments", [{"n": -1}, {"n": 0, "bids": 3}, {"n": 3, "bids": -1}, {"n": 3, "rate": 0.0}])
def test_errors(arguments: dict[str, int]) -> None:
    with pytest.raises(StreamError):
        auctions(**arguments)


def test_sample_is_as_printed() -> None:
    auction, bid = auction_sample()
    assert [tuple(row.values()) for row in auction.to_pylist()] == [
        (180, "jsmith", 130.0, datetime(2003, 11, 10, 9, 3, tzinfo=UTC)),
        (182, "melissa", 20.0, datetime(2003, 11, 10, 9, 10, tzinfo=UTC)),
    ]
    assert auction.column_names == ["item_id", "seller_id", "open_price", "timestamp"]
    assert [tuple(row.values()) for row in bid.to_pylist()] == [
        (180, "pclover", 175.0, datetime(2003, 11, 14, 8, 27, tzinfo=UTC), None),
        (182, "smartguy", 30.0, datetime(2003, 11, 14, 8, 30, tzinfo=UTC), None),
        (180, "richman", 177.0, datetime(2003, 11, 14, 8, 57, tzinfo=UTC), None),
        (None, None, None, datetime(2003, 11, 14, 8, 57, tzinfo=UTC), "<180,*,*,*>"),
    ]
    patterns = parse_punctuation(bid["pattern"][3].as_py(), bid.schema.types[:4])
    assert patterns == (Constant(180), WILDCARD, WILDCARD, WILDCARD)
