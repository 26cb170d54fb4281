"""States beyond memory on Spark: what is not in memory is in the state store, and comes back from there."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.experiments.file_stream import read_files, write_files
from punctuated.join.overflow.cold import cold_blocks
from punctuated.model.memory import Memory
from punctuated.model.spec import JoinSpec
from punctuated.testing.checks import Observed, check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import Steps, clear_cache, ends, is_spreadable, make_query, observe, pack_batch

FEWER = settings(max_examples=settings().max_examples // 4)
LATER = ("stored", "purged", "invalidated", "discarded", "dropped", "forgotten")  # of tuples that are not in memory


@FEWER
@given(cases().filter(is_spreadable), st.integers(1, 3), st.integers(1, 9), st.integers(0, 1 << 30).map(Random))
def test_steps_with_little_memory_equal_the_oracle(case: Case, n_buckets: int, memory: int, random: Random) -> None:
    """Workers lose what they have in memory now and then, and attempts fail after a part of their work."""

    def spilling(spec: JoinSpec, batches: Sequence[Batch]) -> list[Observed]:
        clear_cache()
        steps = Steps(make_query(replace(spec, memory=Memory(tuples=memory)), n_buckets))
        seen = []
        for batch in [*batches, ends(spec, batches)]:
            packed = pack_batch(steps.query, batch, random)
            if random.random() < 0.3:
                saved = steps.save()
                steps.abandon(packed, random.randint(0, 2))
                steps.load(saved)
            if random.random() < 0.5:
                clear_cache()
            seen.append(observe(spec, steps.run(packed)))
        return seen

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cold_blocks, "BLOCK", 3)
        patch.setattr(cold_blocks, "_MERGED", 2)
        check_equals_oracle(spilling, case.spec, case.batches, but=LATER)


def tables(n: int = 2_000) -> dict[str, pa.Table]:
    """Each value once on the left and three times on the right, up to 400 values later."""
    random, times = np.random.default_rng(3), np.arange(n) * 1_000
    left = pa.table({"k": np.arange(n), "ts": times, "v": np.arange(n)})
    keys = np.clip(np.arange(n) - random.integers(0, 400, n), 0, None)
    return {"A": left, "B": pa.table({"k": keys, "ts": times, "w": np.arange(n)})}


def joined(sources: dict[str, Any], **options: Any) -> Any:
    ours, other = (pt.stream(each, name=name, key="k", time="ts") for name, each in sources.items())
    return pt.join(ours, other, **options)


@pytest.mark.parametrize("algorithm", ["pwjoin", "xjoin"])
@pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")
def test_a_query_goes_on_where_it_was(spark: SparkSession, tmp_path: Path, algorithm: str) -> None:
    given = tables()
    for first in (0, 2):
        for name, table in given.items():
            write_files(tmp_path / name, [table.slice(at * 500, 500) for at in (first, first + 1)], first)
        streams = {name: read_files(spark, tmp_path / name) for name in given}
        query = joined(streams, algorithm=algorithm, memory=200, buckets=2).write_to(
            results=tmp_path / "results",
            checkpoint=str(tmp_path / "checkpoint"),
            trigger="availableNow",
            finish=first == 2,
        )
        query.awaitTermination()
    found = spark.read.parquet(str(tmp_path / "results")).toArrow()
    wanted = joined(given).results
    assert sorted(zip(*(found[name].to_pylist() for name in "vw"), strict=True)) == sorted(
        zip(*(wanted[name].to_pylist() for name in "vw"), strict=True)
    )
