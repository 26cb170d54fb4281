"""The journal: any cut of it restores the driver; states are refused where they do not fit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import new_driver, run
from journaled import journaled
from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import SnapshotError
from punctuated.intake.reading import Reader
from punctuated.model.batch import Row, StreamBatch
from punctuated.model.pattern import WILDCARD, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.operator.driver import JoinDriver
from punctuated.snapshot.fingerprint import show_both
from punctuated.snapshot.journal import Journal, restore
from punctuated.testing.checks import check_equals_oracle
from punctuated.testing.strategies import Case, cases, key_patterns
from punctuated.testing.tables import as_batch

COLUMNS = ("k", "ts", "v", "f")
SPEC = JoinSpec(
    (
        StreamSpec("A", COLUMNS, ("k",), "ts", TimeWindow(10), punctuated=True),
        StreamSpec("B", COLUMNS, ("k",), "ts", TimeWindow(10)),
    ),
)


@given(cases(announced=key_patterns()), st.integers(1, 4))
def test_a_restored_driver_goes_on_as_if_nothing_had_happened(case: Case, every: int) -> None:
    check_equals_oracle(
        lambda spec, batches: run(spec, batches, between=journaled(lambda: new_driver(spec), every)),
        case.spec,
        case.batches,
    )


def test_a_state_of_another_query_says_what_changed() -> None:
    wider = replace(SPEC, streams=(replace(SPEC.left, window=TimeWindow(20)), SPEC.right))
    with pytest.raises(SnapshotError, match=r"its window of 'A' is 10 µs, here it is 20 µs;"):
        restore(new_driver(wider), [Journal().write(new_driver(SPEC))])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"lateness_us": 60_000_000},
            "its stream 'A' is declared with lateness='0 s', here it is .* lateness='1 min';",
        ),
        ({"unique": True}, "declared with unique=False, here it is declared with unique=True;"),
        ({"name": "Z"}, "it has the streams 'A' and 'B'; its stream 'Z' is absent"),
        ({"window": None}, "its window of 'A' is 10 µs, here it is none;"),
    ],
    ids=["lateness", "unique", "name", "window"],
)
def test_only_what_differs_is_shown(changed: dict[str, Any], message: str) -> None:
    other = replace(SPEC, streams=(replace(SPEC.left, **changed), SPEC.right))
    with pytest.raises(SnapshotError, match=message) as raised:
        restore(new_driver(other), [Journal().write(new_driver(SPEC))])
    assert "'key'" not in str(raised.value)


def test_only_columns_that_differ_are_shown() -> None:
    columns = [f"c{i}: int64" for i in range(200)]
    assert show_both("columns of 'A'", [*columns, "gone: string"], columns) == ("gone: string", "without them")


def test_a_smaller_window_fits() -> None:
    """It counts for the tuples that are stored already."""
    wider = replace(SPEC, streams=(replace(SPEC.left, window=TimeWindow(20)), SPEC.right))
    old, new = new_driver(wider), new_driver(SPEC)
    stored = as_batch(wider.left, [Row((1, 0, 0, False)), Row((2, 5, 0, False))])
    old.process(stored, as_batch(wider.right, []))
    restore(new, [Journal().write(old)])
    came = as_batch(SPEC.right, [Row((1, 10, 0, False)), Row((1, 11, 0, False)), Row((2, 15, 0, False))])
    for driver, results in ((old, [1, 1, 2]), (new, [1, 2])):
        batch = driver.process(as_batch(SPEC.left, []), came)
        assert [key for table in batch.results for key in table["k"].to_pylist()] == results
    assert (old.state.sides["live"][0], new.state.sides["live"][0]) == (2, 1)


def test_something_else_is_no_journal() -> None:
    with pytest.raises(SnapshotError, match="not written by this library"):
        restore(new_driver(SPEC), [b"something else"])


def test_text_keys_and_ranges_survive() -> None:
    schema = pa.schema([("k", pa.string()), ("ts", pa.int64()), ("v", pa.int64()), ("f", pa.bool_())])

    def rows(keys: list[str], ts: int) -> pa.Table:
        n = len(keys)
        return pa.table([keys, [ts] * n, np.arange(n), [False] * n], schema=schema)

    def driver() -> JoinDriver:
        inputs = tuple(Reader(stream, None, schema, (pa.string(),)) for stream in SPEC.streams)
        return BoundJoin(SPEC, inputs).driver(timed=True)

    said = Punctuation(2, (Range("b", "c"), WILDCARD, WILDCARD, WILDCARD))
    first = driver()
    first.process(StreamBatch(rows(["a", "b"], 1), punctuations=(said,)), StreamBatch(rows(["a", "c"], 1)))
    second = driver()
    restore(second, [Journal().write(first)])
    outcomes = []
    for each in (first, second):
        batch = each.process(StreamBatch(rows(["a", "b", "c"], 3)), StreamBatch(rows(["a", "b"], 3)))
        results = sorted(row["k"] for table in batch.results for row in table.to_pylist())
        rejected = sorted(row["row"] for rejects in batch.rejected for row in rejects.table.to_pylist())
        outcomes.append((results, rejected, each.state.sides["live"].tolist()))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == ["a", "a", "a", "b"]
    assert len(outcomes[0][1]) == 2
