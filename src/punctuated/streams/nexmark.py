"""Persons, auctions and bids as in NEXMark: auctions know when they expire, and their sellers have registered before.

Of fifty events, one is a person, three are auctions, and the others are bids, in the order of time. Most sellers have
registered recently. Most bids go to auctions that have just opened, and a few come after the expiry.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import StreamError
from punctuated.model.arguments import whole_number
from punctuated.streams.arrival import LARGEST_SIZE
from punctuated.streams.generator import TIMESTAMP

CATEGORIES = 5
_PERSONS, _AUCTIONS, _OF = 1, 3, 50  # of fifty events
_EVENT_US = 100  # 10,000 events a second
_RECENT_PERSONS, _RECENT_AUCTIONS = 20, 40  # mean distance of the chosen one from the newest
_OPEN_US = 400_000  # mean

Ints = npt.NDArray[np.int64]


class Nexmark(NamedTuple):
    """The three streams of NEXMark, as tables in the order of time."""

    persons: pa.Table
    auctions: pa.Table
    bids: pa.Table


def nexmark(n: int, seed: int = 0) -> Nexmark:
    """`n` events of NEXMark, as three tables in the order of time; the same arguments give the same tables.

    >>> {name: table.num_rows for name, table in nexmark(1000)._asdict().items()}
    {'persons': 20, 'auctions': 60, 'bids': 920}
    """
    whole_number(n, "n", StreamError, least=_OF, most=LARGEST_SIZE)
    rng = np.random.default_rng(whole_number(seed, "seed", StreamError, least=0, most=2**64))
    number = np.arange(n)
    ts = number * _EVENT_US + rng.integers(0, _EVENT_US, n)
    kind = number % _OF
    is_person, is_auction = kind < _PERSONS, (kind >= _PERSONS) & (kind < _PERSONS + _AUCTIONS)
    n_persons, n_auctions = (np.cumsum(each, dtype=np.int64) for each in (is_person, is_auction))
    opened, bid = np.flatnonzero(is_auction), np.flatnonzero(~is_person & (n_auctions > 0) & ~is_auction)
    return Nexmark(
        persons=_persons(ts[is_person]),
        auctions=_auctions(ts[opened], _recent(n_persons[opened], _RECENT_PERSONS, rng), rng),
        bids=_bids(ts[bid], _recent(n_auctions[bid], _RECENT_AUCTIONS, rng), int(n_persons[-1]), rng),
    )


def _recent(known: Ints, distance: int, rng: np.random.Generator) -> Ints:
    """An index for each event, below the number of things known at that time; recent things are most likely."""
    return np.maximum(known - 1 - rng.exponential(distance, known.size).astype(np.int64), 0)


def _persons(ts: Ints) -> pa.Table:
    ids = pa.array(np.arange(ts.size))
    names = pc.binary_join_element_wise("person ", ids.cast(pa.string()), "")
    return pa.table({"id": ids, "name": names, "registered": pa.array(ts).cast(TIMESTAMP)})


def _auctions(ts: Ints, seller: Ints, rng: np.random.Generator) -> pa.Table:
    expires = ts + rng.exponential(_OPEN_US, ts.size).astype(np.int64)
    return pa.table(
        {
            "id": np.arange(ts.size),
            "seller": seller,
            "category": rng.integers(0, CATEGORIES, ts.size),
            "opened": pa.array(ts).cast(TIMESTAMP),
            "expires": pa.array(expires).cast(TIMESTAMP),
        }
    )


def _bids(ts: Ints, auction: Ints, n_persons: int, rng: np.random.Generator) -> pa.Table:
    return pa.table(
        {
            "auction": auction,
            "bidder": rng.integers(0, n_persons, ts.size),
            "price": (100 * rng.lognormal(3, 1, ts.size)).astype(np.int64),
            "at": pa.array(ts).cast(TIMESTAMP),
        }
    )
