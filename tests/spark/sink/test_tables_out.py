"""Tables that a step writes hold what the rows' way gives, in every type, whatever their kind and options."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

import punctuated as pt
from punctuated.spark.session.local import write_files
from punctuated.spark.sink import reachability as reach
from punctuated.storage.tables.location import TableLocation
from punctuated.storage.tables.written_file import STAGED
from spark.session import test_types as of_types
from spark.spark_harness import read_files

LEFT = pa.schema([("k", pa.int64()), ("ts", pa.int64()), ("v", pa.string()), ("d", pa.date32())])
RIGHT = pa.schema([("k", pa.int64()), ("at", pa.int64()), ("x", pa.float64()), ("over", pa.bool_())])
LEFTS = [(1, 0, "a", 1), (2, 1, "b", 2), (3, 20, "a", 1), (2, 21, "again", None), (4, 40, "", 3)]
RIGHTS = [(1, 5, 1.5, False), (2, 6, 2.5, True), (1, 25, 0.5, True), (3, 26, None, False), (4, 45, 4.5, True)]
ENDED = {"trigger": "availableNow", "finish": True}


def tables() -> tuple[pa.Table, pa.Table]:
    given = ((LEFT, LEFTS), (RIGHT, RIGHTS))
    left, right = (pa.table(list(zip(*rows, strict=True)), schema=schema) for schema, rows in given)
    return left, right


def declare(left: Any, right: Any) -> Any:
    return pt.join(
        pt.stream(left, name="A", key="k", time="ts", window=100, punctuations=pt.unique()),
        pt.stream(right, name="B", key="k", time="at", window=100, punctuations=pt.when("over")),
        how="left",
    )


EXPECTED = declare(*tables())
AGGREGATES = {"n": pt.count(), "best": pt.max("x"), "first": pt.first("v")}


@pytest.fixture
def joined(spark: SparkSession, tmp_path: Path) -> Any:
    folders = [write_files(tmp_path / "in" / table.column_names[1], [table]) for table in tables()]
    schemas = (LEFT, RIGHT)
    return declare(*(read_files(spark, *given, streaming=True) for given in zip(folders, schemas, strict=True)))


def counted(table: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.to_pylist()))


def written(path: Path, schema: pa.Schema) -> pa.Table:
    """What a reader sees of a folder of Parquet files, in the order of the columns."""
    found = pq.read_table(path, partitioning="hive")
    return found.select(schema.names).cast(schema)


def in_delta(path: Path, schema: pa.Schema) -> pa.Table:
    return DeltaTable(path).to_pyarrow_table().select(schema.names).cast(schema)


def test_every_part_goes_its_own_way(joined: Any, tmp_path: Path) -> None:
    """A table of each kind, and a function, which gets rows; in one query."""
    rejected: list[pa.Table] = []
    out = tmp_path / "out"

    def keep(rows: DataFrame, batch_id: int) -> None:
        rejected.append(rows.toArrow())

    sinks = {
        "results": pt.delta(out / "results", partition_by="d", sort_by=("x", "descending")),
        "punctuations": pt.parquet(out / "punctuations", partition_by=["reason"], compression="zstd"),
        "rejected": keep,
    }
    said = json.loads(joined.explain(format="json", **sinks))
    assert (said["kind"], said["children"][0]["kind"]) == ("output", "join")
    assert {name: fact["text"] for name, fact in said["facts"].items()} == {
        "the results": f"files of a Delta table, written by the workers of the join into {out}/results",
        "the punctuations": f"Parquet files, written by the workers of the join into {out}/punctuations",
        "the rejected rows": "rows, to a function",
    }
    assert [fact["way"] for fact in said["facts"].values()] == ["step", "step", "function"]
    joined.write_to(**sinks, checkpoint=str(tmp_path / "checkpoint"), **ENDED).awaitTermination()
    assert counted(in_delta(out / "results", EXPECTED.results.schema)) == counted(EXPECTED.results)
    punctuations = written(out / "punctuations", EXPECTED.punctuations.schema)
    assert counted(punctuations) == counted(EXPECTED.punctuations)
    assert {file.parent.name for file in out.glob("punctuations/*/*/*.parquet")} <= {"reason=both", "reason=early"}
    assert counted(pa.concat_tables(rejected)) == counted(EXPECTED.rejected)


def test_groups_are_written_with_what_their_join_rejects(joined: Any, tmp_path: Path) -> None:
    groups = joined.group_by("k").agg(**AGGREGATES)
    sinks: dict[str, Any] = {
        "groups": pt.parquet(tmp_path / "groups", sort_by="n"),
        "rejected": pt.delta(tmp_path / "rejected"),
    }
    assert "│  the groups: Parquet files, written by the workers of the join into" in pt.explain(groups, **sinks)
    pt.write_to(groups, **sinks, checkpoint=tmp_path / "checkpoint", **ENDED).awaitTermination()
    expected = EXPECTED.group_by("k").agg(**AGGREGATES)
    assert counted(written(tmp_path / "groups", expected.schema)) == counted(expected)
    assert counted(in_delta(tmp_path / "rejected", EXPECTED.rejected.schema)) == counted(EXPECTED.rejected)


@pytest.mark.filterwarnings("ignore::punctuated.LateGroupsWarning")
def test_groups_behind_the_join_are_written(joined: Any, tmp_path: Path) -> None:
    groups, expected = (each.group_by("v").agg(**AGGREGATES) for each in (joined, EXPECTED))
    sink = pt.parquet(tmp_path / "groups", sort_by="v", compression="gzip")
    pt.write_to(groups, groups=sink, checkpoint=tmp_path / "checkpoint", **ENDED).awaitTermination()
    assert counted(written(tmp_path / "groups", expected.schema)) == counted(expected)
    with pytest.raises(pt.SinkError, match="separately from the join"):
        pt.write_to(groups, groups=sink, rejected=tmp_path / "r", checkpoint=tmp_path / "c")


def test_every_type_is_read_back_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    frames = of_types.everything(spark), of_types.others(spark)
    for frame, side in zip(frames, ("left", "right"), strict=True):
        frame.coalesce(1).write.parquet(str(tmp_path / side))
    read = [
        spark.readStream.schema(frame.schema).parquet(str(tmp_path / side))
        for frame, side in zip(frames, ("left", "right"), strict=True)
    ]
    left, right = of_types.declared(read[0]), read[1]
    joined = of_types.join(left, right)
    how = {"checkpoint": tmp_path / "checkpoint", "trigger": "availableNow"}
    joined.write_to(results=tmp_path / "out", **how).awaitTermination()
    found = spark.read.parquet(str(tmp_path / "out")).drop("batch_id")
    assert found.dtypes == joined.results.dtypes
    of_types.check_rows(found, of_types.declared(frames[0]), frames[1])


def test_a_path_is_where_spark_has_it(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert reach.qualified(spark, "out") == str(tmp_path / "out")
    assert reach.qualified(spark, "s3a://b/out") == "s3a://b/out"
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    before = hadoop.get("fs.defaultFS")
    hadoop.set("fs.defaultFS", "hdfs://host:9000/")
    try:
        assert reach.qualified(spark, "/out") == "hdfs://host:9000/out"
    finally:
        hadoop.set("fs.defaultFS", before)


def test_workers_are_tryed_whether_they_reach_a_path(spark: SparkSession, tmp_path: Path) -> None:
    assert reach._try(spark, TableLocation(str(tmp_path))) is None
    assert list((tmp_path / STAGED).iterdir()) == []
    assert "cannot write to /proc/none" in str(reach._try(spark, TableLocation("/proc/none")))


def test_what_cannot_be_written_is_refused_when_the_query_is_built(joined: Any, tmp_path: Path) -> None:
    groups = joined.group_by("k").agg(n=pt.count())
    how = {"checkpoint": tmp_path / "c", "trigger": "availableNow"}
    with pytest.raises(pt.SinkError, match="no column 'w'"):
        joined.write_to(results=pt.parquet(tmp_path / "r", sort_by="w"), **how)
    with pytest.raises(pt.SinkError, match="has no groups"):
        pt.write_to(joined, groups=tmp_path / "g", **how)
    with pytest.raises(pt.StreamError, match="there are sinks for"):
        pt.write_to(joined, result=tmp_path / "g", **how)
    with pytest.raises(pt.StreamError, match="exactly the DataFrame"):
        pt.write_to(groups.where("n > 1"), groups=tmp_path / "g", **how)
    with pytest.raises(pt.SinkError, match="cannot be opened by pyarrow"):
        joined.write_to(results=pt.delta("dbfs:/r"), **how)
    assert "to Spark's writer into dbfs:/r" in joined.explain(results="dbfs:/r")
    assert not (tmp_path / "c").exists()
