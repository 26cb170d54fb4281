"""The sample rows of the PJoin slides (PJ-03), joined in stages."""

from datetime import datetime

import pyarrow as pa
import pytest

import punctuated as pt


def at(day: int, text: str) -> datetime:
    hours, minutes = map(int, text.split(":"))
    return datetime(2003, 11, day, hours, minutes)


OPEN = pa.table(
    {
        "item_id": [1080, 1080, 1082, 1082],
        "seller_id": ["jsmith", None, "melissa", None],
        "open_price": [130.0, None, 20.0, None],
        "timestamp": [at(10, "9:03"), at(10, "9:03"), at(10, "9:10"), at(10, "9:10")],
        "punctuation": [None, "<1080,*,*,*>", None, "<1082,*,*,*>"],
    }
)
BID = pa.table(
    {
        "item_id": [1080, 1082, 1080, 1080],
        "bidder_id": ["pclover", "smartguy", "richman", None],
        "bid_price": [175.0, 30.0, 177.0, None],
        "timestamp": [at(14, "8:27"), at(14, "8:30"), at(14, "8:52"), at(14, "8:52")],
        "punctuation": [None, None, None, "<1080,*,*,*>"],
    }
)


@pytest.mark.parametrize("memory", [1, 3, 100])
@pytest.mark.parametrize("propagation", ["own-state", "regular"])
def test_auctions_meet_their_bids(memory: int, propagation: str) -> None:
    said = pt.rows_with("punctuation")
    opened = pt.stream(OPEN, name="Open", key="item_id", time="timestamp", punctuations=said)
    bids = pt.stream(BID, name="Bid", key="item_id", time="timestamp", punctuations=said)
    policy = pt.Policy(purge="eager", propagate_every=1)
    joined = pt.join(opened, bids, algorithm="pjoin", memory=memory, policy=policy, propagation=propagation)
    found = joined.results.select(["item_id", "seller_id", "bidder_id", "bid_price"]).to_pylist()
    assert sorted(tuple(row.values()) for row in found) == [
        (1080, "jsmith", "pclover", 175.0),
        (1080, "jsmith", "richman", 177.0),
        (1082, "melissa", "smartguy", 30.0),
    ]
    # 1080 is over when Bid says so: its auction is purged. 1082 is over with the streams.
    assert joined.punctuations["item_id"].to_pylist() == [1080, 1082]
