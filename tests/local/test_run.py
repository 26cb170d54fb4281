"""A join of tables on several threads, in as many buckets or more, is the join on one."""

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import punctuated as pt
from driver_harness import add_up, bound_join, is_spreadable, observe
from punctuated.local.run import LocalRun
from punctuated.model.memory import Memory
from punctuated.model.spec import JoinSpec
from punctuated.output.batch_result import BatchResult
from punctuated.testing.checks import Observed, check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases, key_patterns
from punctuated.testing.tables import as_batch
from table_streams import declare

N = 3_000
FEWER = settings(max_examples=settings().max_examples // 2)


def run(spec: JoinSpec, batches: Sequence[Batch], threads: int, n_buckets: int) -> list[Observed]:
    bound = replace(bound_join(spec, n_buckets=n_buckets), at_once=min(threads, n_buckets))
    local = LocalRun(bound, timed=True)
    both = ([as_batch(*each) for each in zip(spec.streams, batch, strict=True)] for batch in batches)
    return [_observe(local, brought) for brought in local.to_end(both)]


def _observe(local: LocalRun, brought: BatchResult) -> Observed:
    first, *others = local.drivers
    return add_up([observe(first, brought), *(observe(each, BatchResult()) for each in others)])


@FEWER
@given(cases(announced=key_patterns()).filter(is_spreadable), st.integers(1, 3), st.integers(1, 4))
def test_equals_the_oracle_on_any_number_of_threads(case: Case, threads: int, n_buckets: int) -> None:
    check_equals_oracle(lambda spec, batches: run(spec, batches, threads, n_buckets), case.spec, case.batches)


@FEWER
@given(cases().filter(is_spreadable), st.integers(1, 2), st.integers(2, 4), st.integers(1, 40))
def test_equals_the_oracle_where_buckets_rest_on_disk(case: Case, threads: int, n_buckets: int, tuples: int) -> None:
    """Counters may still have tuples on disk that have left their windows."""
    check_equals_oracle(
        lambda spec, batches: run(replace(spec, memory=Memory(tuples=tuples)), batches, threads, n_buckets),
        case.spec,
        case.batches,
        but=("stored", "invalidated"),
    )


def tables(n: int = N, n_keys: int = 200) -> list[pa.Table]:
    drawn = np.random.default_rng(4)
    return [
        pa.table(
            {"k": drawn.integers(0, n_keys, n), "ts": np.arange(n), "v": np.arange(n), "end": np.arange(n) % 7 == 0}
        )
        for _ in range(2)
    ]


def joined(**options: Any) -> pt.Join:
    """With punctuations, promises that are broken, and late rows in the second batch."""
    a, b = tables()
    left = declare(a, name="A", key="k", time="ts", window=500, punctuations=pt.when("end"))
    parts = [b.slice(0, N // 2), pa.concat_tables([b.slice(100, 50), b.slice(N // 2)])]
    right = declare(parts, name="B", key="k", time="ts", window=300)
    result: pt.Join = pt.join(left, right, **options)
    return result


def counted(table: pa.Table) -> Counter[Any]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


@pytest.mark.filterwarnings("ignore::punctuated.RejectedRowsWarning", "ignore::punctuated.LateGroupsWarning")
@pytest.mark.parametrize(
    "options", [{"threads": 2}, {"threads": 3}, {"buckets": 5}, {"threads": 2, "buckets": 7}], ids=str
)
@pytest.mark.parametrize("how", ["inner", "full"])
def test_everything_that_a_join_tells_is_the_same(options: Any, how: str) -> None:
    one, many = joined(how=how), joined(how=how, **options)
    for name in ("results", "punctuations", "rejected"):
        assert counted(getattr(many, name)) == counted(getattr(one, name)), name
    assert len(many.all) == len(one.all)
    assert many.metrics.slice(len(many.metrics) - 1).to_pylist() == one.metrics.slice(len(one.metrics) - 1).to_pylist()
    groups = [each.group_by("k").agg(n=pt.count(), most=pt.max("v_left")) for each in (one, many)]
    assert counted(groups[0]) == counted(groups[1])
    by_other = [each.group_by("v_left").agg(n=pt.count()).sort_by("v_left") for each in (one, many)]
    assert by_other[0] == by_other[1]


@pytest.mark.filterwarnings("ignore::punctuated.RejectedRowsWarning")
def test_metrics_are_taken_at_the_same_times() -> None:
    one, two = joined().metrics, joined(threads=2).metrics
    assert two["ts"].to_pylist() == one["ts"].to_pylist()
    for name in ("results", "tuples_left", "punctuations_left"):
        assert two[name] == one[name], name
    assert joined(threads=2, sample_every=1000).metrics["ts"] == joined(sample_every=1000).metrics["ts"]


@pytest.mark.filterwarnings("ignore::punctuated.RejectedRowsWarning")
def test_results_come_in_the_same_order_every_time() -> None:
    assert joined(threads=3).results == joined(threads=3).results


@pytest.mark.filterwarnings("ignore::punctuated.RejectedRowsWarning")
def test_a_join_goes_on_as_a_stream() -> None:
    c = declare(tables()[0], name="C", key="k", time="ts", window=200)
    one, many = (pt.join(pt.stream(joined(threads=n), window=90), c, threads=n).results for n in (1, 2))
    assert counted(many) == counted(one)


def test_without_a_key_one_side_goes_to_all() -> None:
    a, b = (
        declare(table.slice(0, 300), name=name, time="ts", window=40)
        for table, name in zip(tables(), "AB", strict=True)
    )
    where = pt.left("k") <= pt.right("k")
    for how in ("inner", "left", "right", "anti"):
        one, many = (pt.join(a, b, where=where, how=how, threads=threads) for threads in (1, 3))
        assert counted(many.results) == counted(one.results)
        assert many.metrics.to_pylist()[-1]["tuples_right"] == 300


def test_many_streams() -> None:
    streams = [declare(tables()[0].slice(0, 400), name=name, key="k", time="ts", window=50) for name in "ABC"]
    assert counted(pt.join(*streams, threads=2).results) == counted(pt.join(*streams).results)


def test_a_promise_that_is_broken_fails_the_join_and_ends_its_threads() -> None:
    a, b = tables()
    left = declare(a, name="A", key="k", time="ts", window=500, punctuations=pt.when("end"), on_violation="fail")
    join = pt.join(left, declare(b, name="B", key="k", time="ts", window=500), threads=2)
    with pytest.raises(pt.PromiseBroken, match="stream 'A' brought"):
        _ = join.results
    assert not [each for each in threading.enumerate() if each.name == "punctuated"]


# How many buckets


def test_memory_that_is_smaller_than_a_batch_means_more_buckets() -> None:
    a, b = (declare(table, name=name, key="k", time="ts", window=N) for table, name in zip(tables(), "AB", strict=True))
    plain = pt.join(a, b)
    for memory, told in (
        (600, "buckets: 20, 1 at a time"),
        ("64 KiB", "buckets:"),
        (2 * N, "buckets: 2,"),
        (5 * N, ""),
    ):
        limited = pt.join(a, b, memory=memory)
        assert told in limited.explain() if told else "buckets" not in limited.explain()
        assert counted(limited.results) == counted(plain.results)
        assert limited.metrics.to_pylist()[-1]["results"] == len(plain.results)
    assert "buckets: 20, 2 at a time" in pt.join(a, b, memory=600, threads=2).explain()


def test_some_joins_are_not_spread() -> None:
    a, b = tables()
    right = declare(b, name="B", key="k", time="ts", window=50)
    rows = declare(a, name="A", key="k", time="ts", window=pt.rows(10))
    assert "threads: 1 of 2, since pt.rows(n)" in pt.join(rows, right, threads=2).explain()
    assert "threads" not in pt.join(rows, right).explain()
    with pytest.raises(pt.StreamError, match=r"buckets=2: pt\.rows"):
        pt.join(rows, right, buckets=2)
    plain = declare(a, name="A", key="k", time="ts", window=50)
    shed = pt.join(plain, right, threads=2, shed=pt.shed(tuples=20, seed=1))
    assert "since a join that sheds" in shed.explain()
    assert shed.results == pt.join(plain, right, shed=pt.shed(tuples=20, seed=1)).results


@pytest.mark.parametrize("given", [0, -1, 1.5, "2", True, 2000])
@pytest.mark.parametrize("name", ["threads", "buckets"])
def test_numbers_that_make_no_sense(given: Any, name: str) -> None:
    with pytest.raises(pt.StreamError, match=f"{name}="):
        joined(**{name: given})
