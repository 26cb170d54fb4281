"""Queries over small tables, whose plans are looked at."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

import punctuated as pt

SECOND, HOUR = 1_000_000, 3_600_000_000
LONG_KEY, LONG_FLAG = (
    "identifier_of_the_order_in_the_system_of_the_shop",
    "is_last_row_of_<this>_order_&_nothing_follows",
)
TIMES = pa.table({"k": [1, 2, 3], "ts": [0, 5 * SECOND, 9 * SECOND]})
NUMBERS = pa.table({"p": [1, 2, 3, 4], "ts": [0, 1 * SECOND, 2 * SECOND, 3 * SECOND]})


def auctions_and_bids() -> Any:
    """The auction query of the README."""
    opened = pa.table({"item_id": [180, 182], "opened_at": [9 * HOUR, 10 * HOUR]})
    bids = pa.table(
        {
            "item_id": [180, 182, 180, 182],
            "price": [175.0, 30.0, 177.0, 31.0],
            "bid_at": [11 * HOUR, 12 * HOUR, 13 * HOUR, 40 * HOUR],
            "closed": [False, False, True, False],
        }
    )
    a = pt.stream(opened, name="A", key="item_id", time="opened_at", window="12 hours", punctuations=pt.unique())
    return pt.join(a, pt.stream(bids, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed")))


def auction_groups() -> Any:
    return auctions_and_bids().group_by("item_id").agg(n=pt.count(), best=pt.max("price"))


def shipped(**options: Any) -> Any:
    table = pa.table({"item_id": [180, 182], "shipped_at": [14 * HOUR, 41 * HOUR]})
    return pt.stream(table, name="S", key="item_id", time="shipped_at", window="1 day", **options)


def chain() -> Any:
    return pt.join(pt.stream(auctions_and_bids(), name="sold", window="2 days"), shipped(punctuations=pt.unique()))


def chain_of_groups() -> Any:
    return pt.join(pt.stream(auction_groups(), name="G", window="2 days"), shipped(), how="anti")


def five_streams() -> Any:
    streams = [plain(name, punctuations=pt.unique() if name in "AC" else None) for name in "ABCDE"]
    return pt.join(*streams, within="10 min")


def path_and_back() -> Any:
    steps = ["5 seconds", "90 seconds"]
    return pt.path(plain("A"), plain("B"), plain("C"), within=steps, both_directions=True, algorithm="mw")


def long_names() -> Any:
    orders = pa.table({LONG_KEY: [1], "ts": [0], "total": [5], LONG_FLAG: [True]})
    left = pt.stream(
        orders, name="orders & more", key=LONG_KEY, time="ts", window="30 days", punctuations=pt.when(LONG_FLAG)
    )
    payments = pa.table({"reference": [1], "ts": [1], "amount": [5]})
    right = pt.stream(payments, name="<paid>", key="reference", time="ts", window="1 day", lateness="90 s")
    return pt.join(left, right, how="left", where=pt.left("total") <= pt.right("amount"))


def band() -> Any:
    a, b = (pt.stream(NUMBERS, name=name, time="ts", window="2 seconds") for name in "AB")
    return pt.join(a, b, where=pt.band("p", -1, +1))


def in_stages() -> Any:
    ended = plain("B", punctuations=pt.endings(TIMES, key="k", time="ts") | pt.clustered())
    return pt.join(plain("A", punctuations=pt.clustered()), ended, algorithm="pjoin", memory=10)


def many_limits() -> Any:
    a = plain("A", window="5 s", max_ahead="1 hour", on_violation="accept", order="k")
    return pt.join(a, plain("B", window=pt.rows(3, per="key")), threads=2, memory="1 MiB", algorithm="wjoin")


def plain(name: str, **options: Any) -> Any:
    return pt.stream(TIMES, name=name, key="k", time="ts", **options)


CASES: dict[str, Callable[[], Any]] = {
    case.__name__: case
    for case in (
        auctions_and_bids,
        auction_groups,
        chain,
        chain_of_groups,
        five_streams,
        path_and_back,
        long_names,
        band,
        in_stages,
        many_limits,
    )
}
