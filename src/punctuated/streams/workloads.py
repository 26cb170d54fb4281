"""The workloads for measuring performance: the same rows for every engine, from a seed."""

import pyarrow as pa

from punctuated.streams.auction import auctions
from punctuated.streams.generator import generate


def w1(n: int = 2_000_000, seed: int = 1) -> tuple[pa.Table, pa.Table]:
    """Output-heavy: two streams `punct-asc-100-40`; join with windows of 15 s.

    >>> [table.num_rows for table in w1(1000)]
    [1000, 1000]
    """
    return _pair("punct-asc-100-40", n, seed)


def w2(n: int = 2_000_000, seed: int = 1, keys: int = 360_000) -> tuple[pa.Table, pa.Table]:
    """State-heavy: two streams of uniform keys without punctuations; join with windows of 1 h.

    >>> [table.num_rows for table in w2(1000)]
    [1000, 1000]
    """
    return _pair(f"uniform-{keys}", n, seed)


def w3(n: int = 200_000, seed: int = 1) -> tuple[pa.Table, pa.Table]:
    """Auctions and bids, the last bid flagged; join with a window of 1 h on the auctions, then count per auction.

    >>> [table.num_rows for table in w3(100)]
    [100, 900]
    """
    return auctions(n, seed)


def _pair(name: str, n: int, seed: int) -> tuple[pa.Table, pa.Table]:
    return generate(name, n, seed=2 * seed), generate(name, n, seed=2 * seed + 1)
