"""One query, several sinks: what each gets is what the join over tables gives, and once, whatever fails in between."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import punctuated as pt
from punctuated.errors import ColumnError, StreamError
from punctuated.spark.sinks import BATCH_ID, write_to

AUCTION = pa.schema([("item", pa.int64()), ("ts", pa.int64()), ("seller", pa.string())])
BID = pa.schema([("item", pa.int64()), ("at", pa.int64()), ("price", pa.float64()), ("closed", pa.bool_())])
AUCTIONS = [
    [(1, 0, "a"), (2, 1, "b")],
    [(3, 20, "a"), (2, 21, "again")],  # 2 had been promised to come once
    [(4, 40, "c")],
]
BIDS = [
    [(1, 5, 1.0, False), (2, 6, 2.0, True)],
    [(1, 25, 3.0, True), (3, 26, 4.0, False)],
    [(3, 10, 9.0, False), (4, 45, 5.0, True)],  # the first of them is late
]
Rows = Counter[tuple[Any, ...]]


def tables(schema: pa.Schema, batches: Sequence[Sequence[tuple[Any, ...]]]) -> list[pa.Table]:
    return [pa.table(list(zip(*rows, strict=True)), schema=schema) for rows in batches]


def declare(auctions: Any, bids: Any) -> Any:
    left = pt.stream(auctions, name="A", key="item", time="ts", window=100, punctuations=pt.unique())
    right = pt.stream(bids, name="B", key="item", time="at", window=100, punctuations=pt.when("closed"))
    return pt.join(left, right)


EXPECTED = declare(tables(AUCTION, AUCTIONS), tables(BID, BIDS))


def stream_of(spark: SparkSession, folder: Path, batches: Sequence[pa.Table]) -> DataFrame:
    """A file per batch, in the order of time."""
    folder.mkdir(parents=True)
    for i, table in enumerate(batches):
        file = folder / f"{i}.parquet"
        pq.write_table(table, file)
        os.utime(file, (1_000_000 + i, 1_000_000 + i))
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


@pytest.fixture
def joined(spark: SparkSession, tmp_path: Path) -> Any:
    return declare(
        stream_of(spark, tmp_path / "in" / "auctions", tables(AUCTION, AUCTIONS)),
        stream_of(spark, tmp_path / "in" / "bids", tables(BID, BIDS)),
    )


def rows_of(table: pa.Table) -> Rows:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def read(folder: Path) -> Rows:
    return rows_of(pq.read_table(folder).drop_columns([BATCH_ID]))


def run(joined: Any, folder: Path, **sinks: Any) -> None:
    query = write_to(joined, checkpoint=folder / "checkpoint", trigger="availableNow", **sinks)
    query.awaitTermination()


def paths(folder: Path) -> dict[str, Path]:
    return {name: folder / name for name in ("results", "punctuations", "rejected")}


def check_all(folder: Path) -> None:
    assert read(folder / "results") == rows_of(EXPECTED.results)
    assert read(folder / "rejected") == rows_of(EXPECTED.rejected)
    # A table ends with its streams, a streaming query does not: what only the end says is missing.
    said = read(folder / "punctuations")
    assert said and said <= rows_of(EXPECTED.punctuations)


def test_each_part_goes_to_its_own_folder(joined: Any, tmp_path: Path) -> None:
    run(joined, tmp_path, **paths(tmp_path))
    check_all(tmp_path)
    for name, folder in paths(tmp_path).items():
        assert sorted(each.name for each in folder.glob("batch_id=*")) == ["batch_id=0", "batch_id=1", "batch_id=2"]
        assert pq.read_table(folder).column_names[:-1] == getattr(EXPECTED, name).column_names


def test_spark_reads_what_was_written_as_one_table(joined: Any, spark: SparkSession, tmp_path: Path) -> None:
    run(joined, tmp_path, results=str(tmp_path / "results"))
    frame = spark.read.parquet(str(tmp_path / "results"))
    assert frame.columns == [*joined.results.columns, BATCH_ID]
    assert rows_of(frame.drop(BATCH_ID).toArrow()) == rows_of(EXPECTED.results)


def test_a_batch_that_is_repeated_replaces_what_it_wrote(joined: Any, tmp_path: Path) -> None:
    run(joined, tmp_path, **paths(tmp_path))
    for file in (tmp_path / "checkpoint" / "commits").glob("*2*"):  # as if Spark had died before the commit
        file.unlink()
    stale = tmp_path / "results" / "batch_id=2" / "part-of-an-attempt.parquet"
    pq.write_table(pq.read_table(tmp_path / "results").drop_columns([BATCH_ID]), stale)
    run(joined, tmp_path, **paths(tmp_path))
    assert not stale.exists()
    check_all(tmp_path)


def fails_once(folder: Path) -> Callable[[DataFrame, int], None]:
    """Fails in batch 1, as long as there is no note that it has."""

    def sink(rows: DataFrame, batch_id: int) -> None:
        if batch_id == 1 and not (folder / "failed").exists():
            (folder / "failed").touch()
            raise OSError("no space left on device")
        pq.write_table(rows.toArrow(), folder / f"batch_{batch_id}.parquet")

    return sink


def test_a_sink_that_fails_after_another_has_written_leaves_no_row_twice(joined: Any, tmp_path: Path) -> None:
    sinks = paths(tmp_path) | {"rejected": fails_once(tmp_path)}
    with pytest.raises(StreamingQueryException, match="no space left"):
        run(joined, tmp_path, **sinks)
    assert (tmp_path / "results" / "batch_id=1").exists()
    run(joined, tmp_path, **sinks)
    assert read(tmp_path / "results") == rows_of(EXPECTED.results)
    written = pa.concat_tables([pq.read_table(file) for file in sorted(tmp_path.glob("batch_*.parquet"))])
    assert rows_of(written) == rows_of(EXPECTED.rejected)


def test_functions_need_not_read_what_they_are_given(joined: Any, tmp_path: Path) -> None:
    seen: dict[str, list[int]] = {"results": [], "rejected": []}

    def lazy(rows: DataFrame, batch_id: int) -> None:
        seen["rejected"].append(batch_id)

    def counts(rows: DataFrame, batch_id: int) -> None:
        seen["results"].append(rows.count())

    run(joined, tmp_path, results=counts, rejected=lazy)
    assert sum(seen["results"]) == len(EXPECTED.results)
    assert seen["rejected"] == [0, 1, 2]


def test_a_folder_of_another_checkpoint_is_refused(joined: Any, tmp_path: Path) -> None:
    run(joined, tmp_path, rejected=tmp_path / "rejected")
    with pytest.raises(StreamError, match="another checkpoint"):
        write_to(joined, rejected=tmp_path / "rejected", checkpoint=tmp_path / "new")
    assert read(tmp_path / "rejected") == rows_of(EXPECTED.rejected)


def test_what_cannot_work_is_refused(joined: Any, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="nothing to write"):
        write_to(joined, checkpoint=tmp_path / "c")
    with pytest.raises(StreamError, match="same path"):
        write_to(joined, results=tmp_path, rejected=f"{tmp_path}/", checkpoint=tmp_path / "c")
    with pytest.raises(StreamError, match="not int"):
        write_to(joined, results=7, checkpoint=tmp_path / "c")  # type: ignore[arg-type]
    whole = pa.concat_tables(tables(AUCTION, AUCTIONS))
    batch = spark.createDataFrame(whole.rename_columns(["item", "ts", BATCH_ID]))
    with pytest.raises(StreamError, match="streaming"):
        write_to(
            declare(batch, batch.withColumnsRenamed({"ts": "at"}).selectExpr("*", "true closed")),
            rejected=tmp_path,
            checkpoint=tmp_path / "c",
        )
    with pytest.raises(ColumnError, match=BATCH_ID):
        write_to(
            declare(batch, batch.withColumnsRenamed({"ts": "at", BATCH_ID: "x"}).selectExpr("*", "true closed")),
            results=tmp_path,
            checkpoint=tmp_path / "c",
        )
