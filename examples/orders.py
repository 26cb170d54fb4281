"""Orders and payments: which orders are never paid? An anti join, whose rows come out as soon as that is proved.

python examples/orders.py

An order may be paid for 14 days. A join that knows no more must wait that long for each. But the bank also says when it
has given up on an order: then no payment can come any more, and the order is known to be unpaid at that moment.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import punctuated as pt

TO_PAY = timedelta(days=14)
SHORT = "%d %b %H:%M"
SHOWN = 6


class Shop(NamedTuple):
    """Two streams, and what the bank says."""

    orders: pa.Table  # order, placed_at
    payments: pa.Table  # order, paid_at
    given_up: pa.Table  # order, at: no payment of this order will come


def generate(n: int = 2000, seed: int = 1) -> Shop:
    """Sixty days of orders: nine of ten are paid, the bank gives up on most of the others."""
    random = np.random.default_rng(seed)
    placed = np.sort(random.uniform(0, 60, n))
    later = placed + np.minimum(random.exponential(2, n), 13)
    fate = random.choice(["paid", "given up", "forgotten"], n, p=[0.9, 0.07, 0.03])
    in_time = np.argsort(later)
    paid, given_up = (in_time[fate[in_time] == each] for each in ("paid", "given up"))
    return Shop(
        orders=pa.table({"order": np.arange(n), "placed_at": times(placed)}),
        payments=pa.table({"order": paid, "paid_at": times(later[paid])}),
        given_up=pa.table({"order": given_up, "at": times(later[given_up])}),
    )


def times(days: npt.NDArray[np.float64]) -> pa.Array:
    """Days since the first of January as times, to the second."""
    return pa.array(np.datetime64("2026-01-01", "s") + (days * 86_400).astype(int)).cast(pa.timestamp("us", "UTC"))


def query(shop: Shop) -> pt.Join:
    """The orders without a payment."""
    orders = pt.stream(
        shop.orders,
        name="orders",
        key="order",
        time="placed_at",
        window=TO_PAY,
        punctuations=pt.unique(),  # every order comes once: no payment waits for another
    )
    payments = pt.stream(
        shop.payments,
        name="payments",
        key="order",
        time="paid_at",
        punctuations=pt.endings(shop.given_up, key="order", time="at"),
    )
    joined: pt.Join = pt.join(orders, payments, how="anti")
    return joined


class Unpaid(NamedTuple):
    """A row of the answer: `proved` is when it came out, and `by` what proved it."""

    order: int
    placed: datetime
    proved: datetime
    by: str


def unpaid(shop: Shop, joined: pt.Join) -> Iterator[Unpaid]:
    """The results with the moment at which each was proved, which is their time in `joined.all`."""
    given_up = dict(zip(shop.given_up["order"].to_pylist(), shop.given_up["at"].to_pylist(), strict=True))
    for row in joined.all.filter(pc.field("_kind") == "result").to_pylist():
        order, placed, proved = row["order"], row["placed_at"], row["_ts"]
        over = "14 days were over" if proved == placed + TO_PAY else "the streams ended"
        yield Unpaid(order, placed, proved, "the bank gave up" if given_up.get(order) == proved else over)


def answer(shop: Shop, joined: pt.Join) -> list[str]:
    """What was asked for, line by line."""
    found = list(unpaid(shop, joined))
    most: dict[str, Any] = {side: pc.max(joined.metrics[f"state_{side}"]).as_py() for side in ("left", "right")}
    return [
        f"{shop.orders.num_rows:,} orders, {shop.payments.num_rows:,} payments; {len(found)} orders are unpaid.",
        "",
        "  order  placed         known            because",
        *(f"  {each.order:>5}  {each.placed:{SHORT}}   {each.proved:{SHORT}}     {each.by}" for each in found[:SHOWN]),
        "",
        *(f"  {n:>5}  known because {why}" for why, n in Counter(row.by for row in found).most_common()),
        "",
        f"At most {most['left']} orders were remembered at a time, and {most['right']} payments.",
    ]


def main() -> None:
    """Print the answer."""
    shop = generate()
    print("\n".join(answer(shop, query(shop))))


if __name__ == "__main__":
    main()
