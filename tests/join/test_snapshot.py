"""Snapshots are refused where they do not fit, saying what differs."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from driver_harness import new_driver
from punctuated.errors import SnapshotError
from punctuated.join.driver import JoinDriver
from punctuated.join.snapshot import load, save
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow

COLUMNS = ("k", "ts", "v", "f")
SPEC = JoinSpec(
    StreamSpec("A", COLUMNS, ("k",), "ts", TimeWindow(10), punctuated=True),
    StreamSpec("B", COLUMNS, ("k",), "ts", TimeWindow(10)),
)


def test_a_snapshot_of_another_query_says_what_changed() -> None:
    wider = replace(SPEC, left=replace(SPEC.left, window=TimeWindow(20)))
    with pytest.raises(SnapshotError, match=r"its stream 'A' is .*span_us=20.*here it is .*span_us=10"):
        load(new_driver(SPEC), save(new_driver(wider)))


def test_something_else_is_no_snapshot() -> None:
    with pytest.raises(SnapshotError, match="not a snapshot"):
        load(new_driver(SPEC), b"something else")


def test_text_keys_and_ranges_survive() -> None:
    schema = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("v", pa.int64()), ("f", pa.bool_())])

    def rows(keys: list[str], ts: int) -> pa.Table:
        n = len(keys)
        return pa.table([keys, [ts] * n, np.arange(n), [False] * n], schema=schema)

    def driver() -> JoinDriver:
        return JoinDriver(SPEC, (schema, schema), [pa.string()], with_times=True)

    said = Punctuation(2, (Range("b", "c"), WILDCARD, WILDCARD, WILDCARD))
    first = driver()
    first.process(StreamBatch(rows(["a", "b"], 1), punctuations=(said,)), StreamBatch(rows(["a", "c"], 1)))
    second = driver()
    load(second, save(first))
    outcomes = []
    for each in (first, second):
        batch = each.process(StreamBatch(rows(["a", "b", "c"], 3)), StreamBatch(rows(["a", "b"], 3)))
        results = sorted(row["k"] for table in batch.results for row in table.to_pylist())
        rejected = sorted(row["row"] for table in batch.rejected for row in table.to_pylist())
        outcomes.append((results, rejected, each.state.sides["live"].tolist()))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == ["a", "a", "a", "b"]
    assert len(outcomes[0][1]) == 2
