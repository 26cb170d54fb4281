"""Counters of a driver: every column of the table, and each tuple counted by one bucket only."""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.exchange.spread import spread
from punctuated.model.batch import BucketId, StreamBatch
from punctuated.model.counters import COLUMNS, COUNTERS
from punctuated.model.spec import JoinSpec, Side
from punctuated.operator.driver import JoinDriver
from punctuated.plan.allocation import shed_allocation
from punctuated.state.setup import DriverSetup

N = 400


def table(seed: int) -> pa.Table:
    drawn = np.random.default_rng(seed)
    return pa.table({"ts": np.sort(drawn.integers(0, 40_000_000, N)), "v": drawn.integers(0, 9, N)})


TABLES = table(1), table(2)


def shedding_spec() -> JoinSpec:
    """A join without a key: on several buckets, one side goes everywhere."""
    streams = [pt.stream(TABLES[side], name="AB"[side], time="ts", window="5 seconds") for side in Side]
    shed = pt.shed(rate=4, tuples=30, floor=1, seed=3)
    joined: Any = pt.join(*streams, where=pt.left("v") == pt.right("v"), shed=shed)
    spec: JoinSpec = joined.spec
    return spec


def ran(spec: JoinSpec, n_buckets: int) -> list[JoinDriver]:
    assert spec.shed is not None
    parts = [
        spread(spec.streams[side], StreamBatch(TABLES[side]), [], n_buckets, everywhere=side in spec.everywhere)
        for side in Side
    ]
    drivers = []
    for number in range(n_buckets):
        allocate = shed_allocation(spec.shed, estimates=False)
        schemas = TABLES[0].schema, TABLES[1].schema
        place = BucketId(number, n_buckets)
        driver = JoinDriver(DriverSetup(spec, schemas, (), allocate=allocate, place=place))
        driver.process(parts[0][number], parts[1][number])
        drivers.append(driver)
    return drivers


def test_every_column_is_counted_where_it_happens() -> None:
    (driver,) = ran(shedding_spec(), 1)
    counts = driver.counts()
    assert tuple(counts) == COLUMNS
    for name in (each.name for each in COUNTERS if each.by_loop and not each.per_stream):
        assert counts[name] == driver.state.common[name][0]
    for side, name in enumerate(("left", "right")):
        assert counts[f"state_{name}"] == driver.state.sides["live"][side] > 0
        assert counts[f"tuples_{name}"] == driver.state.sides["tuples"][side] == N
        assert 0 < counts[f"unprobed_{name}"] < N and 0 < counts[f"unstored_{name}"] < N


def test_what_is_shed_of_a_side_that_goes_everywhere_counts_once() -> None:
    spec = shedding_spec()
    totals = Counter[str]()
    for driver in ran(spec, 4):
        totals.update(driver.counts())
    assert totals["tuples_left"] == totals["tuples_right"] == N
    for name in ("unprobed_right", "unstored_right"):
        assert 0 < totals[name] < N
