"""Sales of stores, one stream per store: a replacement for the transactions in the W-join report (WJ-34).

The data of the report is not public. This follows its description: about 5,000 transactions an hour in all stores, open
from 7:30 to 20:00, with an item number as the key. Sales rise until noon and fall again. Some items are sold more often
than others, by Zipf's law.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from punctuated.errors import StreamError
from punctuated.model.arguments import whole_number
from punctuated.streams.arrival import LARGEST_SIZE
from punctuated.streams.generator import TIMESTAMP

OPENS_H, CLOSES_H = 7.5, 20.0
RATE = 5000  # transactions an hour while stores are open, on average
_HOUR_US = 3_600_000_000
_ZIPF = 0.5  # the most popular of 10,000 items is one in two hundred transactions


def stores(n: int, n_stores: int = 2, seed: int = 0, items: int = 10_000) -> tuple[pa.Table, ...]:
    """Transactions of stores, a table for each, in the order of time.

    Args:
        n: number of transactions of all stores together, over as many days as it takes.
        n_stores: number of stores, all of the same size.
        seed: the same arguments give the same tables.
        items: number of items, the same in all stores.

    >>> one, other = stores(1000)
    >>> one.num_rows + other.num_rows, one.column_names
    (1000, ['item', 'quantity', 'unit_price', 'sold_at'])
    """
    whole_number(n, "n", StreamError, least=0, most=LARGEST_SIZE)
    whole_number(n_stores, "n_stores", StreamError, least=1, most=LARGEST_SIZE)
    whole_number(seed, "seed", StreamError, least=0, most=2**64)
    whole_number(items, "items", StreamError, least=1, most=LARGEST_SIZE)
    rng = np.random.default_rng(seed)
    prices = np.round(rng.lognormal(2.0, 1.0, items) + 0.5, 2)
    sold_at, item = _times(n, rng), _items(n, items, rng)
    quantity, store = 1 + rng.poisson(0.5, n), rng.integers(0, n_stores, n)
    everything = pa.table(
        {
            "item": item,
            "quantity": quantity,
            "unit_price": prices[item],
            "sold_at": pa.array(sold_at).cast(TIMESTAMP),
        }
    )
    return tuple(everything.filter(pa.array(store == each)) for each in range(n_stores))


def _times(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Times of sales in microseconds since the midnight of the first day; the last day ends when there are enough."""
    per_day = round(RATE * (CLOSES_H - OPENS_H))
    n_days = -(-n // per_day)
    hour = OPENS_H + (CLOSES_H - OPENS_H) * rng.beta(2, 2, (n_days, per_day))
    since = 24 * np.arange(n_days)[:, np.newaxis] + np.sort(hour, axis=1)
    return (since.ravel()[:n] * _HOUR_US).astype(np.int64)


def _items(n: int, items: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The items sold; the number of an item does not depend on its popularity."""
    share = 1 / np.arange(1, items + 1) ** _ZIPF
    return rng.choice(rng.permutation(items), n, p=share / share.sum())
