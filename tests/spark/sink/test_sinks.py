"""One query, several sinks: what each gets is what the join over tables gives, and once, whatever fails in between."""

import shutil
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
from punctuated.errors import SinkError, StreamError
from punctuated.spark.session.local import write_files
from punctuated.spark.sink.ownership import CheckpointOwner
from punctuated.spark.sink.sinks import write_to
from punctuated.storage.tables.parquet_folder import BATCH_ID
from spark.spark_harness import read_files

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


@pytest.fixture(scope="module")
def joined(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("input")
    inputs = (("auctions", AUCTION, AUCTIONS), ("bids", BID, BIDS))
    frames = [
        read_files(spark, write_files(folder / name, tables(schema, batches)), schema, streaming=True)
        for name, schema, batches in inputs
    ]
    return declare(*frames)


@pytest.fixture(scope="module")
def written(joined: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the three parts and the checkpoint of a query that went well."""
    folder = tmp_path_factory.mktemp("written")
    run(joined, folder, **paths(folder))
    return folder


def run(joined: Any, folder: Path, **sinks: Any) -> None:
    query = write_to(joined, checkpoint=folder / "checkpoint", trigger="availableNow", **sinks)
    query.awaitTermination()


def paths(folder: Path) -> dict[str, Path]:
    return {name: folder / name for name in ("results", "punctuations", "rejected")}


def rows_of(table: pa.Table) -> Rows:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def read(folder: Path) -> Rows:
    return rows_of(pq.read_table(folder).drop_columns([BATCH_ID]))


def check_all(folder: Path) -> None:
    assert read(folder / "results") == rows_of(EXPECTED.results)
    assert read(folder / "rejected") == rows_of(EXPECTED.rejected)
    # A table ends with its streams, a streaming query does not: what only the end says is missing.
    said = read(folder / "punctuations")
    assert said and said <= rows_of(EXPECTED.punctuations)


def test_each_part_goes_to_its_own_folder(written: Path) -> None:
    check_all(written)
    for name, folder in paths(written).items():
        batches = sorted(each.name for each in folder.glob("batch_id=*"))
        assert batches[0] == "batch_id=0" and set(batches) <= {"batch_id=0", "batch_id=1", "batch_id=2"}
        assert pq.read_table(folder).column_names[:-1] == getattr(EXPECTED, name).column_names


def test_spark_reads_what_was_written_as_one_table(joined: Any, written: Path, spark: SparkSession) -> None:
    for name, folder in paths(written).items():
        frame = spark.read.parquet(str(folder))
        assert frame.drop(BATCH_ID).dtypes == getattr(joined, name).dtypes
        assert rows_of(frame.drop(BATCH_ID).toArrow()) == read(folder)


def test_a_batch_that_spark_repeats_replaces_what_it_wrote(joined: Any, written: Path, tmp_path: Path) -> None:
    """A query of tables that the workers wrote goes on with Spark's writer."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    for file in (tmp_path / "checkpoint" / "commits").glob("*2*"):  # as if Spark had died before the commit
        file.unlink()
    stale = tmp_path / "results" / "batch_id=2" / "part-of-an-attempt.parquet"
    pq.write_table(pq.read_table(tmp_path / "results").drop_columns([BATCH_ID]), stale)
    run(joined, tmp_path, **{name: pt.parquet(path, writer="spark") for name, path in paths(tmp_path).items()})
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
    sinks = {"results": tmp_path / "results", "rejected": fails_once(tmp_path)}
    with pytest.raises(StreamingQueryException, match="no space left"):
        run(joined, tmp_path, **sinks)
    assert (tmp_path / "results" / "batch_id=1").exists()
    run(joined, tmp_path, **sinks)
    assert read(tmp_path / "results") == rows_of(EXPECTED.results)
    rejected = pa.concat_tables([pq.read_table(file) for file in sorted(tmp_path.glob("batch_*.parquet"))])
    assert rows_of(rejected) == rows_of(EXPECTED.rejected)


def test_functions_need_not_read_what_they_are_given(joined: Any, tmp_path: Path) -> None:
    counted, called = [], []

    def count_twice(rows: DataFrame, batch_id: int) -> None:
        counted.append((rows.count(), rows.count()))

    def do_nothing(rows: DataFrame, batch_id: int) -> None:
        called.append(batch_id)

    run(joined, tmp_path, results=count_twice, rejected=do_nothing)
    assert [one for one, _ in counted] == [two for _, two in counted]
    assert sum(one for one, _ in counted) == len(EXPECTED.results)
    assert called == [0, 1, 2]


def test_another_query_is_refused_before_it_starts(joined: Any, written: Path) -> None:
    """Even if nothing is left to read, so that no step would see the stored state."""
    how: dict[str, Any] = {"checkpoint": written / "checkpoint", "trigger": "availableNow"}
    with pytest.raises(pt.SnapshotError, match=r"its grouping is absent, here it is by item: n = count\(\)"):
        pt.write_to(joined.group_by("item").agg(n=pt.count()), groups=written / "groups", **how)
    with pytest.raises(pt.SnapshotError, match="its finish= is False, here it is True"):
        pt.write_to(joined, finish=True, **paths(written), **how)
    assert not (written / "groups").exists()
    pt.write_to(joined, **paths(written), **how).awaitTermination()
    check_all(written)


def test_a_query_that_never_ran_binds_nobody(joined: Any, tmp_path: Path) -> None:
    CheckpointOwner(joined.session, str(tmp_path), joined.stored_join, finish=True).claim()
    owner = CheckpointOwner(joined.session, str(tmp_path), joined.stored_join, finish=False)
    owner.check()
    owner.claim()
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / "0").write_text("v1\n{}")
    owner.check()
    with pytest.raises(pt.SnapshotError, match="its finish= is False, here it is True"):
        CheckpointOwner(joined.session, str(tmp_path), joined.stored_join, finish=True).check()


def test_a_folder_of_another_checkpoint_is_refused(joined: Any, written: Path, tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="another checkpoint"):
        write_to(joined, results=tmp_path / "new", rejected=written / "rejected", checkpoint=tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_of_nobody_is_refused(joined: Any, written: Path, tmp_path: Path) -> None:
    (tmp_path / "taken" / f"{BATCH_ID}=0").mkdir(parents=True)
    foreign = tmp_path / "taken" / f"{BATCH_ID}=0" / "part.parquet"
    shutil.copy(next((written / "results").glob("*/*.parquet")), foreign)
    before = foreign.read_bytes()
    with pytest.raises(StreamError, match="new or empty"):
        write_to(joined, results=tmp_path / "taken", checkpoint=tmp_path / "c")
    assert foreign.read_bytes() == before
    assert not (tmp_path / "c").exists()


def test_columns_that_readers_cannot_tell_apart_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    one, other = ((name, pa.schema([("k", pa.int64()), ("at", pa.int64()), (name, pa.int64())])) for name in "aA")
    frames = [
        read_files(spark, write_files(tmp_path / name, [schema.empty_table()]), schema, streaming=True)
        for name, schema in (one, other)
    ]
    a, b = (pt.stream(frame, name=name, key="k", time="at", window=5) for frame, name in zip(frames, "LR", strict=True))
    for sink in (pt.parquet, pt.delta):
        with pytest.raises(SinkError, match=r"the columns 'a' and 'A', which differ in case alone"):
            pt.join(a, b).write_to(results=sink(tmp_path / "out"), checkpoint=str(tmp_path / "c"))
    renamed = pt.join(a, b, select={"k": "k", "a": "a", "other": "A"})
    assert "by the workers" in renamed.explain(results=str(tmp_path / "out"))


def test_paths_that_cannot_be_used_are_told(joined: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    inside = f"{tmp_path}/file/inside"
    for results, checkpoint in ((tmp_path / "r", inside), (inside, tmp_path / "c")):
        with pytest.raises(SinkError, match=r"Spark cannot \w+ '.*/file/inside/.*driver and workers can reach$"):
            write_to(joined, results=results, checkpoint=checkpoint)
    with pytest.raises(SinkError, match='No FileSystem for scheme "s4"'):
        write_to(joined, results="s4://x/r", checkpoint=tmp_path / "c")


def test_what_cannot_work_is_refused(joined: Any, spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "c"
    with pytest.raises(StreamError, match="nothing to write"):
        write_to(joined, checkpoint=checkpoint)
    with pytest.raises(StreamError, match="same path"):
        write_to(joined, results=tmp_path, rejected=f"{tmp_path}/", checkpoint=checkpoint)
    with pytest.raises(StreamError, match="not int"):
        write_to(joined, results=7, checkpoint=checkpoint)  # type: ignore[arg-type]
    with pytest.raises(StreamError, match="give a time between batches, such as '10 seconds', or 'availableNow'"):
        write_to(joined, results=tmp_path, checkpoint=checkpoint, trigger="available now")
    with pytest.raises(StreamError, match="leave out trigger="):
        write_to(joined, results=tmp_path, checkpoint=checkpoint, trigger="1 second", finish=True)
    with pytest.raises(SinkError, match=r"'console' would be a folder .* a function of a DataFrame"):
        write_to(joined, results="console", checkpoint=checkpoint)
    for groups in (joined.group_by("item").agg(n=pt.count()), joined.distinct("item")):
        with pytest.raises(StreamError, match="give groups="):
            pt.write_to(groups, results=tmp_path, checkpoint=checkpoint)
    batch = spark.createDataFrame([(1, 0, True)], f"item LONG, {BATCH_ID} LONG, closed BOOLEAN")
    not_streaming = declare(batch.withColumnRenamed(BATCH_ID, "ts"), batch.withColumnRenamed(BATCH_ID, "at"))
    with pytest.raises(StreamError, match="for streaming"):
        write_to(not_streaming, rejected=tmp_path, checkpoint=checkpoint)
