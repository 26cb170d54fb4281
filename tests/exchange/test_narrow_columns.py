"""Columns of whole numbers come out of an exchange as they went in, in few bytes."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.arrow.whole_numbers import narrowed, widened
from punctuated.exchange.parcels import read_parcels, write_parcels
from punctuated.exchange.spread import split
from punctuated.model.batch import StreamBatch

N = 3_000  # enough rows to be narrowed
TYPES = [
    pa.int16(), pa.int32(), pa.int64(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.date32(), pa.date64(), pa.time32("ms"), pa.time64("us"),
    pa.duration("s"),
]  # fmt: skip


def numbers_of(dtype: pa.DataType, low: int, high: int, n: int = N) -> pa.Array:
    stored = np.random.default_rng(1).integers(low, high, n, endpoint=True).astype(f"int{dtype.bit_width}")
    return pa.Array.from_buffers(dtype, n, [None, pa.py_buffer(stored)])


def through(column: pa.ChunkedArray) -> pa.ChunkedArray:
    data = narrowed(column)
    assert data is not None
    return widened([(len(column), data)], column.type)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_number_comes_back(dtype: pa.DataType) -> None:
    largest = 2 ** (dtype.bit_width - 1) - 1
    for low, high in ((0, 0), (-5, 5), (-largest - 1, largest)):
        column = pa.chunked_array([numbers_of(dtype, low, high)])
        assert through(column).equals(column)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=40), st.integers(1_024, 1_400))
def test_whatever_the_span_of_a_block(values: list[int], n: int) -> None:
    column = pa.chunked_array([pa.array(np.resize(np.array(values, np.int64), n))])
    assert through(column).equals(column)


def test_times_and_amounts_take_few_bytes() -> None:
    times = np.cumsum(np.random.default_rng(1).integers(0, 20_000, N))  # a row every ten milliseconds
    data = narrowed(pa.chunked_array([pa.array(times)]))
    assert data is not None
    assert data.size < 3 * N


@pytest.mark.parametrize(
    "column",
    [[None, *range(N)], [0.5] * N, [True] * N, ["text"] * N, [[1]] * N, list(range(10))],
    ids=["nulls", "floats", "flags", "texts", "lists", "few"],
)
def test_other_columns_stay_as_they_are(column: list[Any]) -> None:
    assert narrowed(pa.chunked_array([pa.array(column)])) is None


def rows(n: int, first: int = 0, nulls: bool = False) -> pa.Table:
    numbers = np.arange(first, first + n)
    values = pa.array(numbers * 7, mask=numbers % 2 == 0 if nulls else None)
    at, names = pa.array(numbers).cast(pa.timestamp("us")), pa.array([f"n{i}" for i in numbers], pa.string())
    return pa.table({"k": numbers % 50, "at": at, "v": values, "last": numbers % 3 == 0, "name": names})


def test_parcels_of_all_kinds_become_one_batch() -> None:
    """Narrow columns in neighbouring parcels, columns that some parcels have narrow and others not, and none at all."""
    tables = [rows(N), rows(N, N), rows(10, 2 * N), rows(0), rows(N, 3 * N, nulls=True), rows(N, 4 * N)]
    written = [data for table in tables for data in write_parcels([StreamBatch(table)])]
    read = read_parcels(tables[0].schema, written).rows
    assert read.equals(pa.concat_tables(tables))
    assert read_parcels(tables[0].schema, written[:2]).rows["k"].num_chunks == 1


def test_a_parcel_is_read_wherever_it_lies_in_memory() -> None:
    (data,) = write_parcels([StreamBatch(rows(N))])
    shifted = pa.py_buffer(b"x" + data).slice(1)
    assert read_parcels(rows(N).schema, [shifted]).rows.equals(rows(N))


@pytest.mark.parametrize("n_buckets", [1, 2, 3, 64])
def test_rows_are_dealt_in_the_order_in_which_they_come(n_buckets: int) -> None:
    table = pa.concat_tables([rows(N), rows(10, N, nulls=True), rows(N, N + 10)])
    numbers = np.random.default_rng(1).integers(0, n_buckets, len(table))
    for bucket, ours in enumerate(split(table, numbers, n_buckets)):
        assert ours.equals(table.take(pa.array(np.flatnonzero(numbers == bucket))))
