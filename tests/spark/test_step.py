"""Pack and step, without a JVM: whatever the cache holds and however often a batch is attempted, they equal the oracle."""

from collections.abc import Callable, Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from punctuated.model.spec import JoinSpec
from punctuated.spark.cache import CACHE
from punctuated.testing.checks import Observed, check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import Metrics, Output, Steps, clear_cache, ends, is_spreadable, make_query, observe, pack_batch

import pyarrow as pa

RANDOMS = st.randoms(use_true_random=False)
Runner = Callable[[Steps, pa.Table], Output]


def run_steps(spec: JoinSpec, batches: Sequence[Batch], n_buckets: int, random: Random, run: Runner) -> list[Observed]:
    """What each batch brings, the end included, if each is run by `run`."""
    steps, metrics = Steps(make_query(spec, n_buckets)), Metrics({})
    seen = []
    for batch in [*batches, ends(spec, batches)]:
        rows = run(steps, pack_batch(steps.query, batch, random))
        metrics.note(rows)
        seen.append(observe(spec, rows, metrics))
    return seen


def once(steps: Steps, packed: pa.Table) -> Output:
    return steps.run(packed)


@given(cases().filter(is_spreadable), st.integers(1, 5), RANDOMS)
def test_steps_equal_the_oracle_with_a_cache(case: Case, n: int, random: Random) -> None:
    check_equals_oracle(lambda spec, batches: run_steps(spec, batches, n, random, once), case.spec, case.batches)
