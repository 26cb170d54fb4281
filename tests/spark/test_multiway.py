"""Joins of more than two streams on Spark: packs and steps equal the oracle, and queries the same calls on tables."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import punctuated as pt
from multiway_harness import Seen, expected, shown
from punctuated.bind.bound_join import BoundJoin
from punctuated.intake.reading import Reader
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.spec import JoinSpec
from punctuated.output.views import View
from punctuated.spark.metrics.in_output import METRICS
from punctuated.spark.session.local import read_files, write_files
from punctuated.spark.session.query import Query
from punctuated.testing.checks import DOMAIN, extent
from punctuated.testing.multiway_strategies import multiway_cases
from punctuated.testing.strategies import Batch, Case
from punctuated.testing.tables import stream_schema
from spark.spark_harness import PATTERN, Output, Steps, clear_cache, pack

FEWER = settings(max_examples=settings().max_examples // 8)


# Packs and steps


def make_query(spec: JoinSpec, n_buckets: int) -> Query:
    inputs = tuple(Reader(stream, PATTERN, stream_schema(stream), (pa.int64(),)) for stream in spec.streams)
    return Query(BoundJoin(spec, inputs, None, n_buckets, View.ALL))


def observe(spec: JoinSpec, rows: Output) -> Seen:
    seen: Seen = {"results": Counter(), "punctuations": Counter(), "rejected": Counter()}
    for row in rows:
        if row["_kind"] == "result":
            members = (
                tuple(row[shown(spec, side, name)] for name in spec.streams[side].columns) for side in spec.sides
            )
            seen["results"][(*members, row["_ts"])] += 1
        elif row["_kind"] == "punctuation":
            key, patterns = row["k"], parse_punctuation(row["_pattern"], [pa.int64()])
            covered = None if key is not None else extent(patterns, DOMAIN)
            seen["punctuations"][key, covered, row["_ts"], row["_reason"]] += 1
        elif row["_kind"] == "rejected":
            seen["rejected"][row["_stream"], tuple(json.loads(row["_row"]).values()), row["_reason"]] += 1
    return seen


def run_steps(spec: JoinSpec, batches: Sequence[Batch], n_buckets: int, random: Random) -> list[Seen]:
    clear_cache()
    steps = Steps(make_query(spec, n_buckets))
    seen = []
    for batch in batches:
        packed = [pack(steps.query, side, objects, random) for side, objects in enumerate(batch)]
        if random.random() < 0.5:
            clear_cache()
        seen.append(observe(spec, [row for row in steps.run(pa.concat_tables(packed)) if row[METRICS] is None]))
    return seen


@FEWER
@given(multiway_cases(sizes=(3, 3, 4, 5)), st.integers(1, 4), st.integers(0, 1 << 30).map(Random))
def test_steps_equal_the_oracle(case: Case, n: int, random: Random) -> None:
    found, wanted = run_steps(case.spec, case.batches, n, random), expected(case.spec, case.batches)
    for mine, theirs in zip(found, wanted[:-1], strict=True):
        for name in mine:
            assert mine[name] == theirs[name], name


# Queries


def tables(n_rows: int = 600) -> dict[str, pa.Table]:
    """Three streams of values that end: each value's last tuple says so."""
    random, found = np.random.default_rng(5), {}
    for name in "ABC":
        keys = np.arange(n_rows) // 6 - random.integers(0, 5, n_rows)
        last = {int(key): place for place, key in enumerate(keys)}
        is_last = [last[int(key)] == place for place, key in enumerate(keys)]
        times = pa.array(np.arange(n_rows) * 1_000_000, pa.timestamp("us", "UTC"))
        found[name] = pa.table({"k": keys, "ts": times, "v": np.arange(n_rows), "last": is_last})
    return found


def three(sources: dict[str, Any]) -> list[Any]:
    ended = pt.when("last")
    return [pt.stream(source, name=name, key="k", time="ts", punctuations=ended) for name, source in sources.items()]


def counted(table: pa.Table, like: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.select(like.column_names).cast(like.schema).to_pylist()))


def test_a_query_goes_on_where_it_was_and_gives_what_tables_give(spark: SparkSession, tmp_path: Path) -> None:
    given = tables()
    cut = {name: [table.slice(at, 150) for at in range(0, 600, 150)] for name, table in given.items()}
    sink, checkpoint = tmp_path / "results", tmp_path / "checkpoint"
    for first in (0, 2):
        for name, parts in cut.items():
            write_files(tmp_path / name, parts[first : first + 2], first)
        streams = three({name: read_files(spark, tmp_path / name) for name in given})
        joined = pt.join(*streams, within="12 seconds", buckets=2)
        query = joined.write_to(results=sink, checkpoint=str(checkpoint), trigger="availableNow")
        query.awaitTermination()
    wanted = pt.join(*three(given), within="12 seconds").results
    assert len(wanted) > 500
    assert counted(spark.read.parquet(str(sink)).toArrow(), wanted) == counted(wanted, wanted)


def test_groups_and_chains_of_batches(spark: SparkSession) -> None:
    given = tables(300)
    frames = {name: spark.createDataFrame(table) for name, table in given.items()}
    on_spark, on_tables = (pt.join(*three(each), within="12 seconds") for each in (frames, given))
    asked = {"n": pt.count(), "most": pt.max("C_v")}
    groups = on_tables.group_by("k").agg(**asked)
    assert counted(on_spark.group_by("k").agg(**asked).toArrow(), groups) == counted(groups, groups)
    fourth = given["A"].rename_columns(["k", "ts", "w", "last"])
    chained = []
    for joined, more in ((on_spark, spark.createDataFrame(fourth)), (on_tables, fourth)):
        first = pt.stream(joined, name="ABC", window="9 seconds")
        chained.append(pt.join(first, pt.stream(more, name="D", key="k", time="ts", window="9 seconds")))
    wanted = chained[1].results
    assert len(wanted) > 100
    assert counted(chained[0].results.toArrow(), wanted) == counted(wanted, wanted)


def test_without_a_key_the_first_stream_is_spread(spark: SparkSession) -> None:
    given = {name: table.select(["ts", "v"]) for name, table in tables(60).items()}
    frames = {name: spark.createDataFrame(table) for name, table in given.items()}
    rising = (pt.column("A", "v") < pt.column("B", "v")) & (pt.column("B", "v") < pt.column("C", "v"))
    on_spark, on_tables = (
        pt.join(*(pt.stream(each, name=name, time="ts") for name, each in sources.items()), within="4 s", where=rising)
        for sources in (frames, given)
    )
    assert "every tuple of B and C in each" in on_spark.explain()
    wanted = on_tables.results
    assert len(wanted) > 100
    assert counted(on_spark.results.toArrow(), wanted) == counted(wanted, wanted)
