"""Statistics of tables: how long tuples wait is what a walk over them says; states follow from it."""

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punctuated as pt
from punctuated.errors import UnboundedStateWarning
from punctuated.model.spec import LEFT, RIGHT
from punctuated.plan.cost.cardinality import Lifetime
from punctuated.plan.statistics import (
    StreamStatistics,
    bytes_of,
    expected_load,
    expected_state,
    largest_state,
    table_statistics,
)

objects = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50), st.booleans()), max_size=20)


def table(rows: list[tuple[Any, int, bool]], key_type: pa.DataType | None = None) -> pa.Table:
    ordered = sorted(rows, key=lambda row: row[1])
    return pa.table(
        {
            "k": pa.array([row[0] for row in ordered], key_type or pa.int64()),
            "ts": pa.array([row[1] * 10**6 for row in ordered], pa.int64()),
            "last": pa.array([row[2] for row in ordered], pa.bool_()),
        }
    )


def statistics_of(left: pa.Table, right: pa.Table, **right_options: Any) -> tuple[StreamStatistics, ...]:
    a = pt.stream(left, name="A", key="k", time="ts", window=10**9)
    b = pt.stream(right, name="B", key="k", time="ts", window=10**9, **right_options)
    join = pt.join(a, b)
    return table_statistics(join.bound.spec, join.batches, join.bound.key_types)


def walked(ours: list[tuple[int, int, bool]], ends: dict[int, int]) -> tuple[float, float, float]:
    """Mean wait, share of those that wait for an ending, share of those that come too late for it."""
    waits = [ends[key] - ts for key, ts, _ in ours if key in ends]
    kept = [wait for wait in waits if wait > 0]
    n = max(1, len(ours))
    return sum(kept) / max(1, len(kept)), len(kept) / n, (len(waits) - len(kept)) / n


@given(objects, objects)
def test_waits_by_flags_are_those_of_a_walk(
    ours: list[tuple[int, int, bool]], other: list[tuple[int, int, bool]]
) -> None:
    ends: dict[int, int] = {}
    for key, ts, last in other:
        if last:
            ends[key] = min(ts, ends.get(key, ts))
    found, flagging = statistics_of(table(ours), table(other), punctuations=pt.when("last"))
    assert (found.lifetime.mean_s, found.lifetime.ended, found.lifetime.over) == pytest.approx(walked(ours, ends))
    assert flagging.punctuations == sum(last for *_, last in other)
    assert flagging.lifetime == Lifetime()
    assert (found.tuples, found.distinct_values) == (len(ours), len({key for key, *_ in ours}))


@given(objects, objects)
def test_waits_by_unique_keys_are_those_of_a_walk(
    ours: list[tuple[int, int, bool]], other: list[tuple[int, int, bool]]
) -> None:
    ends: dict[int, int] = {}
    for key, ts, _ in other:
        ends[key] = min(ts, ends.get(key, ts))
    found, _ = statistics_of(table(ours), table(other), punctuations=pt.unique())
    assert (found.lifetime.mean_s, found.lifetime.ended, found.lifetime.over) == pytest.approx(walked(ours, ends))


def test_waits_by_clusters_patterns_and_endings() -> None:
    ours = table([(1, 0, False), (2, 1, False), (3, 2, False)])
    clustered = table([(1, 4, False), (1, 6, False), (2, 8, False)])
    assert statistics_of(ours, clustered, punctuations=pt.clustered())[0].lifetime == Lifetime(6.5, 2 / 3)
    said = table([(None, 5, False)]).append_column("pattern", pa.array(["<{1,3},*,*>"]))
    found, saying = statistics_of(ours, said, punctuations=pt.rows_with("pattern"))
    assert found.lifetime == Lifetime(4.0, 2 / 3) and saying.punctuations == 2
    announced = pa.table({"k": [2], "at": pa.array([10**7], pa.int64())})
    found, _ = statistics_of(ours, table([]), punctuations=pt.endings(announced, key="k", time="at"))
    assert found.lifetime == Lifetime(9.0, 1 / 3)


def test_lateness_of_the_other_stream_lets_tuples_wait_longer() -> None:
    ours, other = table([("x", 0, False)], pa.string()), table([("x", 5, True)], pa.string())
    found, _ = statistics_of(ours, other, punctuations=pt.when("last"), lateness="3 seconds")
    assert found.lifetime == Lifetime(8.0, 1.0)


def test_the_state_to_expect() -> None:
    a = pt.stream(table([]), name="A", key="k", time="ts", window="10 seconds")
    b = pt.stream(table([]), name="B", key="k", time="ts", punctuations=pt.when("last"), lateness="2 seconds")
    with pytest.warns(UnboundedStateWarning, match="'B'"):
        spec = pt.join(a, b, algorithm="pwjoin").spec
    ours = StreamStatistics(1000, 100, 50, 0, Lifetime(4, ended=0.5, over=0.25))
    both = ours, StreamStatistics(300, 100, 20, 5)
    assert expected_state(spec, LEFT, both) == pytest.approx(10 * (0.5 * 4 * (1 - math.exp(-3)) + 0.25 * 12))
    assert expected_state(spec, RIGHT, both) == pytest.approx(300)  # neither window nor punctuations


def test_the_load_to_expect_of_a_join_that_sheds() -> None:
    """KN-38: half of the left tuples may probe, and a quarter of both windows is kept."""
    streams = [pt.stream(table([]), name=name, key="k", time="ts", window="10 seconds") for name in "AB"]
    spec = pt.join(*streams, shed=pt.shed(rate=5, tuples=50, strategy="equal")).spec
    seen = expected_load(spec, [StreamStatistics(1000, 100, 50, 0)] * 2)
    assert seen.rates == (10, 10) and seen.probing == (2.5, 2.5)
    assert seen.windows == (25, 25) and seen.storing == (2.5, 2.5)
    assert seen.matches == (0.5, 0.5)


def many(**options: Any) -> Any:
    """Three streams of values that end in the order A, B, C, a second after each other; each comes once."""
    tables = [table([(k, 10 * k + late, True) for k in range(100)]) for late in range(3)]
    streams = [
        pt.stream(each, name=name, key="k", time="ts", punctuations=pt.unique() if name in "BC" else None)
        for each, name in zip(tables, "ABC", strict=True)
    ]
    return pt.join(*streams, **options)


def test_a_tuple_of_many_streams_waits_for_the_last_of_the_others() -> None:
    joined = many(within="1 hour")
    a, b, _ = table_statistics(joined.spec, joined.batches, joined.bound.key_types)
    assert a.lifetime == Lifetime(2.0, ended=1.0)  # until C has ended it
    assert b.lifetime == Lifetime()  # A never says anything
    assert largest_state(joined.spec, 0, (a, b, b)) == pytest.approx(a.rate * 2.0, rel=0.01)


def test_the_most_of_many_streams_is_what_their_reach_holds() -> None:
    joined = many(within="30 seconds", algorithm="xjoin")  # which does not listen to punctuations
    statistics = table_statistics(joined.spec, joined.batches, joined.bound.key_types)
    assert largest_state(joined.spec, 0, statistics) == pytest.approx(statistics[0].rate * 30)
    seen = max(row["state_1"] for row in many(within="30 seconds").metrics.to_pylist())
    assert seen <= math.ceil(statistics[0].rate * 30) + 1


def test_bytes_are_those_of_columns_and_index() -> None:
    ours = StreamStatistics(1000, 100, 50, 0, row_bytes=24)
    assert bytes_of(10, ours) == 850  # as measured on W2
    assert statistics_of(table([(1, 0, False)] * 8), table([]))[0].row_bytes == pytest.approx(16 + 1 / 8)
