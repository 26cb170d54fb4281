"""A join that would outgrow its memory fails before it takes more, and says who and how much."""

import pyarrow as pa
import pytest

import punctuated as pt
from driver_harness import new_driver
from punctuated.model.batch import BucketId, StreamBatch
from punctuated.model.memory import parse_size, show_size
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.operator.driver import JoinDriver
from punctuated.snapshot.journal import Journal, restore

COLUMNS = ("k", "ts", "v")


def spec(bucket_bytes: int | None) -> JoinSpec:
    left, right = (StreamSpec(name, COLUMNS, ("k",), "ts", TimeWindow(10**9)) for name in "AB")
    return JoinSpec((left, right), bucket_bytes=bucket_bytes)


def rows(first: int, n: int) -> StreamBatch:
    numbers = list(range(first, first + n))
    return StreamBatch(pa.table({name: pa.array(numbers, pa.int64()) for name in COLUMNS}))


def feed(driver: JoinDriver, n: int) -> None:
    for first in range(1_000, 10_000_000, n):
        driver.process(rows(first, n), rows(first, n))


@pytest.mark.parametrize("more", [10_000, 1_000_000])
def test_a_bucket_fails_before_it_outgrows_its_budget(more: int) -> None:
    driver = new_driver(spec(4 << 20), place=BucketId(3, 8))
    driver.process(rows(0, 1_000), rows(0, 1_000))
    with pytest.raises(pt.MemoryBudgetError, match=r"^bucket 3 of 8 holds .* needs .* its budget of 4\.0 MiB;"):
        feed(driver, more)
    assert driver.nbytes <= 4 << 20


def test_a_join_without_a_budget_goes_on() -> None:
    driver = new_driver(spec(None))
    driver.process(rows(0, 200_000), rows(0, 200_000))
    assert driver.nbytes > 4 << 20


def test_a_saved_state_must_fit_too() -> None:
    driver = new_driver(spec(None))
    driver.process(rows(0, 200_000), rows(0, 200_000))
    with pytest.raises(pt.MemoryBudgetError, match="the join"):
        restore(new_driver(spec(4 << 20)), [Journal().write(driver)])


def test_tables_have_a_budget_too() -> None:
    table = pa.table({"k": range(100_000), "ts": range(100_000)})
    a, b = (pt.stream(table, name=name, key="k", time="ts", window=10**9) for name in "AB")
    assert len(pt.join(a, b, bucket_memory="1 GiB").results) == 100_000
    with pytest.raises(pt.MemoryBudgetError, match="the join"):
        _ = pt.join(a, b, bucket_memory="1 MiB").results


@pytest.mark.parametrize(("given", "size"), [(5, 5), ("2 GiB", 2 << 30), ("1.5kb", 1500), ("512 MiB", 512 << 20)])
def test_sizes_are_read(given: int | str, size: int) -> None:
    assert parse_size(given, "bucket_memory") == size


@pytest.mark.parametrize("given", [0, -1, "", "much", "5", "5 parsecs", "-5 MiB"])
def test_bad_sizes_are_refused(given: int | str) -> None:
    with pytest.raises(pt.AlgorithmError, match="bucket_memory"):
        parse_size(given, "bucket_memory")


def test_sizes_are_shown() -> None:
    assert [show_size(size) for size in (5, 2048, 3 << 20, 5 << 29)] == ["5 bytes", "2.0 KiB", "3.0 MiB", "2.5 GiB"]
