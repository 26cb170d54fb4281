"""Joins of joins and groups apart on Spark, equal to those on tables."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import punctuated as pt

N, BATCHES = 60, 3


def table(seed: int, name: str) -> pa.Table:
    """Keys that come and go; the last tuple of each is marked."""
    random = np.random.default_rng(seed)
    keys = np.sort(random.integers(0, 12, N)) + random.integers(0, 3, N)
    last = np.zeros(N, np.bool_)
    last[[np.flatnonzero(keys == key)[-1] for key in np.unique(keys)]] = True
    times = np.arange(N) * 10 + random.integers(0, 10, N)
    return pa.table({"k": keys, "ts": times, name.lower(): np.arange(N), f"last_{name}": last})


TABLES = {name: table(seed, name) for seed, name in enumerate("ABC")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file per stream and batch; Spark takes them by their times of change."""
    root = tmp_path_factory.mktemp("chained")
    for name, rows in TABLES.items():
        (root / name).mkdir()
        for i in range(BATCHES):
            path = root / name / f"{i}.parquet"
            pq.write_table(rows.slice(i * N // BATCHES, N // BATCHES), path)
            os.utime(path, (1_000 + i, 1_000 + i))
    return root


def declared(name: str, data: Any) -> pt.Stream:
    made: pt.Stream = pt.stream(data, name=name, key="k", time="ts", window=200, punctuations=pt.when(f"last_{name}"))
    return made


def on_tables(name: str) -> pt.Stream:
    rows = TABLES[name]
    return declared(name, [rows.slice(i * N // BATCHES, N // BATCHES) for i in range(BATCHES)])


def chain(stream: Callable[[str], pt.Stream]) -> Any:
    joined = pt.join(stream("A"), stream("B"))
    return pt.join(pt.stream(joined, name="AB", window=150), stream("C"))


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_three_streams_in_a_streaming_query(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    def streaming(name: str) -> pt.Stream:
        schema = f"k BIGINT, ts BIGINT, {name.lower()} BIGINT, last_{name} BOOLEAN"
        files = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / name))
        return declared(name, files)

    writer = chain(streaming).all.writeStream.format("memory").queryName("chained")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    found = spark.table("chained").collect()
    expected = chain(on_tables)
    names = expected.results.column_names
    assert sorted(tuple(row[n] for n in names) for row in found if row["_kind"] == "result") == rows_of(
        expected.results
    )
    punctuated = [row["k"] for row in found if row["_kind"] == "punctuation"]
    assert len(set(punctuated)) == len(punctuated) > 0
    assert set(punctuated) <= set(expected.punctuations["k"].to_pylist())  # the rest comes when the streams end
    assert not [row for row in found if row["_kind"] == "rejected"]
    assert pt.metrics.joins_in(query.recentProgress[-1]) == ["", "A B"]


def test_groups_without_the_join_key_in_a_batch_query(spark: SparkSession, folder: Path) -> None:
    def groups(stream: Callable[[str], pt.Stream]) -> Any:
        grouped = pt.join(stream("A"), stream("B")).group_by("last_A", "b")
        with pytest.warns(pt.LateGroupsWarning, match="only when both streams have ended"):
            return grouped.agg(n=pt.count(), most=pt.max("a"), first=pt.first("a"))

    found = groups(lambda name: declared(name, spark.read.parquet(str(folder / name))))
    assert sorted(tuple(row) for row in found.collect()) == rows_of(groups(on_tables))


def final_counts(stream: Callable[[str], pt.Stream]) -> Any:
    """Groups of a join, joined with a third stream."""
    counts = pt.join(stream("A"), stream("B")).group_by("k").agg(n=pt.count(), most=pt.max("b"))
    return pt.join(pt.stream(counts, name="G", window=300), stream("C"))


def test_groups_go_on_as_a_stream(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    def streaming(name: str) -> pt.Stream:
        schema = f"k BIGINT, ts BIGINT, {name.lower()} BIGINT, last_{name} BOOLEAN"
        files = spark.readStream.schema(schema).option("maxFilesPerTrigger", 2).parquet(str(folder / name))
        return declared(name, files)

    final_counts(streaming).write_to(
        results=str(tmp_path / "results"),
        rejected=str(tmp_path / "rejected"),
        checkpoint=str(tmp_path / "checkpoint"),
        trigger="availableNow",
        finish=True,
    ).awaitTermination()
    expected = final_counts(on_tables)
    found = spark.read.parquet(str(tmp_path / "results")).drop("batch_id").toArrow()
    assert rows_of(found.select(expected.results.column_names)) == rows_of(expected.results)
    assert expected.results.num_rows > 0
    assert spark.read.parquet(str(tmp_path / "rejected")).count() == 0


def test_groups_without_the_join_key_go_on_in_a_batch_query(spark: SparkSession, folder: Path) -> None:
    def joined(stream: Callable[[str], Any]) -> Any:
        with pytest.warns(pt.LateGroupsWarning):
            counts = pt.join(*(declared(name, stream(name)) for name in "AB")).group_by("b").agg(n=pt.count())
        third = pt.stream(stream("C"), name="C", key="c", time="ts")
        with pytest.warns(pt.UnboundedStateWarning):
            return pt.join(pt.stream(counts, name="G", key="b"), third)

    found = joined(lambda name: spark.read.parquet(str(folder / name))).results.toArrow()
    expected = joined(TABLES.__getitem__).results
    assert rows_of(found) == rows_of(expected)
    assert expected.num_rows > 0
