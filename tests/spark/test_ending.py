"""The end of all streams after what is available: everything that waits for it comes out, once, as from tables."""

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import punctuated as pt
from punctuated.model.batch import Row
from punctuated.model.punctuation import Punctuation
from punctuated.model.spec import JoinSpec, JoinType, StreamSpec
from punctuated.spark.metrics.in_output import METRICS
from punctuated.spark.pack.pack import PACKED
from punctuated.spark.session.local import write_files
from punctuated.spark.session.versions import ReadAllAvailable
from punctuated.spark.source.ending import ENDED, OPEN, EndReader, PackEnd
from punctuated.testing.checks import Observed, check_equals_oracle
from punctuated.testing.strategies import Batch, Case, cases
from spark.spark_harness import Metrics, Steps, clear_cache, is_spreadable, make_query, observe, pack_batch, read_files

FEWER = settings(max_examples=settings().max_examples // 4)
LEFT = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.string())])
RIGHT = pa.schema([("k", pa.int64()), ("at", pa.int64())])
LEFTS = [[(1, 0, "a"), (2, 1, "b")], [(3, 20, "c"), (2, 21, "again"), (4, 40, "d")]]
RIGHTS = [[(1, 5)], [(1, 25), (3, 26), (9, 45)]]


# The pieces, without a JVM


def test_a_run_ends_the_streams_once_and_another_repeats_what_was_begun() -> None:
    silent, ending = EndReader(now=False), EndReader(now=True)
    assert silent.initialOffset() == ending.initialOffset() == OPEN
    assert [silent.latestOffset(start, ReadAllAvailable()) for start in (OPEN, ENDED)] == [OPEN, ENDED]
    assert [ending.latestOffset(start, ReadAllAvailable()) for start in (OPEN, ENDED)] == [ENDED, ENDED]
    for reader in (silent, ending):
        (part,) = reader.partitions(OPEN, ENDED)
        assert sum(batch.num_rows for batch in reader.read(part)) == 1
        assert reader.partitions(OPEN, OPEN) == reader.partitions(ENDED, ENDED) == []


def test_a_reader_that_is_not_told_where_it_starts_knows_by_the_last_partitions() -> None:
    """So Spark 4.1 asks."""
    silent = EndReader(now=False)
    assert silent.latestOffset() == OPEN
    silent.partitions(OPEN, ENDED)
    assert silent.latestOffset() == ENDED
    assert EndReader(now=True).latestOffset() == ENDED


def packed_end(n_buckets: int) -> pa.Table:
    return pa.Table.from_batches(list(PackEnd(n_buckets)(iter([pa.record_batch({"ended": [True]})]))), PACKED)


def test_the_end_is_behind_the_rows_of_its_batch_and_comes_once() -> None:
    clear_cache()
    streams = (StreamSpec(name, ("k", "ts", "v", "f"), ("k",), "ts", None) for name in "AB")
    steps = Steps(make_query(JoinSpec(tuple(streams), how=JoinType.LEFT), 2))
    rows: list[Row | Punctuation] = [Row((key, 5, 0, False)) for key in (1, 2)]

    def kinds(packed: pa.Table) -> Counter[str]:
        return Counter(row["_reason"] or row["_kind"] for row in steps.run(packed) if row[METRICS] is None)

    assert kinds(pa.concat_tables([packed_end(2), pack_batch(steps.query, (rows, rows[:1]))])) == {"result": 2}
    assert kinds(packed_end(2)) == {}
    assert kinds(pack_batch(steps.query, (rows, []))) == {"late": 2}  # rows after the end


@FEWER
@given(cases().filter(is_spreadable), st.integers(1, 5), st.integers(0, 1 << 30).map(Random))
def test_the_end_equals_the_oracle(case: Case, n: int, random: Random) -> None:
    def run(spec: JoinSpec, batches: Sequence[Batch]) -> list[Observed]:
        clear_cache()
        steps, metrics = Steps(make_query(spec, n)), Metrics()
        seen: list[Observed] = []
        for packed in [*(pack_batch(steps.query, batch, random) for batch in batches), packed_end(n)]:
            rows = steps.run(packed)
            metrics.note(row[METRICS] for row in rows)
            seen.append(observe(spec, rows, metrics))
        return seen

    check_equals_oracle(run, case.spec, case.batches)


# Queries


def tables(schema: pa.Schema, batches: Sequence[Sequence[tuple[Any, ...]]]) -> list[pa.Table]:
    return [pa.table(list(zip(*rows, strict=True)), schema=schema) for rows in batches]


def declare(left: Any, right: Any) -> Any:
    """Unmatched rows wait for the end, for nothing else ends the right stream."""
    return pt.join(
        pt.stream(left, name="A", key="k", time="ts", window=1000, punctuations=pt.unique()),
        pt.stream(right, name="B", key="k", time="at", window=1000),
        how="left",
    )


EXPECTED = declare(tables(LEFT, LEFTS), tables(RIGHT, RIGHTS))


def frames(spark: SparkSession, folder: Path, lefts: list[pa.Table], rights: list[pa.Table]) -> list[DataFrame]:
    return [
        read_files(spark, write_files(folder / name, given), given[0].schema, streaming=True)
        for name, given in (("left", lefts), ("right", rights))
    ]


def rows_of(found: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(column.to_pylist() for column in found.columns), strict=True))


def test_a_query_that_finishes_writes_what_tables_give(spark: SparkSession, tmp_path: Path) -> None:
    joined = declare(*frames(spark, tmp_path, tables(LEFT, LEFTS), tables(RIGHT, RIGHTS)))
    folders = {name: tmp_path / "out" / name for name in ("results", "punctuations")}

    def run() -> None:
        how = {"checkpoint": str(tmp_path / "checkpoint"), "trigger": "availableNow", "finish": True}
        joined.write_to(**folders, **how).awaitTermination()

    def check() -> None:
        for name, folder in folders.items():
            assert rows_of(pq.read_table(folder).drop_columns(["batch_id"])) == rows_of(getattr(EXPECTED, name))

    run()
    check()
    last = tmp_path / "checkpoint" / "commits" / "2"
    for file in (last, last.with_name(".2.crc")):  # as if it had died in the batch of the end
        file.unlink()
    shutil.rmtree(folders["results"] / "batch_id=2")
    run()
    check()


def test_a_query_of_ones_own_ends_all_joins_in_it(spark: SparkSession, tmp_path: Path) -> None:
    """Groups of a join of a join: the end of the inner one comes first, for its unmatched rows go on."""
    third = pa.schema([("k", pa.int64()), ("c", pa.int64())])
    rows = tables(third, [[(2, 30), (4, 41)]])
    write_files(tmp_path / "third", rows)

    def joined(inner: Any, data: Any) -> Any:
        thirds = pt.stream(data, name="C", key="k", time="c", window=2000)
        return pt.join(pt.stream(inner, window=2000), thirds)

    inputs = [pa.concat_tables(tables(LEFT, LEFTS))], [pa.concat_tables(tables(RIGHT, RIGHTS))]
    expected = joined(declare(*inputs), rows).group_by("k").agg(n=pt.count(), v=pt.max("v"))
    thirds = read_files(spark, tmp_path / "third", third, streaming=True)
    outer = joined(declare(*frames(spark, tmp_path, *inputs)), thirds)
    seen: list[pa.Table] = []

    def run(now: bool, **trigger: bool) -> None:
        groups = outer.with_end(now).group_by("k").agg(n=pt.count(), v=pt.max("v"))
        writer = groups.writeStream.foreachBatch(lambda batch, _: seen.append(batch.toArrow()))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(**trigger)
        writer.start().awaitTermination()

    run(now=False, availableNow=True)
    assert sum(map(len, seen)) < len(expected)
    run(now=True, once=True)
    assert rows_of(pa.concat_tables(seen)) == rows_of(expected)


def test_what_cannot_be_finished_is_said(spark: SparkSession, tmp_path: Path) -> None:
    batch = declare(spark.createDataFrame([], "k LONG, ts LONG"), spark.createDataFrame([], "k LONG, at LONG"))
    with pytest.raises(pt.StreamError, match="availableNow"):
        batch.write_to(results=tmp_path / "r", checkpoint=str(tmp_path / "c"), finish=True, trigger="1 second")
    with pytest.raises(pt.StreamError, match="by itself"):
        batch.with_end(now=True)
