"""Columns of users on Spark with names that are ours elsewhere: every part of the output is what tables give."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.spark.session.local import write_files
from spark.spark_harness import read_files

PAYLOAD = ("_kind", "_metrics", "_batch_us", "batch_id", "bucket", "data", "side", "_packed", "c0", "more0", "a.b")
LEFT = pa.schema([("reason", pa.int64()), ("_ts", pa.int64()), *((name, pa.string()) for name in PAYLOAD)])
RIGHT = pa.schema([("pattern", pa.int64()), ("at", pa.int64()), ("last", pa.bool_())])
ROWS = [(key, ts, *(f"{name} {key}" for name in PAYLOAD)) for key, ts in ((1, 0), (2, 1), (1, 5))]
BIDS = [(1, 2, True), (2, 3, False)]


def table(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table(list(zip(*rows, strict=True)), schema=schema)


def declare(left: Any, right: Any, **options: Any) -> Any:
    """The right stream is told of the batch's time, which no column gives way to."""
    return pt.join(
        pt.stream(left, name="A", key="reason", time="_ts", window=50, punctuations=pt.unique(), **options),
        pt.stream(right, name="B", key="pattern", time="at", window=50, punctuations=pt.when("last"), **options),
    )


EXPECTED = declare(table(LEFT, ROWS), table(RIGHT, BIDS))


def rows_of(found: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(*(column.to_pylist() for column in found.columns), strict=True))


def test_a_streaming_join_of_columns_with_any_names(spark: SparkSession, tmp_path: Path) -> None:
    frames = [
        read_files(spark, write_files(tmp_path / name, [table(schema, rows)]), schema, streaming=True)
        for name, schema, rows in (("left", LEFT, ROWS), ("right", RIGHT, BIDS))
    ]
    joined = declare(*frames, idle_after="1 hour")
    folders = {name: tmp_path / "out" / name for name in ("results", "punctuations", "rejected")}
    query = joined.write_to(**folders, checkpoint=str(tmp_path / "checkpoint"), trigger="availableNow")
    query.awaitTermination()
    for name, folder in folders.items():
        written = pq.read_table(folder)
        shown, wanted = written.drop_columns([written.column_names[-1]]), getattr(EXPECTED, name)
        assert shown.column_names == wanted.column_names == getattr(joined, name).columns
        assert rows_of(shown) == rows_of(wanted) or (name == "punctuations" and rows_of(shown) < rows_of(wanted))
        assert written.column_names[-1] == ("batch_id_" if name == "results" else "batch_id")


@pytest.mark.filterwarnings("ignore::punctuated.LateGroupsWarning")
def test_names_may_differ_in_case_alone(spark: SparkSession) -> None:
    names = ["reason", "_ts", "V", "v", "_METRICS"]
    rows = [(key, ts, f"V{key}", f"v{key}", f"m{key}") for key, ts in ((1, 0), (2, 1))]
    left = spark.createDataFrame(rows, "a LONG, b LONG, c STRING, d STRING, e STRING").toDF(*names)
    right = spark.createDataFrame(BIDS, "pattern LONG, at LONG, last BOOLEAN")
    expected = declare(pa.table(list(zip(*rows, strict=True)), names=names), table(RIGHT, BIDS))
    joined = declare(left, right)
    assert rows_of(joined.results.toArrow()) == rows_of(expected.results)
    by_payload = {"n": pt.count(), "_metrics": pt.last("V")}
    groups = joined.group_by("v").agg(**by_payload).toArrow()
    assert groups.column_names == ["v", *by_payload]
    assert rows_of(groups) == rows_of(expected.group_by("v").agg(**by_payload))
