"""A join spread over buckets equals the oracle for the whole."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import new_driver, observe
from punctuated.join.exchange.parcels import read_parcels, write_parcels
from punctuated.join.exchange.spread import bucket_numbers, spread
from punctuated.model.batch import StreamBatch
from punctuated.model.bucket import BucketPlace
from punctuated.model.side import Side
from punctuated.model.spec import JoinSpec, OnViolation
from punctuated.model.window import CountWindow
from punctuated.testing.checks import COUNTED, Observed, check_equals_oracle, check_equals_oracle_whenever_it_purges
from punctuated.testing.strategies import Batch, Case, cases, key_patterns
from punctuated.testing.tables import as_batch, stream_schema


def run_in_buckets(spec: JoinSpec, batches: Sequence[Batch], n_buckets: int) -> list[Observed]:
    drivers = [new_driver(spec, place=BucketPlace(bucket, n_buckets)) for bucket in range(n_buckets)]
    seen = []
    for batch in batches:
        shares = [spread(spec.streams[s], as_batch(spec.streams[s], batch[s]), [pa.int64()], n_buckets) for s in Side]
        seen.append(_sum([observe(d, d.process(*_share(spec, shares, i))) for i, d in enumerate(drivers)]))
    return [*seen, _sum([observe(driver, driver.end()) for driver in drivers])]


def _share(spec: JoinSpec, shares: list[list[StreamBatch]], bucket: int) -> tuple[StreamBatch, StreamBatch]:
    """A bucket's share of both streams, through bytes and back."""
    left, right = (read_parcels(stream_schema(spec.streams[s]), [write_parcels(shares[s])[bucket]]) for s in Side)
    return left, right


def _sum(parts: list[Observed]) -> Observed:
    total = Observed()
    for part in parts:
        for name in ("results", "unmatched", "punctuations", "rejected", *COUNTED):
            setattr(total, name, getattr(total, name) + getattr(part, name))
        total.stored = total.stored[0] + part.stored[0], total.stored[1] + part.stored[1]
    return total


def is_spreadable(case: Case) -> bool:
    """A window over the last tuples of a whole stream needs one bucket, and so does a count of endings to be exact."""
    windows = [stream.window for stream in case.spec.streams]
    whole = any(isinstance(window, CountWindow) and not window.per_key for window in windows)
    return not whole and case.spec.purge_threshold == 1


@given(cases(announced=key_patterns()).filter(is_spreadable), st.integers(1, 5))
def test_buckets_together_equal_the_oracle(case: Case, n_buckets: int) -> None:
    check_equals_oracle(lambda spec, batches: run_in_buckets(spec, batches, n_buckets), case.spec, case.batches)


@given(cases(policies=[OnViolation.REJECT]).filter(is_spreadable), st.integers(2, 4), st.integers(1, 5))
def test_buckets_that_purge_lazily_equal_the_oracle(case: Case, threshold: int, n_buckets: int) -> None:
    """Each bucket counts the endings of its own values."""
    check_equals_oracle_whenever_it_purges(
        lambda spec, batches: run_in_buckets(spec, batches, n_buckets),
        replace(case.spec, purge_threshold=threshold),
        case.batches,
    )


@pytest.mark.parametrize(
    "column",
    [
        pa.array(range(100_000), pa.int64()),
        pa.array(np.arange(100_000) * 1024, pa.int64()),
        pa.array([f"key {i}" for i in range(20_000)]),
        pa.array(np.arange(50_000) / 8),
    ],
)
@pytest.mark.parametrize("n_buckets", [2, 4, 7, 64])
def test_keys_spread_evenly(column: pa.Array, n_buckets: int) -> None:
    counts = np.bincount(bucket_numbers([pa.chunked_array([column])], n_buckets), minlength=n_buckets)
    assert counts.min() > 0.8 * len(column) / n_buckets
    assert counts.max() < 1.2 * len(column) / n_buckets
