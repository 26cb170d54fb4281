"""Tables to files: every row once, in files of the right partition, order, size and types."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punctuated as pt
from punctuated.storage.tables import writer as writing
from punctuated.storage.tables.sink import TableSink
from punctuated.storage.tables.types import stored_schema
from punctuated.storage.tables.writer import TableWriter, by_partition
from punctuated.storage.tables.written_file import STAGED, OutputTable, WrittenFile, batch_of, partition_folder

TOKEN = "0123456789abcdef" * 2
SCHEMA = pa.schema([("k", pa.int64()), ("day", pa.string()), ("hour", pa.int8()), ("v", pa.float64())])
Rows = list[tuple[Any, ...]]


def rows(n: int, seed: int = 0) -> pa.Table:
    random = Random(seed)
    given = [(k, random.choice(["a/b", "ü =", None]), random.choice([1, None]), random.random()) for k in range(n)]
    return pa.table(list(zip(*given, strict=True)), schema=SCHEMA) if given else SCHEMA.empty_table()


def written(sink: TableSink, tables: list[pa.Table], bucket: int = 3, batch: int = 7) -> list[WrittenFile]:
    told = OutputTable("result", sink, TOKEN, tables[0].schema, {"of": "a test"})
    writer = TableWriter(told, batch, bucket)
    for table in tables:
        writer.write(table)
    return [WrittenFile.from_json(file.to_json()) for file in writer.close()]


def read(path: Path, file: WrittenFile) -> pa.Table:
    return pq.ParquetFile(path / STAGED / file.name).read()


def counted(table: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.to_pylist()))


def test_many_small_tables_become_one_file_of_one_row_group(tmp_path: Path) -> None:
    table = rows(1000)
    (file,) = written(pt.parquet(tmp_path), [table.slice(at, 10) for at in range(0, 1000, 10)])
    parquet = pq.ParquetFile(tmp_path / STAGED / file.name)
    assert parquet.num_row_groups == 1 and parquet.metadata.metadata[b"of"] == b"a test"
    assert parquet.read().replace_schema_metadata().equals(table)
    assert (file.n_rows, file.n_bytes) == (1000, (tmp_path / STAGED / file.name).stat().st_size)
    assert batch_of(file.name) == 7 and batch_of(file.name, "another") is None


def test_nothing_is_written_where_there_are_no_rows(tmp_path: Path) -> None:
    assert written(pt.parquet(tmp_path), [rows(0)]) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sort_by", [(), "v", ("v", "descending"), ["day", ("v", "descending")]])
@pytest.mark.parametrize("partition_by", [(), "day", ["day", "hour"]])
def test_every_row_is_in_one_file_of_its_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort_by: Any, partition_by: Any
) -> None:
    for name, value in (("_GROUP_ROWS", 50), ("_MOST_WAITING", 3000), ("_MOST_OPEN", 2)):
        monkeypatch.setattr(writing, name, value)
    if partition_by and "day" in sort_by:
        sort_by = "v"
    sink = pt.parquet(tmp_path, sort_by=sort_by, partition_by=partition_by, file_size=2000)
    tables = [rows(n, seed) for seed, n in enumerate([100, 1, 0, 400])]
    found: Counter[tuple[Any, ...]] = Counter()
    files = written(sink, tables)
    assert len({file.name for file in files}) == len({file.number for file in files}) == len(files) > 1
    for file in files:
        table = read(tmp_path, file)
        assert len(table) == file.n_rows
        if sink.sort_by:
            assert table.equals(table.sort_by(list(sink.sort_by)))
        for row in table.to_pylist():
            whole = row | dict(file.partition)
            found[whole["k"], whole["day"], None if whole["hour"] is None else int(whole["hour"]), whole["v"]] += 1
    assert found == Counter(tuple(row.values()) for table in tables for row in table.to_pylist())


def test_files_end_at_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_GROUP_ROWS", 1000)
    files = written(pt.parquet(tmp_path, file_size="20 KiB", compression="none"), [rows(20_000)])
    assert len(files) > 5
    assert all(20 << 10 <= file.n_bytes <= 60 << 10 for file in files[:-1])


def test_an_attempt_that_is_abandoned_leaves_nothing(tmp_path: Path) -> None:
    sink = pt.parquet(tmp_path, sort_by="k", file_size=100)
    writer = TableWriter(OutputTable("result", sink, TOKEN, SCHEMA), 0, 0)
    writer.write(rows(100))
    assert list((tmp_path / STAGED).iterdir())
    writer.abandon()
    assert list((tmp_path / STAGED).iterdir()) == []


@given(st.lists(st.tuples(st.sampled_from(["", "a", None]), st.sampled_from([0, 1, None]), st.integers(0, 9))))
def test_partitions_keep_rows_and_their_order(given: Rows) -> None:
    columns = [[row[place] for row in given] for place in range(3)]
    table = pa.table(columns, schema=pa.schema([("a", pa.string()), ("b", pa.int32()), ("n", pa.int64())]))
    found = {tuple(value for _, value in partition): part["n"].to_pylist() for partition, part in _parts(table)}
    wanted: dict[tuple[Any, ...], list[int]] = {}
    for a, b, n in given:
        wanted.setdefault((a or None, None if b is None else str(b)), []).append(n)
    assert found == wanted


def _parts(table: pa.Table) -> Any:
    return list(by_partition(table, ["a", "b"])) if len(table) else []


def test_names_of_folders_are_read_back_by_others(tmp_path: Path) -> None:
    for number, value in enumerate(["a/b", "50%", "x=y", "ü #?", "a:b", None]):
        folder = tmp_path / partition_folder("day", value)
        folder.mkdir()
        pq.write_table(pa.table({"n": [number]}), folder / "x.parquet")
    rows = pq.read_table(tmp_path).to_pylist()
    found = [row["day"] for row in sorted(rows, key=lambda row: row["n"])]
    assert found == ["a/b", "50%", "x=y", "ü #?", "a:b", None]


def test_types_that_others_do_not_have_are_stored_as_wider_ones(tmp_path: Path) -> None:
    given = pa.table(
        {
            "u8": pa.array([255], pa.uint8()),
            "u64": pa.array([2**64 - 1], pa.uint64()),
            "ns": pa.array([1_000], pa.timestamp("ns", "UTC")),
            "nested": pa.array([[{"u": 65535, "m": [("a", 1)]}]], pa.list_(_nested(pa.uint16(), pa.time64("ns")))),
        }
    )
    with pytest.raises(pa.ArrowInvalid):  # a nested nanosecond that is no microsecond is not cut
        written(pt.parquet(tmp_path), [given])
    fine = given.drop_columns(["nested"])
    (file,) = written(pt.parquet(tmp_path), [fine])
    assert read(tmp_path, file).schema.remove_metadata().equals(stored_schema(fine.schema))
    assert read(tmp_path, file).to_pylist()[0]["u64"] == 2**64 - 1


def test_a_null_struct_hides_what_its_fields_hold(tmp_path: Path) -> None:
    """Arrow allows for that even if the fields are declared without nulls; Parquet would not."""
    never_null = pa.field("x", pa.int32(), nullable=False)
    column = pa.StructArray.from_arrays(
        [pa.array([1, None], pa.int32())], fields=[never_null], mask=pa.array([False, True])
    )
    (file,) = written(pt.parquet(tmp_path), [pa.table({"s": column})])
    assert read(tmp_path, file).to_pylist() == [{"s": {"x": 1}}, {"s": None}]


def _nested(number: pa.DataType, time: pa.DataType) -> pa.DataType:
    return pa.struct([("u", number), ("m", pa.map_(pa.string(), time))])


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(pt.SinkError, match="compression"):
        pt.parquet("x", compression="zip")
    with pytest.raises(pt.SinkError, match="writer"):
        pt.parquet("x", writer="me")
    with pytest.raises(pt.SinkError, match="pairs such as"):
        pt.parquet("x", sort_by=[("v", "down")])
    with pytest.raises(pt.SinkError, match="twice"):
        pt.delta("x", partition_by=["a", "a"])
    with pytest.raises(pt.SinkError, match="by its path"):
        pt.delta(7)  # type: ignore[arg-type]
    with pytest.raises(pt.PunctuatedError, match="file_size"):
        pt.parquet("x", file_size="much")
    with pytest.raises(pt.SinkError, match="no column 'w'"):
        pt.parquet("x", sort_by="w").check(SCHEMA, "the results")
    with pytest.raises(pt.SinkError, match="type double"):
        pt.parquet("x", partition_by="v").check(SCHEMA, "the results")
    with pytest.raises(pt.SinkError, match="at least one column"):
        pt.parquet("x", partition_by="k").check(pa.schema([("k", pa.int64())]), "the results")
