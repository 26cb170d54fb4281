"""A union, and a stream by itself, equal the oracle, whole, saved and restored after each batch, and in buckets."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from driver_harness import bound_join
from journaled import journaled
from punctuated.bind.bound_join import BoundJoin
from punctuated.local.run import LocalRun
from punctuated.model.algorithm import UNION
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.spec import JoinType
from punctuated.operator.driver import JoinDriver
from punctuated.output.batch_result import BatchResult
from punctuated.testing import reference
from punctuated.testing.checks import DOMAIN, extent
from punctuated.testing.multiway_strategies import multiway_cases
from punctuated.testing.reference_state import BatchOutput
from punctuated.testing.strategies import Case
from punctuated.testing.tables import as_batch

Seen = dict[str, Counter[Any]]


@st.composite
def union_cases(draw: st.DrawFn, sizes: Sequence[int] = (1, 1, 2, 3, 5), small_memory: bool = False) -> Case:
    """Streams of a join of several, of which some are left: late tuples and broken promises are frequent."""
    n = draw(st.sampled_from(sizes))
    case = draw(multiway_cases(sizes=(max(2, n),), small_memory=small_memory))
    streams = tuple(stream for stream in case.spec.streams[:n])
    spec = replace(case.spec, streams=streams, how=JoinType.UNION, algorithm=UNION, reaches=(((0,) * n,) * n,))
    return Case(spec, [batch[:n] for batch in case.batches])


def expected(case: Case) -> list[Seen]:
    return [_as_seen(case, output) for output in reference.join(case.spec, case.batches)]


def _as_seen(case: Case, output: BatchOutput) -> Seen:
    rows = zip(output.results, output.result_ts, strict=True)
    names = [stream.name for stream in case.spec.streams]
    return {
        "results": Counter((row.values, ts) for (row,), ts in rows if row is not None),
        "rejected": Counter((names[each.side], each.row.values, each.reason) for each in output.rejected),
        "punctuations": Counter(
            (each.key and each.key[0], extent(each.patterns, DOMAIN), each.ts, each.reason)
            for each in output.punctuations
        ),
    }


def observe(case: Case, batch: BatchResult) -> Seen:
    seen: Seen = {"results": Counter(), "rejected": Counter(), "punctuations": Counter()}
    for table, times in zip(batch.results, batch.result_ts, strict=True):
        for row, ts in zip(table.to_pylist(), times.tolist(), strict=True):
            seen["results"][tuple(row[name] for name in case.spec.left.columns), ts] += 1
    for rejected in batch.rejected:
        for row in rejected.table.to_pylist():
            seen["rejected"][row["stream"], tuple(json.loads(row["row"]).values()), row["reason"]] += 1
    for told in batch.punctuations:
        for row in told.table.to_pylist():
            covered = None if row["k"] is not None else extent(parse_punctuation(row["pattern"], [pa.int64()]), DOMAIN)
            seen["punctuations"][row["k"], covered, row["ts"], row["reason"]] += 1
    return seen


def bound(case: Case, n_buckets: int = 1) -> BoundJoin:
    return bound_join(case.spec, n_buckets=n_buckets)


def run(case: Case, between: Callable[[JoinDriver], JoinDriver] = lambda driver: driver) -> list[Seen]:
    driver, seen = bound(case).driver(timed=True), []
    for batch in case.batches:
        given = zip(case.spec.streams, batch, driver.schemas, strict=True)
        seen.append(observe(case, driver.process(*(as_batch(*each) for each in given))))
        assert driver.state.n_stored.sum() == 0
        driver = between(driver)
    return [*seen, observe(case, driver.end())]


@given(union_cases())
def test_it_equals_the_oracle(case: Case) -> None:
    assert run(case) == expected(case)


@given(union_cases(small_memory=True))
def test_what_it_remembers_of_values_is_bounded(case: Case) -> None:
    assert run(case) == expected(case)


@given(union_cases())
def test_it_goes_on_after_each_batch(case: Case) -> None:
    saved = journaled(lambda: bound(case).driver(timed=True))
    assert run(case, saved) == expected(case)


@given(union_cases(), st.integers(2, 4))
def test_buckets_make_no_difference(case: Case, n: int) -> None:
    join = bound(case, n)
    batches = [
        tuple(as_batch(*each) for each in zip(case.spec.streams, batch, join.schemas, strict=True))
        for batch in case.batches
    ]
    found = [observe(case, batch) for batch in LocalRun(join, timed=True).to_end(batches)]
    assert found == expected(case)


@given(union_cases())
def test_results_of_a_batch_are_in_order_of_time(case: Case) -> None:
    driver = bound(case).driver(timed=True)
    for batch in case.batches:
        given = zip(case.spec.streams, batch, driver.schemas, strict=True)
        times = [ts for each in driver.process(*(as_batch(*each) for each in given)).result_ts for ts in each.tolist()]
        assert times == sorted(times)
