"""Joins without a key on Spark: one side is spread, the other goes to every bucket; together they equal the oracle."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.model.batch import Row
from punctuated.model.spec import JOINS_OF_TWO, JoinSpec, JoinType, Side, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.spark.session.local import write_files
from punctuated.testing.checks import COUNTED, Observed, check_equals_oracle
from punctuated.testing.strategies import COLUMNS, Batch, Case
from spark.spark_harness import PATTERN, Metrics, Running, ends, in_band_table, observe, read_files

SPREAD = [how for how in JOINS_OF_TWO if how is not JoinType.FULL]
BAND = pt.band(("v", "w"), -1, 2)


def in_band(a: Row, b: Row) -> bool:
    v, w = a.values[2], b.values[2]
    return v is not None and w is not None and -1 <= w - v <= 2


@cache
def case(how: JoinType) -> Case:
    random = Random(how.value)
    left, right = (
        StreamSpec("AB"[side], COLUMNS[side], (), "ts", TimeWindow(9 - 3 * side), lateness_us=3, punctuated=True)
        for side in Side
    )
    batches: list[Batch] = [
        ([_row(random, 12 * number) for _ in range(30)], [_row(random, 12 * number) for _ in range(30)])
        for number in range(3)
    ]
    return Case(JoinSpec((left, right), how), batches)


def _row(random: Random, around: int) -> Row:
    ts = random.randint(around, around + 14)
    return Row((random.choice([1, None]), ts, random.choice([None, *range(0, 40, 3)]), random.random() < 0.5))


def on_spark(spark: SparkSession, folder: Path, given: Case, **options: Any) -> Any:
    batches = [*given.batches, ends(given.spec, given.batches)]
    streams = []
    for side in Side:
        spec = given.spec.streams[side]
        tables = [in_band_table(spec, batch[side]) for batch in batches]
        frame = read_files(spark, write_files(folder / spec.name, tables), tables[0].schema, streaming=True)
        source = pt.rows_with(PATTERN)
        streams.append(
            pt.stream(frame, name=spec.name, key=None, time="ts", window=spec.window, lateness=3, punctuations=source)
        )
    return pt.join(streams[0], streams[1], how=given.spec.how, where=BAND, **options)


@pytest.mark.parametrize("how", SPREAD)
def test_a_band_join_equals_the_oracle(spark: SparkSession, tmp_path: Path, how: JoinType) -> None:
    given, metrics = case(how), Metrics()
    query = Running(on_spark(spark, tmp_path, given, buckets=3, algorithm="TN").all, tmp_path / "checkpoint")

    def run(spec: JoinSpec, _: Sequence[Batch]) -> list[Observed]:
        seen = []
        for table, said in zip(query.batches, query.metrics, strict=True):
            metrics.note(said)
            each = observe(spec, table.to_pylist(), metrics)
            each.stored = stored_once(each.stored, spec, 3)
            seen.append(each)
        return seen

    check_equals_oracle(run, given.spec, given.batches, in_band, but=COUNTED)  # both sides in one number


def stored_once(stored: tuple[int, ...], spec: JoinSpec, n_buckets: int) -> tuple[int, ...]:
    """Tuples of the side that goes everywhere are stored in every bucket."""
    left, right = stored
    return (left // n_buckets, right) if spec.everywhere == (Side.LEFT,) else (left, right // n_buckets)


def test_a_full_join_without_a_key_needs_one_bucket(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(pt.StreamError, match="buckets=1"):
        on_spark(spark, tmp_path, case(JoinType.FULL), buckets=3)
    joined = on_spark(spark, tmp_path / "one", case(JoinType.FULL), buckets=1)
    assert "band" not in joined.explain()
