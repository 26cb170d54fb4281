"""A join spread over buckets equals the oracle for the whole."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import add_up, is_spreadable, new_driver, observe
from punctuated.exchange.parcels import read_parcels, write_parcels
from punctuated.exchange.spread import bucket_numbers, spread
from punctuated.model.batch import BucketPlace, Row
from punctuated.model.pattern import Constant, OneOf
from punctuated.model.spec import JoinSpec, OnViolation, Side, StreamSpec
from punctuated.testing.checks import Observed, check_equals_oracle, check_equals_oracle_whenever_it_purges
from punctuated.testing.strategies import Batch, Case, Object, cases, key_patterns
from punctuated.testing.tables import as_batch, stream_schema

Schemas = tuple[pa.Schema, pa.Schema]


def run_in_buckets(
    spec: JoinSpec, batches: Sequence[Batch], n_buckets: int, schemas: Schemas | None = None, n_parts: int = 1
) -> list[Observed]:
    """With `n_parts`, each batch of a stream is dealt to so many parts that are spread apart."""
    schemas = schemas or (stream_schema(spec.left), stream_schema(spec.right))
    places = [BucketPlace(bucket, n_buckets) for bucket in range(n_buckets)]
    drivers = [new_driver(spec, place=place, schemas=schemas) for place in places]
    seen = []
    for batch in batches:
        parcels = [_parcels(spec.streams[side], batch[side], schemas[side], n_buckets, n_parts) for side in Side]
        shares = [[read_parcels(schemas[side], parcels[side][bucket]) for side in Side] for bucket in range(n_buckets)]
        seen.append(add_up([observe(d, d.process(*share)) for d, share in zip(drivers, shares, strict=True)]))
    return [*seen, add_up([observe(driver, driver.end()) for driver in drivers])]


def _parcels(
    stream: StreamSpec, objects: Sequence[Object], schema: pa.Schema, n_buckets: int, n_parts: int
) -> list[list[bytes]]:
    """What comes to each bucket, one parcel from each part."""
    types = [schema.field(name).type for name in stream.key]
    parts = [as_batch(stream, objects[start::n_parts], schema) for start in range(n_parts)]
    written = [list(write_parcels(spread(stream, part, types, n_buckets))) for part in parts]
    return [[parcels[bucket] for parcels in written] for bucket in range(n_buckets)]


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


def clustered(case: Case) -> Case:
    left, right = (replace(stream, clustered=True, punctuated=True) for stream in case.spec.streams)
    return replace(case, spec=replace(case.spec, streams=(left, right)))


@given(cases().filter(is_spreadable).map(clustered), st.integers(1, 4), st.integers(1, 3))
def test_clusters_end_alike_however_a_batch_is_dealt(case: Case, n_buckets: int, n_parts: int) -> None:
    check_equals_oracle(
        lambda spec, batches: run_in_buckets(spec, batches, n_buckets, n_parts=n_parts), case.spec, case.batches
    )


def as_text(each: Object) -> Object:
    """The same with a key that is text."""
    if isinstance(each, Row):
        return Row((None if each.values[0] is None else str(each.values[0]), *each.values[1:]))
    key = each.patterns[0]
    if isinstance(key, Constant):
        key = Constant(str(key.value))
    elif isinstance(key, OneOf):
        key = OneOf(tuple(map(str, key.values)))
    return replace(each, patterns=(key, *each.patterns[1:]))


@given(cases(with_ranges=False).filter(is_spreadable).map(clustered), st.integers(1, 4), st.integers(1, 3))
def test_clusters_of_text_end_as_those_of_numbers(case: Case, n_buckets: int, n_parts: int) -> None:
    text = pa.field("k", pa.string())
    left, right = (stream_schema(stream).set(0, text) for stream in case.spec.streams)
    batches: list[Batch] = [([as_text(a) for a in one], [as_text(b) for b in two]) for one, two in case.batches]
    check_equals_oracle(
        lambda spec, given: run_in_buckets(spec, given, n_buckets, (left, right), n_parts), case.spec, batches
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
