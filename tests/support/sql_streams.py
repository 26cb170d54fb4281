"""Streams for queries: small, deterministic, and true to what they promise, so that nothing is rejected."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt

MINUTE = 60_000_000
HOUR = 60 * MINUTE
WORDS = ("lamp", "vase", "chair", "clock")


def tables() -> dict[str, pa.Table]:
    """Every stream's rows, by its name in queries."""
    return _auctions() | _orders() | _stores() | _cameras() | _quotes()


def streams() -> dict[str, pt.Stream]:
    """All of them, declared."""
    return {name: pt.stream(table, **DECLARED[name]) for name, table in tables().items()}


DECLARED: Mapping[str, dict[str, Any]] = {
    "Auction": {"key": "item_id", "time": "opened_at", "punctuations": pt.unique()},
    "Bid": {"key": "item_id", "time": "bid_at", "punctuations": pt.when("closed")},
    "Person": {"key": "id", "time": "joined_at", "punctuations": pt.unique()},
    "Ordered": {"key": "order_id", "time": "ordered_at", "punctuations": pt.unique(), "window": "2 hours"},
    "Payment": {"key": "order_id", "time": "paid_at", "punctuations": pt.unique(), "window": "2 hours"},
    "Store1": {"key": "ItemNum", "time": "sold_at"},
    "Store2": {"key": "ItemNum", "time": "sold_at"},
    "Store3": {"key": "ItemNum", "time": "sold_at"},
    "Camera1": {"key": "ObjID", "time": "seen_at"},
    "Camera2": {"key": "ObjID", "time": "seen_at"},
    "Camera3": {"key": "ObjID", "time": "seen_at"},
    "Buy": {"key": "symbol", "time": "quoted_at"},
    "Sell": {"key": "symbol", "time": "quoted_at"},
}


def _auctions() -> dict[str, pa.Table]:
    random = np.random.default_rng(16)
    n = 40
    opened = np.sort(random.integers(0, 48 * 60, n)) * MINUTE
    items, bid_at, closed = list[int](), list[int](), list[bool]()
    for item in range(n):
        times = np.sort(opened[item] + random.integers(0, 20 * 60, random.integers(0, 7)) * MINUTE)
        items += [item] * len(times)
        bid_at += times.tolist()
        closed += [i == len(times) - 1 and item % 3 > 0 for i in range(len(times))]
    order = np.argsort(bid_at, kind="stable")
    bids = pa.table(
        {
            "item_id": np.array(items)[order],
            "bidder": random.integers(0, 9, len(items)),
            "price": np.round(random.uniform(1, 100, len(items)), 2),
            "bid_at": np.array(bid_at)[order],
            "closed": np.array(closed)[order],
        }
    )
    auctions = pa.table(
        {
            "item_id": np.arange(n),
            "seller": random.integers(0, 9, n),
            "title": [WORDS[i % 4] for i in range(n)],
            "reserve": pa.array([None if i % 5 == 0 else float(i) for i in range(n)]),
            "opened_at": opened,
            "expires": opened + random.integers(1, 15 * 60, n) * MINUTE,
        }
    )
    people = pa.table({"id": np.arange(9), "name": [f"p{i}" for i in range(9)], "joined_at": np.arange(9) * MINUTE})
    return {"Auction": auctions, "Bid": bids, "Person": people}


def _orders() -> dict[str, pa.Table]:
    random = np.random.default_rng(17)
    n = 60
    at = np.sort(random.integers(0, 600, n)) * MINUTE
    paid = np.flatnonzero(random.random(n) < 0.6)
    paid_at = at[paid] + random.integers(0, 200, len(paid)) * MINUTE
    order = np.argsort(paid_at, kind="stable")
    kind = pa.timestamp("us")
    return {
        "Ordered": pa.table(
            {
                "order_id": np.arange(n),
                "customer": [f"c{i % 7}" for i in range(n)],
                "amount": random.integers(1, 500, n),
                "ordered_at": pa.array(at + 1_600_000_000_000_000).cast(kind),
            }
        ),
        "Payment": pa.table(
            {
                "order_id": paid[order],
                "method": [("card", "cash", None)[i % 3] for i in range(len(paid))],
                "paid": random.integers(1, 500, len(paid)),
                "paid_at": pa.array(paid_at[order] + 1_600_000_000_000_000).cast(kind),
            }
        ),
    }


def _stores() -> dict[str, pa.Table]:
    random = np.random.default_rng(18)
    made = {}
    for number in (1, 2, 3):
        items = random.integers(0, 12, 60)
        names = {"ItemNum": items, "ItemName": [f"item {i}" for i in items], "Price": random.integers(1, 9, 60)}
        made[f"Store{number}"] = pa.table(names | {"sold_at": np.sort(random.integers(0, 300, 60)) * MINUTE})
    return made


def _cameras() -> dict[str, pa.Table]:
    random = np.random.default_rng(19)
    made = {}
    for number in (1, 2, 3):
        times = np.sort(random.integers(0, 120, 50)) * MINUTE
        made[f"Camera{number}"] = pa.table({"ObjID": random.integers(0, 10, 50), "seen_at": times})
    return made


def _quotes() -> dict[str, pa.Table]:
    random = np.random.default_rng(20)
    made = {}
    for number, name in enumerate(("Buy", "Sell")):
        made[name] = pa.table(
            {
                "symbol": [("AA", "BB", "CC")[i] for i in random.integers(0, 3, 50)],
                "price": random.integers(80, 120, 50),
                "volume": random.integers(1, 10, 50),
                "quoted_at": np.sort(random.integers(0, 100, 50)) * MINUTE + number,
            }
        )
    return made
