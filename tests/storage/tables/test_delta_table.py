"""A Delta table gets a commit per batch; one that comes again is recognised; files of failed attempts do not count."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.storage.tables.delta_table import DeltaTable
from punctuated.storage.tables.open_table import table_at
from punctuated.storage.tables.writer import TableWriter
from punctuated.storage.tables.written_file import OutputTable, WrittenFile

deltalake = pytest.importorskip("deltalake")

TOKEN, OTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2
SCHEMA = pa.schema([("k", pa.int64()), ("day", pa.date32()), ("at", pa.timestamp("us", "UTC")), ("s", pa.string())])


def told(path: Path, token: str = TOKEN, **options: Any) -> OutputTable:
    return OutputTable("result", pt.delta(path, **options), token, SCHEMA)


def write(given: OutputTable, batch: int, n_buckets: int = 2) -> list[WrittenFile]:
    files = []
    for bucket in range(n_buckets):
        writer = TableWriter(given, batch, bucket)
        writer.write(pa.table([[batch, bucket], [0, None], [1_500, None], ["é", None]], schema=SCHEMA))
        files += writer.close()
    return files


def rows(path: Path) -> Counter[tuple[Any, ...]]:
    table = deltalake.DeltaTable(path).to_pyarrow_table()
    return Counter(zip(table["k"].to_pylist(), table["day"].cast(pa.int32()).to_pylist(), strict=True))


def wanted(*batches: int) -> Counter[tuple[Any, ...]]:
    return Counter(row for batch in batches for bucket in range(2) for row in ((batch, 0), (bucket, None)))


def version(path: Path) -> int:
    return int(deltalake.DeltaTable(path).version())


@pytest.mark.parametrize("partition_by", [(), "day"])
def test_a_batch_is_one_commit_and_comes_once(tmp_path: Path, partition_by: Any) -> None:
    given = told(tmp_path, partition_by=partition_by)
    table = DeltaTable(given.sink)
    table.prepare(SCHEMA, "the results")
    for batch in (0, 1, 1, 0):
        table.publish(batch, write(given, batch), given)
    table.publish(2, [], given)
    assert rows(tmp_path) == wanted(0, 1)
    assert version(tmp_path) == 2
    assert table.left_over() == []  # what came again was taken away


def test_a_table_takes_several_queries(tmp_path: Path) -> None:
    for token in (TOKEN, OTHER):
        given = told(tmp_path, token)
        DeltaTable(given.sink).publish(0, write(given, 0), given)  # makes the table if need be
    assert rows(tmp_path) == wanted(0, 0)


def test_two_drivers_of_one_query_commit_a_batch_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = told(tmp_path)
    table = DeltaTable(given.sink)
    table.prepare(SCHEMA, "the results")
    stale = deltalake.DeltaTable(tmp_path)
    table.publish(0, write(given, 0), given)
    opened = [stale]
    real = DeltaTable._open
    monkeypatch.setattr(DeltaTable, "_open", lambda self: opened.pop() if opened else real(self))
    table.publish(0, write(given, 0), given)  # looked before the other one had committed
    assert rows(tmp_path) == wanted(0)


def test_clean_removes_what_is_left_of_committed_batches_alone(tmp_path: Path) -> None:
    given = told(tmp_path)
    table = DeltaTable(given.sink)
    left = write(given, 0)
    table.publish(0, write(given, 0), given)
    deltalake.DeltaTable(tmp_path).delete("k = 1")  # rewrites a file; the old one is for time travel
    running = [*write(given, 1), *write(told(tmp_path, OTHER), 0)]
    (tmp_path / "foreign.parquet").write_bytes(b"")
    found = table_at(str(tmp_path))
    assert sorted(Path(path).name for path in found.left_over()) == sorted(file.name for file in left)
    found.remove(found.left_over())
    assert found.left_over() == []
    assert sorted(Path(path).name for path in found.left_over(stopped=True)) == sorted(file.name for file in running)
    assert len(deltalake.DeltaTable(tmp_path, version=1).to_pyarrow_table()) == 4


def test_readers_may_skip_files_by_their_statistics(tmp_path: Path) -> None:
    given = told(tmp_path)
    table = DeltaTable(given.sink)
    for batch in (0, 5, 9):
        table.publish(batch, write(given, batch), given)
    found = deltalake.DeltaTable(tmp_path)
    adds = pa.table(found.get_add_actions(flatten=True)).to_pylist()
    assert {add["num_records"] for add in adds} == {2} and {add["null_count.s"] for add in adds} <= {1, None}
    assert {(add["min.k"], add["max.k"]) for add in adds} == {(0, 0), (0, 1), (0, 5), (1, 5), (0, 9), (1, 9)}
    assert {str(add["max.at"])[:23] for add in adds} == {"1970-01-01 00:00:00.002"}
    assert len(found.to_pyarrow_table(filters=[("k", ">", 5)])) == 2


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    DeltaTable(pt.delta(tmp_path, partition_by="day")).prepare(SCHEMA, "the results")
    with pytest.raises(pt.SinkError, match="partitioned by day"):
        DeltaTable(pt.delta(tmp_path)).prepare(SCHEMA, "the results")
    with pytest.raises(pt.SinkError, match=r"other columns than the results: it has k long"):
        DeltaTable(pt.delta(tmp_path, partition_by="day")).prepare(SCHEMA.remove(3), "the results")
