"""Pack and step, without a JVM: whatever the cache holds, however often a batch is attempted, they equal the oracle."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punctuated.model.spec import JoinSpec
from punctuated.spark import bucket_state
from punctuated.spark.cache import CACHE
from punctuated.spark.query import METRICS
from punctuated.testing.checks import Observed, check_equals_oracle
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
Runner = Callable[[Steps, Batch, Random], Output]


def run_steps(spec: JoinSpec, batches: Sequence[Batch], n_buckets: int, random: Random, run: Runner) -> list[Observed]:
    """What each batch brings, the end included, if each is run by `run`."""
    clear_cache()
    steps, metrics = Steps(make_query(spec, n_buckets)), Metrics({})
    seen = []
    for batch in [*batches, ends(spec, batches)]:
        rows = run(steps, batch, random)
        metrics.note(rows)
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
            token = steps.token(number)
            if token is not None and random.random() < 0.5:
                kept.append((number, token, steps.restored(number)))
        return steps.run(pack_batch(steps.query, batch, random))

    check_steps(case, n, random, run)


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
    return Counter(json.dumps(row, sort_keys=True) for row in rows if row[METRICS] is None)


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
