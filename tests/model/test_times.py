"""Event times are exact, or their rows are told apart."""

from typing import Any

import pyarrow as pa
import pytest

from punctuated.errors import ColumnError
from punctuated.model.times import LARGEST_TIME, are_times_alike, output_time_type, read_times, to_microseconds


def column(values: list[Any], dtype: pa.DataType) -> pa.ChunkedArray:
    integers = pa.array(values, pa.uint64() if dtype == pa.uint64() else pa.int64())
    return pa.chunked_array([integers.cast(dtype)])


@pytest.mark.parametrize(
    ("dtype", "value", "us"),
    [
        (pa.timestamp("s"), -(2**60) // 1_000_000 + 1, (-(2**60) // 1_000_000 + 1) * 1_000_000),
        (pa.timestamp("ms", "UTC"), 1_700_000_000_123, 1_700_000_000_123_000),
        (pa.timestamp("us"), -LARGEST_TIME, -LARGEST_TIME),
        (pa.timestamp("ns"), -7_000, -7),
        (pa.timestamp("ns"), 2**63 - 808, (2**63 - 808) // 1_000),
        (pa.int8(), -128, -128),
        (pa.uint64(), LARGEST_TIME, LARGEST_TIME),
    ],
)
def test_times_of_every_unit_are_exact(dtype: pa.DataType, value: int, us: int) -> None:
    assert to_microseconds(column([0, value], dtype), "ts").tolist() == [0, us]


@pytest.mark.parametrize(
    ("dtype", "value", "why"),
    [
        (pa.int64(), None, "is null"),
        (pa.timestamp("us"), None, "is null"),
        (pa.int64(), 2**60 + 1, "beyond"),
        (pa.int64(), -(2**63), "beyond"),
        (pa.uint64(), 2**64 - 1, "beyond"),
        (pa.timestamp("us"), 2**61, "beyond"),
        (pa.timestamp("s"), 2**45, "beyond"),  # 2^45 s wrap around to a small number of microseconds
        (pa.timestamp("s"), -(2**63), "beyond"),
        (pa.timestamp("ms"), 2**63 - 1, "beyond"),
        (pa.timestamp("ns"), 10_999, "between two microseconds"),
        (pa.timestamp("ns"), -1, "between two microseconds"),
    ],
)
def test_a_row_without_an_exact_time_is_a_fault(dtype: pa.DataType, value: int | None, why: str) -> None:
    given = column([5000, value, 7000], dtype)
    times, faults = read_times(given)
    assert times[[0, 2]].tolist() == to_microseconds(column([5000, 7000], dtype), "ts").tolist()
    assert [place for place, _ in faults] == [1] and why in faults[0][1]
    with pytest.raises(ColumnError, match=rf"time column 'ts': row 1: its time .*{why}.*; "):
        to_microseconds(given, "ts")


def test_times_of_an_output_hold_every_time() -> None:
    assert output_time_type(pa.timestamp("ns", "UTC")) == pa.timestamp("us", "UTC")
    assert output_time_type(pa.uint8()) == pa.int64()


def test_only_times_that_know_their_zone_are_alike() -> None:
    naive, zoned = pa.timestamp("us"), pa.timestamp("us", "UTC")
    assert not are_times_alike(naive, zoned)
    assert are_times_alike(zoned, pa.timestamp("ms", "Europe/Berlin")) and are_times_alike(naive, pa.timestamp("s"))
    assert are_times_alike(naive, pa.int64()) and are_times_alike(zoned, pa.int64())
