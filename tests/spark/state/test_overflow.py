"""States beyond memory on Spark: what is not in memory is in the state store, and comes back from there."""

import os
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
from punctuated.model.memory import Memory
from punctuated.model.spec import JoinSpec
from punctuated.spark.session.local import read_files, write_files
from punctuated.spark.state import store as stored_tables
from punctuated.spill import value_blocks
from punctuated.storage.chunk_files import FOLDER_VARIABLE
from punctuated.testing.checks import COUNTED, Observed, check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import Steps, clear_cache, ends, is_spreadable, make_query, observe, pack_batch
from spark.state.test_spoilt_files import spoil
from storage.test_chunk_files import chunks

FEWER = settings(max_examples=settings().max_examples // 4)


@FEWER
@given(cases().filter(is_spreadable), st.integers(1, 3), st.integers(1, 9), st.integers(0, 1 << 30).map(Random))
def test_steps_with_little_memory_equal_the_oracle(case: Case, n_buckets: int, memory: int, random: Random) -> None:
    """Workers lose what they have in memory and in files now and then, and attempts fail after a part of their work."""
    folder = Path(os.environ[FOLDER_VARIABLE]) / "chunks"

    def spilling(spec: JoinSpec, batches: Sequence[Batch]) -> list[Observed]:
        clear_cache()
        query = make_query(replace(spec, memory=Memory(tuples=memory)), n_buckets)
        steps = Steps(replace(query, join=replace(query.join, at_once=random.choice([None, 1]))))
        seen = []
        for batch in [*batches, ends(spec, batches)]:
            packed = pack_batch(steps.query, batch, random)
            if random.random() < 0.3:
                saved = steps.save()
                steps.abandon(packed, random.randint(0, 2))
                steps.load(saved)
            if random.random() < 0.5:
                clear_cache()
            for path in chunks(folder) if random.random() < 0.5 else []:
                spoil(path, random)
            seen.append(observe(spec, steps.run(packed)))
        return seen

    with pytest.MonkeyPatch.context() as patch:
        for name in ("_MAPPED", "_WHOLE"):
            patch.setattr(stored_tables, name, 150)  # three tuples or so
        patch.setattr(value_blocks, "_MERGED", 2)
        check_equals_oracle(spilling, case.spec, case.batches, but=("stored", "forgotten", *COUNTED))
    for path in chunks(folder):
        path.unlink()


def tables(n: int = 2_000) -> dict[str, pa.Table]:
    """Each value once on the left and three times on the right, up to 400 values later."""
    random, times = np.random.default_rng(3), np.arange(n) * 1_000
    left = pa.table({"k": np.arange(n), "ts": times, "v": np.arange(n)})
    keys = np.clip(np.arange(n) - random.integers(0, 400, n), 0, None)
    return {"A": left, "B": pa.table({"k": keys, "ts": times, "w": np.arange(n)})}


def joined(sources: dict[str, Any], **options: Any) -> Any:
    ours, other = (pt.stream(each, name=name, key="k", time="ts") for name, each in sources.items())
    return pt.join(ours, other, **options)


def run(spark: SparkSession, folder: Path, parts: dict[str, list[pa.Table]], first: int, **options: Any) -> None:
    for name, tables in parts.items():
        write_files(folder / name, tables, first)
    streams = {name: read_files(spark, folder / name) for name in parts}
    finish = options.pop("finish", False)
    join = joined(streams, memory=200, buckets=2, **options)
    places = {"results": folder / "results", "checkpoint": str(folder / "checkpoint")}
    join.write_to(**places, trigger="availableNow", finish=finish).awaitTermination()


def check(spark: SparkSession, folder: Path, given: dict[str, pa.Table]) -> None:
    found, wanted = spark.read.parquet(str(folder / "results")).toArrow(), joined(given).results
    pairs = [sorted(zip(*(each[name].to_pylist() for name in "vw"), strict=True)) for each in (found, wanted)]
    assert pairs[0] == pairs[1]


@pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")
def test_a_query_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    given = tables()
    for first in (0, 2):
        parts = {name: [each.slice(at * 500, 500) for at in (first, first + 1)] for name, each in given.items()}
        run(spark, tmp_path, parts, first)
    check(spark, tmp_path, given)


@pytest.mark.filterwarnings("ignore::punctuated.UnboundedStateWarning")
def test_the_end_of_a_query_joins_what_is_left(spark: SparkSession, tmp_path: Path) -> None:
    given = tables()
    parts = {name: [each.slice(at, 500) for at in range(0, 2_000, 500)] for name, each in given.items()}
    run(spark, tmp_path, parts, 0, algorithm="xjoin", finish=True)
    check(spark, tmp_path, given)
