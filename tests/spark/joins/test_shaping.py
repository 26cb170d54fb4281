"""Shapes on Spark: streams of rows and of files, results and groups come out as they do over tables."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.spark.session.local import write_files

SCHEMA = "id BIGINT, ts BIGINT, v STRING, last BOOLEAN"
KEYED: dict[str, Any] = {"k": "id", "ts": "ts", "w": pt.call("length", pt.column("v")), "last": "last"}
KEPT = pt.call("mod", pt.column("ts"), 5) != 0
TOTAL = pt.column("w_left") * 10 + pt.column("w_right")
SELECT: dict[str, Any] = {"total": TOTAL, "item": "k", "text": pt.column("ts_left").cast("text")}
pytestmark = pytest.mark.filterwarnings("ignore::punctuated.LateGroupsWarning")


def tables(first: int) -> list[pa.Table]:
    """Files of ten rows; a key comes three times, and then ends, by rows that may not be kept."""
    rows = [{"id": i // 3, "ts": i, "v": "x" * (i % 4), "last": i % 3 == 2} for i in range(first, first + 30)]
    return [pa.Table.from_pylist(rows[start : start + 10]) for start in (0, 10, 20)]


def joined(left: Any, right: Any) -> Any:
    a, b = (
        pt.stream(data, name=name, key="k", time="ts", window=4, punctuations=pt.when("last"), where=KEPT, select=KEYED)
        for name, data in (("A", left), ("B", right))
    )
    return pt.join(a, b, select=SELECT)


def groups(join: Any) -> Any:
    shape: dict[str, Any] = {"id": "item", "mean": pt.call("divide", pt.column("sum"), pt.column("n")), "n": "n"}
    return join.group_by("item", having=pt.column("n") > 4, select=shape).agg(n=pt.count(), sum=pt.sum("total"))


def multiset(table: Any) -> Counter[str]:
    rows = table.to_pylist() if isinstance(table, pa.Table) else [row.asDict() for row in table.collect()]
    return Counter(repr(sorted(row.items())) for row in rows)


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    return [write_files(tmp_path / name, tables(first)) for name, first in (("a", 0), ("b", 1))]


def over_tables() -> Any:
    return joined(tables(0), tables(1))


def test_a_batch_of_rows(spark: SparkSession, folders: list[Path]) -> None:
    """Results, punctuations, groups in the step and apart from it, and what goes on to another join."""
    left, right = (spark.read.schema(SCHEMA).parquet(str(folder)) for folder in folders)
    ours, theirs = joined(left, right), joined(pa.concat_tables(tables(0)), pa.concat_tables(tables(1)))
    assert ours.results.columns == ["total", "item", "text"]
    assert multiset(ours.results) == multiset(theirs.results) and theirs.results.num_rows > 20
    names = ["item", "ts", "pattern"]
    assert multiset(ours.punctuations.select(names)) == multiset(theirs.punctuations.select(names))
    assert multiset(groups(ours)) == multiset(groups(theirs)) and groups(theirs).num_rows > 2
    apart = [each.group_by("text", having=pt.column("n") > 1).agg(n=pt.count()) for each in (ours, theirs)]
    assert multiset(apart[0]) == multiset(apart[1])


def test_files_to_files(spark: SparkSession, folders: list[Path], tmp_path: Path) -> None:
    """Streams of files, tables written by the step, groups that go on as a stream."""
    left, right = (pt.files(spark, str(folder), schema=SCHEMA, max_files=1) for folder in folders)
    ours, theirs = joined(left, right), over_tables()
    paths = {name: str(tmp_path / name) for name in ("results", "punctuations")}
    sinks = {name: pt.parquet(path) for name, path in paths.items()}
    ours.write_to(**sinks, checkpoint=str(tmp_path / "first"), trigger="availableNow", finish=True).awaitTermination()
    assert multiset(read(paths["results"])) == multiset(theirs.results)
    names = ["item", "ts", "pattern"]
    assert multiset(read(paths["punctuations"]).select(names)) == multiset(theirs.punctuations.select(names))
    found, expected = (
        pt.stream(groups(each), name="G", key="id", select=["id", "n"], window=9) for each in (ours, theirs)
    )
    chained = pt.join(found, pt.stream(left, name="C", key="id", time="ts", window=9))
    query = chained.write_to(
        results=pt.parquet(str(tmp_path / "chained")),
        checkpoint=str(tmp_path / "next"),
        trigger="availableNow",
        finish=True,
    )
    query.awaitTermination()
    by_hand = pt.join(expected, pt.stream(tables(0), name="C", key="id", time="ts", window=9)).results
    assert multiset(read(str(tmp_path / "chained"))) == multiset(by_hand) and by_hand.num_rows > 0


def read(path: str) -> pa.Table:
    return pq.read_table(path).drop_columns(["batch_id"])  # the folder of the batch
