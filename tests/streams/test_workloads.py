"""The benchmark workloads at a small size."""

import numpy as np
import pyarrow as pa

import punctuated.streams
from punctuated.streams import w1, w2, w3


def pairs_within(left: pa.Table, right: pa.Table, span_us: int) -> int:
    """The number of pairs with equal keys at most `span_us` apart."""
    codes = [table["key"].to_numpy() * 2**44 + table["ts"].cast(pa.int64()).to_numpy() for table in (left, right)]
    ours, other = np.sort(codes[0]), codes[1]
    return int(np.sum(np.searchsorted(ours, other + span_us, "right") - np.searchsorted(ours, other - span_us, "left")))


def test_w1_is_output_heavy() -> None:
    left, right = w1(100_000)
    assert 20 < pairs_within(left, right, 15_000_000) / 100_000 < 70
    assert 900 < left["last"].to_numpy().sum() < 1100


def test_w2_has_uniform_keys_and_no_punctuations() -> None:
    left, right = w2(50_000)
    keys = np.concatenate([left["key"].to_numpy(), right["key"].to_numpy()])
    assert keys.min() < 100
    assert 359_900 < keys.max() < 360_000
    assert not left["last"].to_numpy().any()
    assert not right["last"].to_numpy().any()


def test_w3_has_auctions_and_bids() -> None:
    auction, bid = w3(1000)
    assert (auction.num_rows, bid.num_rows) == (1000, 9000)


def test_streams_of_a_pair_and_of_other_seeds_differ() -> None:
    tables = [*w1(1000, seed=1), *w1(1000, seed=2)]
    assert len({table["ts"][0].as_py() for table in tables}) == 4


def test_exported_names() -> None:
    assert punctuated.streams.__all__ == [
        "Nexmark",
        "auction_sample",
        "auctions",
        "generate",
        "nexmark",
        "stores",
        "w1",
        "w2",
        "w3",
    ]
