"""Pack and step, without a JVM: whatever the cache holds, however often a batch is attempted, they equal the oracle."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.streaming.stateful_processor import TimerValues
from pyspark.sql.streaming.tws_tester import TwsTester

import punctuated as pt
from punctuated.arrow.ipc import to_ipc
from punctuated.errors import SnapshotError
from punctuated.intake.reading import Reader
from punctuated.kernels.layout import NEVER
from punctuated.model.aggregate import AGGREGATES, Aggregate
from punctuated.model.algorithm import choose_algorithm
from punctuated.model.batch import Row
from punctuated.model.counters import per_stream
from punctuated.model.pattern import WILDCARD, Constant, Range
from punctuated.model.punctuation import Punctuation
from punctuated.model.rejection import Rejection
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType, OnViolation, Side, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.output.batch_result import REJECTED_SCHEMA, BatchResult, RenderedTuples
from punctuated.output.chain import ChainReader
from punctuated.output.groups.grouping import Grouping
from punctuated.output.in_band import InBand
from punctuated.output.views import View
from punctuated.spark.metrics.reports import REPORT_COLUMN
from punctuated.spark.pack.pack import Pack
from punctuated.spark.session.query import Query
from punctuated.spark.state import bucket as bucket_state
from punctuated.spark.state.cache import CACHE
from punctuated.spark.step.groups import GroupStep
from punctuated.testing import reference
from punctuated.testing.checks import Observed, check_equals_oracle, check_equals_oracle_whenever_it_purges
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import (
    Metrics,
    Output,
    Steps,
    clear_cache,
    ends,
    is_spreadable,
    make_query,
    observe,
    pack_batch,
)

FEWER = settings(max_examples=settings().max_examples // 4)
RANDOMS = st.integers(0, 1 << 30).map(Random)
BUCKETS = st.integers(1, 5)
TIME = InBand().time
Runner = Callable[[Steps, Batch, Random], Output]


def run_steps(spec: JoinSpec, batches: Sequence[Batch], n_buckets: int, random: Random, run: Runner) -> list[Observed]:
    """What each batch brings, the end included, if each is run by `run`."""
    clear_cache()
    steps, metrics = Steps(make_query(spec, n_buckets)), Metrics()
    seen = []
    for batch in [*batches, ends(spec, batches)]:
        rows = run(steps, batch, random)
        metrics.note(row[REPORT_COLUMN] for row in rows)
        seen.append(observe(spec, rows, metrics))
    return seen


def check_steps(case: Case, n_buckets: int, random: Random, run: Runner) -> None:
    check_equals_oracle(lambda spec, batches: run_steps(spec, batches, n_buckets, random, run), case.spec, case.batches)


# The cache


@FEWER
@given(cases().filter(is_spreadable), BUCKETS, RANDOMS)
def test_steps_with_a_cache_equal_the_oracle(case: Case, n: int, random: Random) -> None:
    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        rows = steps.run(pack_batch(steps.query, batch, random))
        known = [steps.token(number) is not None for number in range(n)]
        assert len(CACHE) == sum(known)
        return rows

    check_steps(case, n, random, run)


@FEWER
@given(cases().filter(is_spreadable), BUCKETS, RANDOMS)
def test_steps_that_lose_their_cache_equal_the_oracle(case: Case, n: int, random: Random) -> None:
    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        for number in range(n):
            if random.random() < 0.6:
                CACHE.take((steps.query.identity, number), "none of these")
        return steps.run(pack_batch(steps.query, batch, random))

    check_steps(case, n, random, run)


@FEWER
@given(cases().filter(is_spreadable), BUCKETS, RANDOMS)
def test_steps_with_a_stale_cache_equal_the_oracle(case: Case, n: int, random: Random) -> None:
    """A worker that was away for some batches comes back with what it knew."""
    kept: list[tuple[int, str, bucket_state.Bucket]] = []

    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        for number, token, bucket in kept:
            if random.random() < 0.7:
                CACHE.put((steps.query.identity, number), token, bucket)
        for number in range(n):
            now = steps.token(number)
            if now is not None and random.random() < 0.5:
                kept.append((number, now, steps.restored(number)))
        return steps.run(pack_batch(steps.query, batch, random))

    check_steps(case, n, random, run)


@FEWER
@given(cases(policies=[OnViolation.REJECT]).filter(is_spreadable), st.integers(2, 4), BUCKETS, RANDOMS)
def test_steps_that_purge_lazily_equal_the_oracle(case: Case, threshold: int, n: int, random: Random) -> None:
    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        if random.random() < 0.5:
            clear_cache()
        return steps.run(pack_batch(steps.query, batch, random))

    def operator(spec: JoinSpec, batches: Sequence[Batch]) -> list[Observed]:
        return run_steps(spec, batches, n, random, run)

    check_equals_oracle_whenever_it_purges(operator, replace(case.spec, purge_threshold=threshold), case.batches)


# Attempts


@FEWER
@given(cases().filter(is_spreadable), BUCKETS, RANDOMS)
def test_a_batch_attempted_twice_equals_the_oracle(case: Case, n: int, random: Random) -> None:
    """A failed attempt leaves nothing behind, whether it stopped midway, came to its end, or is still running."""
    zombies: list[Iterator[Any]] = []

    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        before = steps.save()
        rows: Output | None = None
        if random.random() < 0.5:
            rows = steps.run(pack_batch(steps.query, batch, random))
        else:
            abandoned = steps.abandon(pack_batch(steps.query, batch, random), after=random.randint(0, 2))
            zombies.extend(abandoned if random.random() < 0.5 else [])
        steps.load(before)
        again = steps.run(pack_batch(steps.query, batch, random))
        assert rows is None or _without_metrics(rows) == _without_metrics(again)
        after = steps.save()
        while zombies and random.random() < 0.5:
            list(zombies.pop())
        steps.load(after)  # what a zombie writes is never committed
        return again

    check_steps(case, n, random, run)


def _without_metrics(rows: Output) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows if row[REPORT_COLUMN] is None)


# The log


@FEWER
@given(cases().filter(is_spreadable), BUCKETS, RANDOMS, st.sampled_from([-(1 << 40), 0, 2_000]))
def test_steps_whose_log_is_compacted_equal_the_oracle(case: Case, n: int, random: Random, slack: int) -> None:
    def run(steps: Steps, batch: Batch, random: Random) -> Output:
        if random.random() < 0.5:
            clear_cache()
        return steps.run(pack_batch(steps.query, batch, random))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bucket_state, "_SLACK", slack)
        check_steps(case, n, random, run)


COLUMNS = ("k", "ts", "v", "f")
SPEC = JoinSpec(
    (
        StreamSpec("A", COLUMNS, ("k",), "ts", TimeWindow(100), punctuated=True),
        StreamSpec("B", COLUMNS, ("k",), "ts", TimeWindow(100), punctuated=True),
    ),
)


def rows_of(keys: Sequence[int], ts: int) -> list[Row | Punctuation]:
    return [Row((key, ts, 0, False)) for key in keys]


def endings_of(keys: Sequence[int], ts: int) -> list[Row | Punctuation]:
    return [Punctuation(ts, (Constant(key), WILDCARD, WILDCARD, WILDCARD)) for key in keys]


def feed(steps: Steps, *batches: Batch) -> Output:
    """The rows of the last of some batches."""
    clear_cache()
    rows: Output = []
    for batch in batches:
        rows = steps.run(pack_batch(steps.query, batch))
    return rows


def test_a_log_is_compacted_and_the_state_stays() -> None:
    """Without any setting changed: entries outweigh the full one sooner or later."""
    steps, n = Steps(make_query(SPEC, 1)), 2_000
    scattered = Random(1).sample(range(1 << 62), 60 * n)  # neighbours would be compressed to nothing
    firsts, sizes = set(), []
    for number in range(60):
        keys = scattered[number * n : (number + 1) * n]
        feed(steps, (rows_of(keys, 10 * number), rows_of(keys[:5], 10 * number)))
        entries = steps.entries(0)
        assert list(entries) == list(range(min(entries), min(entries) + len(entries)))
        firsts.add(min(entries))
        sizes.append(sum(entries.values()))
        driver = steps.restored(0).driver
        assert driver.state.sides["live"].tolist() == [min(number + 1, 11) * n, min(number + 1, 11) * 5]
    assert len(firsts) > 2
    assert sizes[-1] < 2 * max(sizes[:30])


def test_entries_hold_what_changed() -> None:
    silent = replace(SPEC, streams=(replace(SPEC.left, punctuated=False), replace(SPEC.right, punctuated=False)))
    steps = Steps(make_query(silent, 1))
    keys = Random(1).sample(range(1 << 62), 5_010)  # neighbours would be compressed to nothing
    feed(steps, (rows_of(keys[:5_000], 0), []))
    feed(steps, (rows_of(keys[5_000:], 1), []))
    full, more = steps.entries(0).values()
    assert more < full / 5


@pytest.mark.parametrize("n_buckets", [1, 4])
def test_nothing_is_left_when_all_keys_are_closed(n_buckets: int) -> None:
    """No tuple, and of the closed keys only an interval."""
    n = 4_000
    steps = Steps(make_query(SPEC, n_buckets))
    feed(steps, (rows_of(range(n), 0), rows_of(range(n), 1)))
    rows = feed(steps, (endings_of(range(n), 2), endings_of(range(n), 2)))
    assert sum(row["_kind"] == "punctuation" for row in rows) == n
    assert sum(steps.restored(number).driver.state.sides["live"].sum() for number in range(n_buckets)) == 0
    feed(steps, (rows_of([n], 1_000), rows_of([n], 1_000)), (endings_of([n], 1_000), endings_of([n], 1_000)))
    for number in range(n_buckets):
        driver = steps.restored(number).driver
        assert driver.state.sides["live"].sum() == 0
        assert len(driver.punctuations.memory.runs) == 1
        assert list(steps.entries(number).values())[-1] < 5_000


def test_metrics_tell_of_every_bucket() -> None:
    steps = Steps(make_query(SPEC, 4))
    rows = feed(steps, (rows_of(range(100), 7), []))
    said = [json.loads(row[REPORT_COLUMN]) for row in rows if row[REPORT_COLUMN] is not None]
    assert sorted(each["bucket"] for each in said) == [0, 1, 2, 3]
    assert sum(each["state_left"] for each in said) == sum(each["tuples_left"] for each in said) == 100
    assert {each["watermark_left"] for each in said} == {7}
    assert all(each["bytes_written"] > 0 and each["cache_hits"] == 0 for each in said)
    again = steps.run(pack_batch(steps.query, (rows_of(range(100), 8), [])))
    assert all(json.loads(row[REPORT_COLUMN])["cache_hits"] == 1 for row in again if row[REPORT_COLUMN] is not None)


COUNTED = ("tuples", "punctuations")
REJECTED = tuple(name for reason in Rejection for name in per_stream(reason.counter))
TOTALS = (
    *(f"{name}_{side}" for name in COUNTED for side in ("left", "right")),
    "punctuations_out",
    "rejected",
    *REJECTED,
    "results",
)


@FEWER
@given(cases().filter(is_spreadable), st.integers(2, 5))
def test_counters_do_not_depend_on_the_number_of_buckets(case: Case, n: int) -> None:
    """Ranges, heartbeats and the end of a stream come to every bucket, and count once."""
    clear_cache()
    whole, spread = (Steps(make_query(case.spec, n_buckets)) for n_buckets in (1, n))
    for batch in [*case.batches, ends(case.spec, case.batches)]:
        said = [Metrics(), Metrics()]
        for steps, metrics in zip((whole, spread), said, strict=True):
            metrics.note(row[REPORT_COLUMN] for row in steps.run(pack_batch(steps.query, batch)))
        if said[0].by_bucket:
            assert sum(said[0].total(name) for name in REJECTED) == said[0].total("rejected")
            assert {name: said[1].total(name) for name in TOTALS} == {name: said[0].total(name) for name in TOTALS}


def test_punctuations_that_come_to_every_bucket_count_once() -> None:
    def over(key: Range) -> Punctuation:
        return Punctuation(2, (key, WILDCARD, WILDCARD, WILDCARD))

    steps, metrics = Steps(make_query(SPEC, 4)), Metrics()
    heartbeat = Punctuation(2, (WILDCARD, Range(None, 1), WILDCARD, WILDCARD))
    rows = feed(steps, ([over(Range(0, 10)), heartbeat, *endings_of([20, 21], 2)], [over(Range(5, 15))]))
    metrics.note(row[REPORT_COLUMN] for row in rows)
    assert (metrics.total("punctuations_left"), metrics.total("punctuations_right")) == (4, 1)
    assert metrics.total("punctuations_out") == sum(row["_kind"] == "punctuation" for row in rows) > 0


def test_rejections_are_counted_across_restarts() -> None:
    steps, metrics = Steps(make_query(SPEC, 2)), Metrics()
    for right in (rows_of(range(4), 50), rows_of([1, 2], 3), rows_of([1, 2], 4)):
        clear_cache()  # so that the state is read back
        metrics.note(row[REPORT_COLUMN] for row in steps.run(pack_batch(steps.query, ([], right))))
    assert (metrics.total("rejected_late_right"), metrics.total("rejected_late_left")) == (4, 0)


# Groups


@pytest.mark.parametrize("by", [("k",), ("k", "v")])
@FEWER
@given(case=cases().filter(is_spreadable), n=BUCKETS, random=RANDOMS)
def test_groups_of_steps_equal_the_oracle(by: tuple[str, ...], case: Case, n: int, random: Random) -> None:
    aggregates = {"rows": Aggregate("count")}
    aggregates |= {f"{function} v": Aggregate(function, "v") for function in AGGREGATES}
    batches = [*case.batches, ends(case.spec, case.batches)]
    asked = {name: (each.function, each.column) for name, each in aggregates.items()}
    wanted = reference.groups(case.spec, reference.join(case.spec, batches, end=False), by, asked)
    clear_cache()
    steps = Steps(make_query(case.spec, n, View.GROUPS, Grouping(by, aggregates)))
    for batch, groups in zip(batches, wanted, strict=True):
        if random.random() < 0.5:
            clear_cache()
        rows = [row for row in steps.run(pack_batch(steps.query, batch, random)) if row.pop(REPORT_COLUMN) is None]
        assert Counter(map(_values, rows)) == Counter(map(_values, groups))


def _values(group: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(group.values())


def test_a_range_ends_groups_in_every_bucket() -> None:
    everything = Punctuation(2, (Range(0, 100), WILDCARD, WILDCARD, WILDCARD))
    steps = Steps(make_query(SPEC, 4, View.GROUPS, Grouping(("k",), {"n": Aggregate("count")})))
    feed(steps, (rows_of(range(20), 0), rows_of(range(20), 1)))
    rows = feed(steps, ([everything], [everything]))
    assert sorted(row["k"] for row in rows if row[REPORT_COLUMN] is None) == list(range(20))


# Idle streams

MINUTE = 60_000_000
IDLE = replace(SPEC, how=JoinType.LEFT, streams=(SPEC.left, replace(SPEC.right, idle_after_us=MINUTE)))


def left_results(rows: Output) -> list[int]:
    return [row["k"] for row in rows if row["_kind"] == "result"]


@pytest.mark.parametrize(
    "endings_first",
    [False, True],
)
def test_an_idle_stream_is_released_whatever_the_order_of_blobs(endings_first: bool) -> None:
    """A separate stream of endings is no sign of life, and does not hide the time of the batch."""
    clear_cache()
    steps = Steps(make_query(IDLE, 2))
    steps.run(pack_batch(steps.query, (rows_of([1], 0), rows_of([2], 0)), batch_us=0))
    later = [*rows_of([3], 500), Punctuation(400, (Constant(9), *[WILDCARD] * 3), in_band=False)]
    packed = pack_batch(steps.query, (later, []), batch_us=MINUTE)
    order = range(len(packed))[:: -1 if endings_first else 1]
    assert left_results(steps.run(packed.take(pa.array(order)))) == [1]


def test_an_idle_stream_does_not_follow_a_bad_clock() -> None:
    clear_cache()
    spec = replace(IDLE, streams=(replace(IDLE.left, max_ahead_us=10), IDLE.right))
    steps = Steps(make_query(spec, 2))
    steps.run(pack_batch(steps.query, (rows_of([1], 0), rows_of([2], 0)), batch_us=0))
    steps.run(pack_batch(steps.query, ([*rows_of([3], 5), *rows_of([4], 10**9)], []), batch_us=MINUTE))
    rows = steps.run(pack_batch(steps.query, ([], rows_of([3], 7)), batch_us=MINUTE + 1))
    assert left_results(rows) == [3]


# A state and a query that do not fit


def restart(before: Query, after: Query, *batches: Batch) -> tuple[Steps, Callable[[Batch], Output]]:
    """Some batches of one query; then a function that runs a batch of another query on the same state."""
    old, new = Steps(before), Steps(after)
    feed(old, *batches)
    new.load(old.save())
    clear_cache()
    return new, lambda batch: new.run(pack_batch(new.query, batch))


def with_window(span: int) -> JoinSpec:
    return replace(SPEC, streams=(replace(SPEC.left, window=TimeWindow(span)), SPEC.right))


SOME = rows_of(range(20), 0), rows_of(range(20), 0)
QUERY = make_query(SPEC, 2)
WHERE = replace(QUERY, join=replace(QUERY.join, where=pt.left("v") == pt.right("v")))
SUMMED = make_query(SPEC, 2, View.GROUPS, Grouping(("k",), {"s": Aggregate("sum", "v_left")}))
GROUPED = make_query(SPEC, 2, View.GROUPS, Grouping(("k",), {"n": Aggregate("count")}))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (QUERY, make_query(with_window(101), 2), r"its window of 'A' is .*100 µs, here it is .*101 µs"),
        (QUERY, make_query(SPEC, 2, key=pa.float64()), "its key types is int64, here it is double"),
        (QUERY, make_query(replace(SPEC, algorithm=choose_algorithm("wjoin")), 2), "its algorithm is"),
        (QUERY, make_query(SPEC, 3), "buckets"),
        (QUERY, make_query(SPEC, 1), "buckets"),
        (make_query(SPEC, 1), QUERY, "buckets"),
        (QUERY, WHERE, r"its extra predicate \(where=\) is absent, here it is \(left.v == right.v\)"),
        (WHERE, QUERY, r"is \(left.v == right.v\), here it is absent"),
        (QUERY, GROUPED, r"its grouping is absent, here it is by k: n = count\(\)"),
        (GROUPED, QUERY, r"its grouping is by k: n = count\(\), here it is absent"),
        (GROUPED, SUMMED, r"its grouping is by k: n = count\(\), here it is by k: s = sum\(v_left\)"),
    ],
    ids=[
        "window",
        "key",
        "algorithm",
        "more",
        "fewer",
        "one",
        "where",
        "no where",
        "grouped",
        "ungrouped",
        "regrouped",
    ],
)
def test_a_state_of_another_query_is_refused(before: Query, after: Query, message: str) -> None:
    _, go_on = restart(before, after, SOME)
    with pytest.raises(SnapshotError, match=message):
        go_on(SOME)


def test_every_view_without_groups_goes_on_with_the_same_state() -> None:
    _, go_on = restart(QUERY, QUERY.seen_as(View.PUNCTUATIONS), SOME)
    rows = go_on((endings_of([3], 1), endings_of([3], 1)))
    assert [row["k"] for row in rows if row[REPORT_COLUMN] is None] == [3]


def go_on_as(query: Query, old: Steps, batch: Batch) -> Output:
    """What another query brings on the same state, in the worker where the one before has run."""
    new = Steps(query)
    new.load(old.save())
    return [row for row in new.run(pack_batch(query, batch)) if row[REPORT_COLUMN] is None]


@pytest.mark.parametrize("view", [View.ALL, View.PUNCTUATIONS, View.REJECTED, View.CHAIN])
def test_a_cached_bucket_does_not_serve_another_view(view: View) -> None:
    """All is timed and results are not: one bucket in memory cannot be both."""
    steps, again = Steps(QUERY.seen_as(View.RESULTS)), rows_of(range(20), 1)
    feed(steps, SOME)
    kinds = Counter(row["_kind"] for row in go_on_as(QUERY, steps, ([], again)))
    assert kinds == {"result": 20}
    feed(steps := Steps(QUERY.seen_as(view)), SOME)
    assert len(go_on_as(QUERY.seen_as(View.RESULTS), steps, ([], again))) == 20


def test_a_cached_bucket_of_groups_is_no_bucket_of_results() -> None:
    """Refused as without a cache; and groups, when they go on, have counted everything."""
    results, groups = QUERY.seen_as(View.RESULTS), QUERY.seen_as(View.GROUPS, GROUPED.join.grouping)
    feed(steps := Steps(groups), SOME)
    with pytest.raises(SnapshotError, match="its grouping is by k"):
        go_on_as(results, steps, ([], rows_of([3], 1)))
    steps.run(pack_batch(groups, ([], rows_of([3], 2))))
    rows = go_on_as(groups, steps, (endings_of([3], 3), [*rows_of([3], 3), *endings_of([3], 3)]))
    assert [(row["k"], row["n"]) for row in rows] == [(3, 3)]
    feed(steps := Steps(results), SOME)
    with pytest.raises(SnapshotError, match="its grouping is absent"):
        go_on_as(groups, steps, ([], rows_of([3], 1)))


def test_open_groups_apart_from_the_key_know_their_grouping() -> None:
    """They have a state of their own, in the step behind the join."""
    by_v, by_w = (Grouping(("v_left",), {name: Aggregate("count")}) for name in ("n", "m"))
    old, same, new = (QUERY.seen_as(View.GROUPS, each) for each in (by_v, by_v, by_w))
    row = {"k": 1, "v_left": 5, TIME: 0}
    schema = QUERY.join.results.append(pa.field(TIME, pa.int64()))
    data = to_ipc(pa.Table.from_pylist([row], schema=schema)).to_pybytes()

    def run(query: Query, ended: bool, saved: Any = None) -> tuple[list[Any], Any]:
        tester = TwsTester(GroupStep(query))
        if saved is not None:
            tester.updateValueState("groups", 0, saved)
        tester.handle.setGroupingKey(0)
        frame = pd.DataFrame({"ended": [ended], "reached": [NEVER], "data": [data]})
        step: GroupStep = tester.processor  # type: ignore[assignment]
        frames = list(step.handleInputRows((0,), iter([frame]), TimerValues(-1, -1)))
        return [row for each in frames for row in each.to_dict("records")], tester.peekValueState("groups", 0)

    _, saved = run(old, ended=False)
    assert run(same, ended=True, saved=saved)[0] == [{"v_left": 5, "n": 2}]
    with pytest.raises(SnapshotError, match=r"its grouping is by v_left: n = count\(\), here it is by v_left: m"):
        run(new, ended=False, saved=saved)


def test_a_smaller_window_is_accepted() -> None:
    _, go_on = restart(make_query(with_window(100), 2), make_query(with_window(10), 2), (rows_of([1, 2], 0), []))
    rows = go_on(([], [*rows_of([1], 9), *rows_of([2], 11)]))
    assert [row["k"] for row in rows if row["_kind"] == "result"] == [1]


def widened(query: Query, column: str) -> Query:
    """The query after both inputs have gained a column, at the end or between the others."""
    place = len(COLUMNS) if column == "more" else 2
    schemas = [reader.schema.insert(place, pa.field(column, pa.string())) for reader in query.join.inputs]
    streams = [replace(query.join.spec.streams[side], columns=tuple(schemas[side].names)) for side in Side]
    left, right = (Reader(streams[side], "pattern", schemas[side], query.join.key_types) for side in Side)
    spec = replace(query.join.spec, streams=tuple(streams))
    return replace(query, join=replace(query.join, spec=spec, inputs=(left, right)))


def go_on_with_more(query: Query, *said: Punctuation, name: str = "more") -> Output:
    """What a query brings that has gained a column: a tuple of the right stream, and the end of both."""
    steps, _ = restart(query, widened(query, name), ([*SOME[0], *said], SOME[1]))
    end = {"ts": 3, "pattern": "<*,*,*,*,*>"}
    rows = run_row(steps, RIGHT, {"k": 5, "ts": 3, "v": 3, name: "new"})
    return [*rows, *run_row(steps, LEFT, end), *run_row(steps, RIGHT, end)]


def run_row(steps: Steps, side: Side, row: dict[str, Any]) -> Output:
    """What one row of a stream brings."""
    reader = steps.query.join.inputs[side]
    table = pa.Table.from_pylist([row], schema=reader.schema.append(pa.field("pattern", pa.string())))
    packed = pa.Table.from_batches(list(Pack(side, reader, steps.query.join.n_buckets)(iter(table.to_batches()))))
    return [each for each in steps.run(packed) if each[REPORT_COLUMN] is None]


def test_a_new_column_is_accepted() -> None:
    rows = [row for row in go_on_with_more(QUERY) if row["_kind"] == "result"]
    assert [(row["k"], row["more_left"], row["more_right"]) for row in rows] == [(5, None, "new")]
    assert {row["k"]: row["n"] for row in go_on_with_more(GROUPED)} == {key: 1 + (key == 5) for key in range(20)}


@pytest.mark.parametrize("name", ["more", "a column between the others"])
def test_a_new_column_is_accepted_beside_a_promise(name: str) -> None:
    """The promise is of the left stream, which then breaks it; the right one has promised nothing."""
    query = make_query(replace(SPEC, streams=(replace(SPEC.left, window=None), SPEC.right)), 2)
    promise = Punctuation(1, (WILDCARD, WILDCARD, Constant(3), WILDCARD))
    rows = go_on_with_more(query, promise, name=name)
    assert sum(row["_kind"] == "result" for row in rows) == 1
    steps, _ = restart(query, widened(query, name), ([*SOME[0], promise], SOME[1]))
    rows = run_row(steps, LEFT, {"k": 5, "ts": 3, "v": 3, name: "new"})
    assert [row["_reason"] for row in rows if row["_kind"] == "rejected"] == ["promise"]


def test_a_new_column_is_accepted_by_ordered_groups() -> None:
    query = make_query(SPEC, 2, View.GROUPS, Grouping(("k",), {"last": Aggregate("last", "v_right")}))
    assert {row["k"]: row["last"] for row in go_on_with_more(query)} == {key: 3 * (key == 5) for key in range(20)}


# Corrupt rows


def test_what_an_earlier_join_has_rejected_is_passed_on_and_not_counted_again() -> None:
    columns = pa.schema([*QUERY.join.results, (TIME, pa.int64())])
    chained = StreamSpec("AB", tuple(columns.names), ("k",), TIME, is_output=True)
    reader = ChainReader(chained, None, columns, (pa.int64(),))
    spec, inputs = replace(SPEC, streams=(chained, SPEC.right)), (reader, QUERY.join.inputs[RIGHT])
    query = replace(QUERY, join=replace(QUERY.join, spec=spec, inputs=inputs))
    rejected = pa.table([["A", "A"], ["late", "corrupt"], [5, None], ["{}", "{}"]], schema=REJECTED_SCHEMA)
    told = QUERY.join.views.table(View.CHAIN, [BatchResult(rejected=[RenderedTuples(rejected)])])
    packed = pa.Table.from_batches(list(Pack(LEFT, reader, 2)(iter(told.to_batches()))))
    clear_cache()
    rows, counted = Steps(query).run(packed), Metrics()
    counted.note(row[REPORT_COLUMN] for row in rows)
    assert [(row["_reason"], row["_ts"]) for row in rows if row["_kind"] == "rejected"] == [
        ("late", 5),
        ("corrupt", None),
    ]
    assert counted.total("rejected") == 0


def test_a_corrupt_row_is_shown_with_what_is_wrong_with_it() -> None:
    reader = QUERY.join.inputs[LEFT]
    rows = [{"k": 1}, {"k": 2, "ts": 2}, {"ts": 3, "pattern": "<oops"}]
    table = pa.Table.from_pylist(rows, schema=reader.schema.append(pa.field("pattern", pa.string())))
    steps = Steps(QUERY)
    clear_cache()
    seen = steps.run(pa.Table.from_batches(list(Pack(LEFT, reader, 2)(iter(table.to_batches())))))
    shown = [json.loads(row["_row"]) for row in seen if row["_kind"] == "rejected"]
    assert [(each["row"]["k"], each["row"]["pattern"], each["error"][:11]) for each in shown] == [
        (1, None, "its time is"),
        (None, "<oops", "at position"),
    ]
    counted = Metrics()
    counted.note(row[REPORT_COLUMN] for row in seen)
    assert counted.total("rejected") == counted.total("rejected_corrupt_left") == len(shown)
    assert counted.total("rejected_corrupt_right") == 0


def narrow_query() -> Query:
    """The same join over streams whose keys are of 32 bits."""
    schemas = [reader.schema.set(0, pa.field("k", pa.int32())) for reader in QUERY.join.inputs]
    left, right = (Reader(SPEC.streams[side], "pattern", schemas[side], (pa.int32(),)) for side in Side)
    return Query(replace(QUERY.join, inputs=(left, right)))


@pytest.mark.parametrize(
    "bad",
    [
        {"ts": 1, "pattern": "<oops"},
        {"ts": 1, "pattern": "<3000000000,*,*,*>"},  # beyond the key's type
        {"ts": 1, "pattern": "<[0,3000000000],*,*,*>"},
        {"ts": 1, "pattern": f"<*,(,{2**62 + 1}),*,*>"},  # beyond all times
        {"ts": 1, "pattern": f"<*,(,{2**63 - 1}],*,*>"},
        {"ts": 2**61, "pattern": "<1,*,*,*>"},
        {"k": 1, "ts": 2**61},
        {"k": 1, "ts": -(2**61)},
        {"k": 1, "ts": None},
    ],
    ids=str,
)
def test_one_bad_row_is_rejected_and_the_query_goes_on(bad: dict[str, Any]) -> None:
    query = narrow_query()
    clear_cache()
    steps = Steps(query)

    def run(side: Side, *rows: dict[str, Any]) -> Output:
        reader = query.join.inputs[side]
        table = pa.Table.from_pylist(list(rows), schema=reader.schema.append(pa.field("pattern", pa.string())))
        packed = pa.Table.from_batches(list(Pack(side, reader, 2)(iter(table.to_batches()))))
        return [row for row in steps.run(packed) if row[REPORT_COLUMN] is None]

    seen = run(LEFT, {"k": 1, "ts": 0}, bad, {"k": 2, "ts": 2})
    assert [(row["_kind"], row["_reason"]) for row in seen] == [("rejected", "corrupt")]
    assert json.loads(seen[0]["_row"])["row"]["pattern"] == bad.get("pattern")
    assert sorted(row["k"] for row in run(RIGHT, {"k": 1, "ts": 3}, {"k": 2, "ts": 3})) == [1, 2]


@pytest.mark.parametrize("at", [2**61, None])
def test_one_bad_ending_is_rejected_and_the_query_goes_on(at: int | None) -> None:
    reader = QUERY.join.inputs[LEFT]
    table = pa.table({"key": [1, 2], "at": pa.array([0, at], pa.int64())})
    clear_cache()
    packed = Pack(LEFT, reader, 2, announced=(("key",), "at"))(iter(table.to_batches()))
    seen = Steps(QUERY).run(pa.Table.from_batches(list(packed)))
    assert [json.loads(row["_row"])["row"]["key"] for row in seen if row["_kind"] == "rejected"] == [2]
