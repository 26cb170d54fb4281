"""Draw the plan of the auction query into a file: `python scripts/draw_plan.py docs/pictures/plan.svg`.

Costs are those of the reference machine, so that the picture is the same wherever it is drawn.
"""

import sys
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

import punctuated as pt
from punctuated.plan.cost.weights import REFERENCE_WEIGHTS


def auction_counts() -> pa.Table:
    """Groups over a join."""
    auction_table, bid_table = pt.streams.auctions(500, seed=1)
    auctions = pt.stream(
        auction_table, name="A", key="item_id", time="opened_at", window="12 hours", punctuations=pt.unique()
    )
    bids = pt.stream(bid_table, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed"))
    return pt.join(auctions, bids).group_by("item_id").agg(n=pt.count(), best=pt.max("bid_price"))


def draw() -> str:
    """The picture."""
    counts = auction_counts()
    with patch("punctuated.plan.optimizer.machine_weights", return_value=REFERENCE_WEIGHTS):
        return pt.explain(counts, format="svg")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(), encoding="utf-8")
