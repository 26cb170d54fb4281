"""The auction streams of the running example (PW-37 … PW-39): as printed in the paper, and in any size.

Every auction opens once, so its stream can be declared unique; a bid says whether it is the last of its auction.
"""

import math
from datetime import UTC, datetime
from numbers import Real

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from punctuated.errors import StreamError
from punctuated.model.arguments import whole_number
from punctuated.streams.arrival import LARGEST_SIZE
from punctuated.streams.generator import TIMESTAMP, start_us

BIDS_PER_AUCTION = 9
_SECOND_US = 1_000_000
_SLOWEST = 1e-3  # auctions per second, so that times fit
_SHORTEST_S, _MEAN_EXTRA_S, _LONGEST_S = 10, 300, 3600  # an auction is open for min(10 + Exp(300), 3600) s
_ZIPF, _MOST_POPULAR = 1.6, 2000  # popularity of an auction


def auctions(
    n: int, seed: int = 0, bids: int | None = None, rate: float = 10.0, start: int | datetime = 0
) -> tuple[pa.Table, pa.Table]:
    """Auctions and the bids on them, each in the order of time.

    Popularity follows a cut Zipf law: a few auctions get hundreds of bids, many get none (and so are never closed).

    Args:
        n: number of auctions; they open uniformly over `n / rate` seconds.
        seed: the same arguments give the same tables.
        bids: number of bids, by default nine per auction; times are uniform in the life of the auction.
        rate: auctions opened per second.
        start: start of the streams, in microseconds since the epoch or as a `datetime` (UTC if it has no zone).

    >>> opened, offered = auctions(100)
    >>> opened.num_rows, offered.num_rows, offered.column_names
    (100, 900, ['item_id', 'bidder_id', 'bid_price', 'bid_at', 'closed'])
    """
    whole_number(n, "n", StreamError, least=0, most=LARGEST_SIZE)
    n_bids = (
        n * BIDS_PER_AUCTION if bids is None else whole_number(bids, "bids", StreamError, least=0, most=LARGEST_SIZE)
    )
    if n == 0 and n_bids > 0:
        raise StreamError(f"n={n}, bids={bids}: there are no bids without an auction")
    if not isinstance(rate, Real) or not _SLOWEST <= rate < math.inf:
        raise StreamError(f"rate={rate!r}: give a number of auctions per second, {_SLOWEST} or more")
    whole_number(seed, "seed", StreamError, least=0, most=2**64)
    rng = np.random.default_rng(seed)
    opened_at = start_us(start) + np.sort(rng.uniform(0, n / rate * _SECOND_US, n).astype(np.int64))
    open_price = np.round(rng.lognormal(3.5, 1.0, n) + 1, 2)
    auction = pa.table(
        {
            "item_id": np.arange(n),
            "seller_id": _names("seller", n // 20 + 1, n, rng),
            "open_price": open_price,
            "opened_at": pa.array(opened_at).cast(TIMESTAMP),
        }
    )
    return auction, _bids(opened_at, open_price, n_bids, rng)


def _bids(
    opened_at: NDArray[np.int64], open_price: NDArray[np.float64], n_bids: int, rng: np.random.Generator
) -> pa.Table:
    n = len(opened_at)
    open_s = np.minimum(_SHORTEST_S + rng.exponential(_MEAN_EXTRA_S, n), _LONGEST_S)
    weight = np.minimum(rng.zipf(_ZIPF, n), _MOST_POPULAR).astype(np.float64)
    item = np.repeat(np.arange(n), rng.multinomial(n_bids, weight / weight.sum())) if n else np.arange(0)
    elapsed = rng.random(n_bids)
    bid_at = opened_at[item] + (elapsed * open_s[item] * _SECOND_US).astype(np.int64)
    by_time = np.argsort(bid_at, kind="stable")
    item, elapsed, bid_at = item[by_time], elapsed[by_time], bid_at[by_time]
    return pa.table(
        {
            "item_id": item,
            "bidder_id": _names("bidder", n // 4 + 1, n_bids, rng),
            "bid_price": np.round(open_price[item] * (1 + elapsed), 2),
            "bid_at": pa.array(bid_at).cast(TIMESTAMP),
            "closed": _last_of_each(item, n),
        }
    )


def _last_of_each(item: NDArray[np.int64], n: int) -> NDArray[np.bool_]:
    position = np.full(n, -1)
    np.maximum.at(position, item, np.arange(len(item)))
    last = np.zeros(len(item), dtype=np.bool_)
    last[position[position >= 0]] = True
    return last


def _names(prefix: str, pool: int, n: int, rng: np.random.Generator) -> pa.Array:
    names = pc.binary_join_element_wise(prefix, pa.array(np.arange(pool)).cast(pa.string()), "")
    return names.take(pa.array(rng.integers(0, pool, n)))


def auction_sample() -> tuple[pa.Table, pa.Table]:
    """The rows printed in the PWJoin paper (PW-38); the bids on item 180 end with a punctuation.

    >>> _, bid = auction_sample()
    >>> bid["item_id"].to_pylist(), bid["pattern"].to_pylist()
    ([180, 182, 180, None], [None, None, None, '<180,*,*,*>'])
    """
    opened = [datetime(2003, 11, 10, 9, minute, tzinfo=UTC) for minute in (3, 10)]
    auction = pa.table(
        {
            "item_id": pa.array([180, 182], pa.int64()),
            "seller_id": ["jsmith", "melissa"],
            "open_price": [130.0, 20.0],
            "timestamp": pa.array(opened, TIMESTAMP),
        }
    )
    offered = [datetime(2003, 11, 14, 8, minute, tzinfo=UTC) for minute in (27, 30, 57, 57)]
    bid = pa.table(
        {
            "item_id": pa.array([180, 182, 180, None], pa.int64()),
            "bidder_id": ["pclover", "smartguy", "richman", None],
            "bid_price": [175.0, 30.0, 177.0, None],
            "timestamp": pa.array(offered, TIMESTAMP),
            "pattern": pa.array([None, None, None, "<180,*,*,*>"], pa.string()),
        }
    )
    return auction, bid
