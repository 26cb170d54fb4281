"""A batch is there with all its rows or not at all, whatever step the driver dies in, and once if it comes twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import punctuated as pt
from punctuated.storage.tables.location import TableLocation
from punctuated.storage.tables.open_table import table_at
from punctuated.storage.tables.parquet_folder import COMPLETE, ParquetFolder
from punctuated.storage.tables.sink import TableSink
from punctuated.storage.tables.writer import TableWriter
from punctuated.storage.tables.written_file import STAGED, OutputTable, WrittenFile

TOKEN = "0123456789abcdef" * 2
SCHEMA = pa.schema([("k", pa.int64()), ("day", pa.string())])


def told(path: Path, **options: Any) -> OutputTable:
    return OutputTable("result", pt.parquet(path, **options), TOKEN, SCHEMA)


def write(given: OutputTable, batch: int, n_buckets: int = 3) -> list[WrittenFile]:
    """An attempt at a batch, as its workers leave it."""
    files = []
    for bucket in range(n_buckets):
        writer = TableWriter(given, batch, bucket)
        writer.write(pa.table({"k": [batch, 10 * bucket], "day": ["a", "b"]}))
        files += writer.close()
    return files


def wanted(*batches: int) -> Counter[tuple[Any, ...]]:
    return Counter(
        (k, day) for batch in batches for bucket in range(3) for k, day in ((batch, "a"), (10 * bucket, "b"))
    )


def rows(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(zip(table["k"].to_pylist(), table["day"].to_pylist(), strict=True))


def visible(path: Path) -> Counter[tuple[Any, ...]]:
    """What a reader of the folder sees."""
    if not any(path.glob("batch_id=*")):
        return Counter()
    return rows(ds.dataset(path, format="parquet", partitioning="hive").to_table())


def complete(path: Path) -> Counter[tuple[Any, ...]]:
    """What a reader sees who asks for complete batches."""
    found: Counter[tuple[Any, ...]] = Counter()
    for folder in path.glob("batch_id=*"):
        if (folder / COMPLETE).exists():
            found += rows(ds.dataset(folder, format="parquet", partitioning="hive").to_table())
    return found


class Died(BaseException):
    """The driver is gone."""


class DyingFiles:
    """A file system with which the driver dies before its n-th change."""

    def __init__(self, n: int) -> None:
        self._files, self.n_left = fs.LocalFileSystem(), n

    def __getattr__(self, name: str) -> Any:
        if name in ("move", "copy_file", "create_dir", "delete_dir", "delete_file", "open_output_stream"):
            if self.n_left == 0:
                raise Died
            self.n_left -= 1
        return getattr(self._files, name)


def deaths(monkeypatch: pytest.MonkeyPatch, folder: ParquetFolder, given: OutputTable) -> Iterator[int]:
    """Publications of batch 1, each with files of its own, that end after 0, 1, 2, … changes, until one is complete."""
    for n in range(100):
        files = write(given, 1)
        with monkeypatch.context() as patch:
            patch.setattr(TableLocation, "files", DyingFiles(n))
            try:
                folder.publish(1, files, given)
            except Died:
                yield n
                continue
        return
    pytest.fail("no end")


@pytest.mark.parametrize("partition_by", [(), "day"])
def test_a_batch_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partition_by: Any
) -> None:
    given, folder = told(tmp_path, partition_by=partition_by), ParquetFolder(str(tmp_path))
    folder.publish(0, write(given, 0), given)
    seen = [visible(tmp_path) for _ in deaths(monkeypatch, folder, given)]
    assert len(seen) > 4 and all(each == wanted(0) for each in seen)
    assert visible(tmp_path) == wanted(0, 1) == complete(tmp_path)


def test_where_nothing_is_renamed_a_batch_is_complete_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, folder = told(tmp_path), ParquetFolder(str(tmp_path), renames=False)
    folder.publish(0, write(given, 0), given)
    for _ in deaths(monkeypatch, folder, given):
        assert complete(tmp_path) in (wanted(0), wanted(0, 1))
    assert visible(tmp_path) == wanted(0, 1) == complete(tmp_path)
    assert folder.left_over() != []


def test_a_batch_that_comes_again_changes_nothing(tmp_path: Path) -> None:
    given, folder = told(tmp_path), ParquetFolder(str(tmp_path))
    folder.publish(0, write(given, 0), given)
    before = {file: file.stat().st_ino for file in tmp_path.glob("batch_id=0/*")}
    folder.publish(0, write(given, 0), given)
    assert {file: file.stat().st_ino for file in tmp_path.glob("batch_id=0/*")} == before
    assert list((tmp_path / STAGED).iterdir()) == []


def test_a_folder_that_spark_did_not_complete_is_replaced(tmp_path: Path) -> None:
    given, folder = told(tmp_path), ParquetFolder(str(tmp_path))
    (tmp_path / "batch_id=0").mkdir()
    pq.write_table(pa.table({"k": [9], "day": ["z"]}), tmp_path / "batch_id=0" / "part.parquet")
    folder.publish(0, write(given, 0), given)
    assert visible(tmp_path) == wanted(0)


def test_the_first_batch_shows_the_columns_and_others_without_rows_show_nothing(tmp_path: Path) -> None:
    given, folder = told(tmp_path, partition_by="day"), ParquetFolder(str(tmp_path))
    folder.publish(0, [], given)
    folder.publish(1, [], given)
    assert [entry.name for entry in tmp_path.glob("batch_id=*")] == ["batch_id=0"]
    assert pq.read_table(tmp_path).column_names == ["k", "batch_id"]


def test_staged_files_are_seen_by_no_reader(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    given, folder = told(tmp_path), ParquetFolder(str(tmp_path))
    folder.publish(0, write(given, 0), given)
    write(given, 1)
    assert visible(tmp_path) == wanted(0)
    for pattern in ("**/*.parquet", "batch_id=*/*.parquet"):
        found = duckdb.sql(f"SELECT k, day FROM read_parquet('{tmp_path}/{pattern}')").fetchall()
        assert Counter(found) == wanted(0)


def test_clean_removes_what_is_left_of_complete_batches_alone(tmp_path: Path) -> None:
    given, folder = told(tmp_path), ParquetFolder(str(tmp_path))
    left = [file.name for batch in (0, 1) for file in write(given, batch)]
    files = [write(given, batch) for batch in (0, 1)]
    running = [file.name for file in write(given, 2)]
    for batch in (0, 1):
        folder.publish(batch, files[batch], given)
    found = table_at(f"{tmp_path}/")
    assert sorted(Path(path).name for path in found.left_over()) == sorted(left)
    found.remove(found.left_over())
    assert sorted(path.name for path in (tmp_path / STAGED).iterdir()) == sorted(running)
    assert visible(tmp_path) == wanted(0, 1)
    assert sorted(Path(path).name for path in found.left_over(stopped=True)) == sorted(running)


def test_a_file_that_the_driver_does_not_see_is_said(tmp_path: Path) -> None:
    given, folder = told(tmp_path), ParquetFolder(str(tmp_path))
    files = write(given, 0)
    (tmp_path / STAGED / files[1].name).unlink()
    with pytest.raises(pt.SinkError, match="all hosts share"):
        folder.publish(0, files, given)
    assert visible(tmp_path) == Counter()


def test_a_folder_of_others_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(pt.SinkError, match="no table"):
        table_at(str(tmp_path))


def test_places_are_opened_as_spark_calls_them(tmp_path: Path) -> None:
    for path in (str(tmp_path), f"file:{tmp_path}", f"file://{tmp_path}", f"FILE://{tmp_path}/"):
        place = TableLocation(path)
        assert place.is_local and place.renames and place.exists() and Path(place.to("x")) == tmp_path / "x"
    with pytest.raises(pt.SinkError, match="pyarrow"):
        TableLocation("dbfs:/x").root  # noqa: B018
    assert isinstance(pt.parquet(tmp_path), TableSink)
