"""A stream by itself, unions and distinct rows on Spark: what the same calls give on tables, also after a restart."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.spark.session.local import read_files, write_files


def tables(n_rows: int = 400) -> dict[str, pa.Table]:
    """Streams of values that end: each value's last tuple says so."""
    random, found = np.random.default_rng(5), {}
    for name in "ABC":
        keys = np.arange(n_rows) // 6 - random.integers(0, 5, n_rows)
        last = {int(key): place for place, key in enumerate(keys)}
        is_last = [last[int(key)] == place for place, key in enumerate(keys)]
        times = pa.array(np.arange(n_rows) * 1_000_000, pa.timestamp("us", "UTC"))
        found[name] = pa.table({"k": keys, "ts": times, "v": random.integers(0, 3, n_rows), "last": is_last})
    return found


def declare(sources: dict[str, Any]) -> list[Any]:
    ended = pt.when("last")
    return [pt.stream(source, name=name, key="k", time="ts", punctuations=ended) for name, source in sources.items()]


def counted(table: pa.Table, like: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.select(like.column_names).cast(like.schema).to_pylist()))


def test_queries_go_on_where_they_were_and_give_what_tables_give(spark: SparkSession, tmp_path: Path) -> None:
    """A union, and of one of its streams the distinct rows: those of a value that was told before the restart, too."""
    given, sinks = tables(), {part: tmp_path / part for part in ("results", "punctuations")}
    for first in (0, 2):
        for name, table in given.items():
            parts = [table.slice(at, 100) for at in range(0, 400, 100)]
            write_files(tmp_path / name, parts[first : first + 2], first)
        streams = declare({name: read_files(spark, tmp_path / name) for name in given})
        united, alone = pt.union(*streams, buckets=2), pt.only(streams[0], buckets=2)
        queries = [
            united.write_to(**sinks, checkpoint=str(tmp_path / "of union"), trigger="availableNow"),
            pt.write_to(
                alone.distinct("k", "v"),
                groups=tmp_path / "distinct",
                checkpoint=str(tmp_path / "of distinct"),
                trigger="availableNow",
            ),
        ]
        for query in queries:
            query.awaitTermination()
    wanted = pt.union(*declare(given))
    assert counted(spark.read.parquet(str(sinks["results"])).toArrow(), wanted.results) == counted(
        wanted.results, wanted.results
    )
    over = spark.read.parquet(str(sinks["punctuations"])).toArrow()["k"].to_pylist()
    assert len(over) == len(set(over)) > 50
    told = pt.only(declare(given)[0]).distinct("k", "v")
    assert 100 < len(told) < 400
    assert counted(spark.read.parquet(str(tmp_path / "distinct")).toArrow(), told) == counted(told, told)


def test_groups_chains_and_distinct_rows_of_batches(spark: SparkSession) -> None:
    given = tables(200)
    frames = {name: spark.createDataFrame(table) for name, table in given.items()}
    on_spark, on_tables = (pt.only(declare(each)[0]) for each in (frames, given))
    groups = on_tables.group_by("k").agg(n=pt.count())
    assert counted(on_spark.group_by("k").agg(n=pt.count()).toArrow(), groups) == counted(groups, groups)
    with pytest.warns(pt.UnboundedStateWarning, match="distinct"):  # in a step behind that of the stream
        apart, wanted = on_spark.distinct("v").toArrow(), on_tables.distinct("v")
    assert counted(apart, wanted) == counted(wanted, wanted)
    joins = []
    for alone, others in ((on_spark, frames), (on_tables, given)):
        first = pt.stream(alone.distinct("k", "v"), name="D", window="9 seconds")
        joins.append(pt.join(first, pt.stream(others["B"], name="B", key="k", time="ts", window="9 seconds")))
    wanted = joins[1].results
    assert len(wanted) > 100
    assert counted(joins[0].results.toArrow(), wanted) == counted(wanted, wanted)
    assert on_spark.explain().startswith("A by itself, by k")
