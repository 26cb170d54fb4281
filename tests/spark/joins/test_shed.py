"""Shedding on Spark: by row hash, from what earlier batches committed, the same whenever a batch is repeated."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.spark.session.local import write_files
from spark.spark_harness import Running, read_files

SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.float64()), ("last", pa.bool_())])


def tables(seed: int) -> list[pa.Table]:
    drawn = np.random.default_rng(seed)
    made = []
    for batch in range(4):
        n = 400
        ts = np.sort(drawn.integers(batch * 10_000_000, (batch + 1) * 10_000_000, n))
        last = (np.arange(n) >= n - 3) & (batch == 3)
        keys = np.where(last, np.arange(n) % 3, drawn.integers(0, 3, n))
        made.append(pa.table([keys, ts, drawn.normal(5, 1, n), last], schema=SCHEMA))
    return made


def joined(spark: SparkSession, folder: Path, shed: Any, buckets: int = 2) -> Any:
    streams = []
    for number, name in enumerate("AB"):
        if not (folder / name).exists():
            write_files(folder / name, tables(number))
        frame = read_files(spark, folder / name, SCHEMA, streaming=True)
        streams.append(
            pt.stream(frame, name=name, key="k", time="ts", window="2 seconds", punctuations=pt.when("last"))
        )
    return pt.join(streams[0], streams[1], shed=shed, buckets=buckets)


def rows(frame: Any, checkpoint: Path) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in Running(frame, checkpoint).table.to_pylist())


def test_a_repeated_query_sheds_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    shed = pt.shed(rate=20, tuples=60, floor=2, seed=5)
    one, two = (rows(joined(spark, tmp_path, shed).results, tmp_path / f"checkpoint {i}") for i in range(2))
    whole = rows(joined(spark, tmp_path, None).results, tmp_path / "checkpoint whole")
    assert one == two
    assert 0 < len(one) < len(whole) / 2
    assert set(one) <= set(whole)


def test_the_metrics_tell_what_was_shed(spark: SparkSession, tmp_path: Path) -> None:
    query = joined(spark, tmp_path, pt.shed(rate=20, tuples=60, floor=2, seed=5)).results.writeStream.format("noop")
    running = query.option("checkpointLocation", str(tmp_path / "metrics")).trigger(availableNow=True).start()
    running.awaitTermination()
    last = [each for each in map(pt.metrics.of, running.recentProgress) if each is not None][-1]
    assert 0 < last.total.unstored_left < last.total.tuples_left == 1600
    assert last.total.unprobed_left + last.total.unprobed_right > 1600


def test_groups_are_estimates(spark: SparkSession, tmp_path: Path) -> None:
    asked = {"n": pt.count(), "mean": pt.mean("v_left")}
    exact = Running(joined(spark, tmp_path, None).group_by("k").agg(**asked), tmp_path / "exact").table.to_pylist()
    shed = pt.shed(rate=40, seed=1)
    groups = Running(joined(spark, tmp_path, shed).group_by("k").agg(**asked), tmp_path / "shed").table
    assert groups.column_names == ["k", "n", "n_error", "mean", "mean_error"]
    truth = {group["k"]: group for group in exact}
    assert {group["k"] for group in groups.to_pylist()} == set(truth)
    for group in groups.to_pylist():
        assert group["n_error"] > 0
        assert abs(group["n"] - truth[group["k"]]["n"]) < 5 * group["n_error"]
        assert abs(group["mean"] - truth[group["k"]]["mean"]) < 5 * group["mean_error"]


def test_nothing_is_shed_while_batches_keep_to_their_trigger(spark: SparkSession, tmp_path: Path) -> None:
    whole = rows(joined(spark, tmp_path, None).results, tmp_path / "whole")
    assert rows(joined(spark, tmp_path, pt.shed(trigger="1 hour")).results, tmp_path / "trigger") == whole


def test_slow_batches_shed(spark: SparkSession, tmp_path: Path) -> None:
    """Every batch takes longer than a millisecond."""
    whole = rows(joined(spark, tmp_path, None).results, tmp_path / "whole")
    kept = rows(joined(spark, tmp_path, pt.shed(trigger="1 ms")).results, tmp_path / "trigger")
    assert 0 < len(kept) < len(whole)


def test_groups_apart_from_the_key_have_no_estimate(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(pt.AggregateError, match="group by its key"):
        joined(spark, tmp_path, pt.shed(rate=5)).group_by("v_left").agg(n=pt.count())
