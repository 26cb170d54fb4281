"""Files that the pack reads give what Spark's rows give, of every type; what cannot be read is told by its name."""

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import punctuated as pt
from punctuated.errors import ColumnError, FileError, PredicateError, StreamError
from punctuated.exchange.parcels import read_parcels, rows_brought
from punctuated.intake.reading import Reader
from punctuated.model.spec import StreamSpec
from punctuated.spark.pack.pack import PACKED, Pack, sort_blobs
from punctuated.spark.session.local import write_files
from punctuated.spark.source.files import Files
from punctuated.spark.source.parquet import OpenFile, spans_of, takes
from punctuated.spark.source.scan import FileScan, Listed, PackFiles, shares_of
from punctuated.storage.tables.location import parse_path
from spark.session.test_types import counted, everything, join, others
from spark.spark_harness import Running

SCHEMA = "k BIGINT, ts BIGINT, v STRING, last BOOLEAN"


def rows_of(spark: SparkSession, folder: Path, schema: str = SCHEMA) -> DataFrame:
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def files_of(spark: SparkSession, folder: Path, **options: Any) -> Files:
    chosen: dict[str, Any] = {"schema": SCHEMA, "max_files": 1} | options
    return pt.files(spark, str(folder), **chosen)


def tables(n: int, first: int = 0, step: int = 1) -> list[pa.Table]:
    """Files of ten rows each; a key comes three times, and then ends."""
    numbers = range(first, first + 10 * n * step, step)
    rows = [{"k": i // 3, "ts": i, "v": f"v{i}", "last": i % 3 == 2} for i in numbers]
    table = pa.Table.from_pylist(rows)
    return [table.slice(10 * i, 10) for i in range(n)]


def joined(left: Any, right: Any) -> Any:
    a, b = (
        pt.stream(data, name=name, key="k", time="ts", window=4, punctuations=pt.when("last"))
        for name, data in (("A", left), ("B", right))
    )
    return pt.join(a, b, how="full")


def multiset(table: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.to_pylist()))


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    return [write_files(tmp_path / name, tables(3, first)) for name, first in (("a", 0), ("b", 1))]


# The same as by rows


@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS"])
def test_every_type_comes_as_by_rows(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    elsewhere = spark.newSession()
    elsewhere.conf.set("spark.sql.session.timeZone", "America/New_York")
    elsewhere.conf.set("spark.sql.parquet.outputTimestampType", kind)
    elsewhere.conf.set("spark.sql.variant.writeShredding.enabled", "false")
    paths = [str(tmp_path / name) for name in ("left", "right")]
    with_variant = "*", "parse_json(CAST(an_int AS STRING)) AS a_variant"
    written = [everything(elsewhere).selectExpr(*with_variant), others(elsewhere)]
    for frame, path in zip(written, paths, strict=True):
        frame.coalesce(1).write.parquet(path)
    by_rows = join(*(elsewhere.read.parquet(path) for path in paths)).results
    files: list[Any] = [pt.files(elsewhere, path, streaming=False) for path in paths]
    by_files = join(*files).results
    assert by_files.schema == by_rows.schema
    assert counted(by_files) == counted(by_rows)


def test_batches_punctuations_metrics_and_the_end_are_as_by_rows(
    spark: SparkSession, folders: list[Path], tmp_path: Path
) -> None:
    ways: dict[str, list[Any]] = {
        "rows": [rows_of(spark, each) for each in folders],
        "files": [files_of(spark, each) for each in folders],
    }
    found = {}
    for way, inputs in ways.items():
        out = {name: str(tmp_path / way / name) for name in ("results", "punctuations", "rejected", "checkpoint")}
        query = joined(*inputs).write_to(**out, trigger="availableNow", finish=True)
        query.awaitTermination()
        read = {name: spark.read.parquet(out[name]).toArrow() for name in ("results", "punctuations")}
        found[way] = {name: multiset(table) for name, table in read.items()}
    assert found["rows"] == found["files"]
    assert found["files"]["results"] and found["files"]["punctuations"]


def test_rows_are_counted_and_no_content_is_read(
    spark: SparkSession, folders: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = joined(*(files_of(spark, each) for each in folders))
    assert both.explain().count("rows: files, read by row groups by the workers (the columnar lane)") == 2
    view = both.results
    query = view.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
    running = query.trigger(availableNow=True).start()
    running.awaitTermination()
    batches = pt.metrics.history(running.recentProgress)
    assert [each.input_rows for each in batches] == [20, 20, 20]
    running.explain(extended=True)
    assert capsys.readouterr().out.count("ReadSchema: struct<path:string,length:bigint>") == 2


def test_a_query_goes_on_from_its_checkpoint_whichever_way_it_goes(
    spark: SparkSession, folders: list[Path], tmp_path: Path
) -> None:
    at_once = joined(*(rows_of(spark, folder) for folder in folders))
    expected = Running(at_once.results, tmp_path / "at once").table
    late = [tmp_path / "late" / each.name for each in folders]
    out = {"results": str(tmp_path / "out"), "checkpoint": str(tmp_path / "checkpoint")}
    ways: list[Callable[[SparkSession, Path], Any]] = [files_of, rows_of, files_of]
    for number, way in enumerate(ways):
        for folder, first in zip(late, (0, 1), strict=True):
            write_files(folder, tables(3, first)[number : number + 1], first=number)
        both = joined(*(way(spark, folder) for folder in late))
        both.write_to(**out, trigger="availableNow").awaitTermination()
    found = spark.read.parquet(out["results"]).drop("batch_id").toArrow()
    assert multiset(found) == multiset(expected) and len(found) > 0


def test_files_stand_beside_rows_and_announce_endings(spark: SparkSession, folders: list[Path], tmp_path: Path) -> None:
    ends = pa.table({"key": [0, 1, 2], "at": [4, 7, 10]})
    said = str(write_files(tmp_path / "ends", [ends]))

    def run(name: str, left: Any, right: Any, endings: Any) -> Counter[str]:
        announced = pt.endings(endings, key="key", time="at")
        a = pt.stream(left, name="A", key="k", time="ts", window=9, punctuations=announced, idle_after="1 hour")
        b = pt.stream(right, name="B", key="k", time="ts", window=9)
        view = pt.join(a, b).all
        return multiset(Running(view, tmp_path / name).table)

    rows, files = [rows_of(spark, each) for each in folders], [files_of(spark, each) for each in folders]
    rows_said = spark.readStream.schema("key BIGINT, at BIGINT").parquet(said)
    files_said = pt.files(spark, said, schema=pa.schema([("key", pa.int64()), ("at", pa.int64())]))
    by_rows = run("rows", rows[0], rows[1], rows_said)
    assert run("left", files[0], rows[1], files_said) == run("right", rows[0], files[1], files_said) == by_rows


def test_folders_of_partitions_tell_columns(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(40).selectExpr(
        "id AS k", "id AS ts", "id % 3 AS part", "IF(id % 4 = 0, NULL, 'a b/c') AS `x y`"
    )
    path = str(tmp_path / "parted")
    frame.write.partitionBy("part", "x y").parquet(path)
    declared = "k BIGINT, ts BIGINT, part STRING"
    for schema in (None, declared):
        reader = spark.read if schema is None else spark.read.schema(schema)
        views = [
            pt.join(
                pt.stream(each, name="A", key="k", time="ts", window=1),
                pt.stream(each, name="B", key="k", time="ts", window=1),
            ).results
            for each in (reader.parquet(path), pt.files(spark, path, schema=schema, streaming=False))
        ]
        assert views[0].schema == views[1].schema
        assert counted(views[0]) == counted(views[1])
        assert views[1].count() == 40


def test_a_filter_is_asked_of_row_groups_first(tmp_path: Path) -> None:
    table = pa.table({"k": range(1000), "v": [f"{i:04}" for i in range(1000)]})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=100)
    where = (pc.field("k") >= 250) & (pc.field("v") < "0420")
    file, span = opened(tmp_path / "x.parquet", table.schema)
    groups = file.row_groups(span, where)
    assert groups == [2, 3, 4]
    rows = pa.Table.from_batches([batch for group in groups for batch in file.read(group, where)])
    assert rows["k"].to_pylist() == list(range(250, 420))


# Types


def opened(path: Path, schema: pa.Schema) -> tuple[OpenFile, Any]:
    from pyarrow.fs import LocalFileSystem

    length = path.stat().st_size
    return OpenFile((LocalFileSystem(), str(path)), length, schema, {}), spans_of([length], 0, 1, smallest=1)[0]


def read(path: Path, schema: pa.Schema) -> pa.Table:
    file, span = opened(path, schema)
    batches = [batch for group in file.row_groups(span, None) for batch in file.read(group, None)]
    return pa.Table.from_batches(batches, schema)


US, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
VARIANT = pa.struct([pa.field("v", pa.binary(), nullable=False), pa.field("m", pa.binary(), nullable=False)])
FITTING: list[tuple[pa.Array, pa.Array]] = [  # as written by others, as it is read
    (pa.array([255], pa.uint8()), pa.array([255], pa.int16())),
    (pa.array([2**16 - 1], pa.uint16()), pa.array([2**16 - 1], pa.int32())),
    (pa.array([2**32 - 1], pa.uint32()), pa.array([2**32 - 1], pa.int64())),
    (pa.array([2**64 - 1], pa.uint64()), pa.array([Decimal(2**64 - 1)], pa.decimal128(20, 0))),
    (pa.array([-5], pa.int8()), pa.array([-5], pa.int64())),
    (pa.array([-5], pa.int32()), pa.array([Decimal(-5)], pa.decimal128(12, 2))),
    (pa.array([0.1], pa.float32()), pa.array([0.1], pa.float32()).cast(pa.float64())),
    (pa.array([Decimal("1.5")], pa.decimal128(5, 1)), pa.array([Decimal("1.50")], pa.decimal128(38, 2))),
    (pa.array([3000], pa.timestamp("ns")), pa.array([3], US)),
    (pa.array([3000], pa.timestamp("ns", "UTC")), pa.array([3], UTC)),
    (pa.array([3001], pa.timestamp("ns", "UTC")), pa.array([3001], pa.int64())),
    (pa.array([3], pa.timestamp("s", "Asia/Tokyo")), pa.array([3_000_000], UTC)),
    (pa.array([3], pa.duration("us")), pa.array([3], pa.int64())),
    (pa.array([3], pa.int64()), pa.array([3], pa.duration("us"))),
    (pa.array([3], pa.time32("ms")), pa.array([3_000_000], pa.time64("ns"))),
    (pa.array(["a", "a"]).dictionary_encode(), pa.array(["a", "a"])),
    (pa.array(["a"], pa.large_string()), pa.array(["a"])),
    (pa.array([b"ab"], pa.binary(2)), pa.array([b"ab"], pa.binary())),
    (pa.array([None], pa.null()), pa.array([None], pa.int32())),
    (pa.array([[1]], pa.large_list(pa.int8())), pa.array([[1]], pa.list_(pa.int64()))),
    (
        pa.array([{"m": b"1", "v": b"2"}, None], pa.struct([("m", pa.binary()), ("v", pa.binary())])),
        pa.array([{"m": b"1", "v": b"2"}, None], VARIANT),
    ),
    (pa.array([{"a": 1, "b": 2}]), pa.array([{"b": 2, "c": None}], pa.struct([("b", pa.int64()), ("c", US)]))),
]
UNFIT = [
    (pa.array([1], pa.int64()), pa.int32()),
    (pa.array([1], pa.uint64()), pa.int64()),
    (pa.array([0.5]), pa.float32()),
    (pa.array(["a"]), pa.int64()),
    (pa.array([Decimal("1.5")]), pa.decimal128(2, 0)),
    (pa.array([1], US), UTC),
    (pa.array([1], UTC), US),
    (pa.array([3001], pa.timestamp("ns")), US),  # its type fits, its value does not
    (pa.array([{"A": 1}]), pa.struct([("a", pa.int64())])),
    (pa.array([{"m": b"1", "v": None, "typed_value": 1}]), VARIANT),  # shredded
]


@pytest.mark.parametrize(("written", "wanted"), FITTING, ids=lambda column: str(column.type))
def test_columns_take_types_that_fit(tmp_path: Path, written: pa.Array, wanted: pa.Array) -> None:
    pq.write_table(pa.table({"x": written}), tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet", pa.schema([("x", wanted.type)]))["x"].combine_chunks().equals(wanted)


@pytest.mark.parametrize(("written", "wanted"), UNFIT, ids=str)
def test_others_are_damage(tmp_path: Path, written: pa.Array, wanted: pa.DataType) -> None:
    pq.write_table(pa.table({"x": written}), tmp_path / "x.parquet")
    with pytest.raises((FileError, pa.ArrowInvalid)):
        read(tmp_path / "x.parquet", pa.schema([("x", wanted)]))
    assert takes(wanted, written.type) is (written.type == pa.timestamp("ns"))


def test_columns_are_found_by_name_whatever_the_case(tmp_path: Path) -> None:
    pq.write_table(pa.table({"B.c": [1, 2], "Key": [3, 4], "b": [5, 6]}), tmp_path / "x.parquet")
    schema = pa.schema([("key", pa.int64()), ("gone", pa.string()), ("b.c", pa.int64())])
    expected = [{"key": 3, "gone": None, "b.c": 1}, {"key": 4, "gone": None, "b.c": 2}]
    assert read(tmp_path / "x.parquet", schema).to_pylist() == expected
    assert read(tmp_path / "x.parquet", pa.schema([("gone", pa.string())])).to_pylist() == [{"gone": None}] * 2


def test_a_file_without_row_groups_has_no_rows(tmp_path: Path) -> None:
    """Spark writes one for each empty partition."""
    schema = pa.schema([("k", pa.int64())])
    with pq.ParquetWriter(tmp_path / "x.parquet", schema):
        pass
    assert pq.ParquetFile(tmp_path / "x.parquet").num_row_groups == 0
    assert len(read(tmp_path / "x.parquet", schema)) == 0


def test_the_old_calendar_is_damage(tmp_path: Path) -> None:
    table = pa.table({"d": pa.array([1], pa.date32()), "k": [1]})
    pq.write_table(table.replace_schema_metadata({"org.apache.spark.legacyDateTime": ""}), tmp_path / "x.parquet")
    assert len(read(tmp_path / "x.parquet", table.schema.remove(0))) == 1
    with pytest.raises(FileError, match="old calendar"):
        read(tmp_path / "x.parquet", table.schema)


# Shares of tasks


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(1, 6), st.integers(1, 30))
def test_parts_hold_every_byte_once(lengths: list[int], n_parts: int, smallest: int) -> None:
    spans = [span for part in range(n_parts) for span in spans_of(lengths, part, n_parts, smallest)]
    for place, length in enumerate(lengths):
        ours = [span for span in spans if span.file == place]
        assert [byte for span in ours for byte in range(span.begin, span.end)] == list(range(max(1, length)))
        assert len(ours) == 1 or length >= smallest


def pack_of(names: Sequence[str]) -> Pack:
    spec = StreamSpec(name="A", columns=tuple(names), key=("k",), time="k")
    schema = pa.schema([(name, pa.int64()) for name in names])
    return Pack(0, Reader(spec, None, schema, (pa.int64(),)), 2)


@pytest.mark.parametrize("n_parts", [1, 3, 7])
def test_row_groups_are_shared_and_each_is_read_once(tmp_path: Path, n_parts: int) -> None:
    listed: list[Listed] = []
    for number, (n_rows, group) in enumerate([(1000, 50), (10, 10), (5000, 200), (0, 1)]):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table({"k": range(n_rows)}), path, row_group_size=group)
        listed.append({"stream": 0, "path": f"file:{path}", "length": path.stat().st_size})
    schema = pa.schema([("k", pa.int64())])
    function = PackFiles(((FileScan(schema), pack_of(["k"])),), n_parts, smallest=1)
    blobs: list[bytes] = []
    sizes = []
    for part in range(n_parts):
        batch = pa.RecordBatch.from_pylist([{"part": part, **each} for each in reversed(listed)])
        packed = pa.Table.from_batches(list(function(iter([batch]))), PACKED)
        ours = packed.filter(pc.field("bucket") == packed["bucket"][0])
        sizes.append(rows_brought(ours["data"].to_pylist()))
        blobs += sort_blobs(1, *(packed[name].to_pylist() for name in ("side", "rejected", "data"))).streams[0]
    rows = read_parcels(schema, blobs).rows
    assert Counter(rows["k"].to_pylist()) == Counter([*range(1000), *range(10), *range(5000)])
    assert sum(sizes) == 6010
    assert max(sizes) < 2.5 * 6010 / n_parts


# Damage


def damage(folder: Path) -> list[str]:
    """A file that is none, one that was cut off, one with a broken row group, and one of another kind."""
    good = pa.concat_tables(tables(3))
    (folder / "none.parquet").write_bytes(b"no file of columns")
    pq.write_table(good, folder / "cut.parquet")
    whole = (folder / "cut.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[:-100])
    pq.write_table(good, folder / "group.parquet", row_group_size=10, compression="none", use_dictionary=False)
    first = pq.ParquetFile(folder / "group.parquet").metadata.row_group(1).column(2)
    with open(folder / "group.parquet", "r+b") as file:
        file.seek(first.data_page_offset)
        file.write(b"\xff" * first.total_compressed_size)
    pq.write_table(good.set_column(0, "k", good["v"]), folder / "kind.parquet")
    return sorted(path.name for path in folder.iterdir())


def test_damage_fails_the_query_by_its_name(spark: SparkSession, folders: list[Path], tmp_path: Path) -> None:
    names = damage(folders[0])
    for name in ("none.parquet", "group.parquet"):
        left = pt.files(spark, str(folders[0]), schema=SCHEMA, options={"pathGlobFilter": name})
        view = joined(left, files_of(spark, folders[1])).results
        with pytest.raises(StreamingQueryException, match=f"cannot read file:.*{name}.*on_damage='reject'"):
            _ = Running(view, tmp_path / name).table
    assert len(names) == 7


def test_damage_is_rejected_if_that_is_wished(spark: SparkSession, folders: list[Path], tmp_path: Path) -> None:
    damage(folders[0])
    left = pt.files(spark, str(folders[0]), schema=SCHEMA, on_damage="reject", options={"pathGlobFilter": "[cgkn]*"})
    running = Running(joined(left, files_of(spark, folders[1], max_files=None)).all, tmp_path / "checkpoint")
    rejected = [json.loads(row) for row in running.table["_row"].to_pylist() if row is not None and "file" in row]
    found = {os.path.basename(each["file"]): each["error"] for each in rejected}
    assert len(rejected) == len(found) == 4
    assert found["group.parquet"].startswith("row group 1: ")
    assert "its column 'k' is of type string, which does not fit into int64" in found["kind.parquet"]
    said = [json.loads(text) for text in running.metrics[0]]
    assert sum(each["rejected_corrupt_left"] for each in said) == 4
    assert sum(each["tuples_left"] for each in said) == 20  # of the other two row groups


def test_a_file_that_has_changed_or_is_gone_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"k": [1]}), path)
    listed = {"part": 0, "stream": 0, "path": str(path), "length": path.stat().st_size + 1}
    scan = FileScan(pa.schema([("k", pa.int64())]))
    with pytest.raises(FileError, match="bytes when Spark listed it"):
        list(scan.read(0, shares_of([listed], 1), []))
    path.unlink()
    with pytest.raises(FileError, match=r"cannot read .*x\.parquet"):
        list(scan.read(0, shares_of([listed], 1), []))


# What is refused when a query is built


def test_what_cannot_work_is_refused(spark: SparkSession, folders: list[Path], tmp_path: Path) -> None:
    path = str(folders[0])
    with pytest.raises(StreamError, match=r"spark.readStream.format\('csv'\)"):
        pt.files(spark, path, format="csv")
    with pytest.raises(StreamError, match="give either max_files="):
        pt.files(spark, path, schema=SCHEMA, max_files=1, max_bytes="1 MiB")
    with pytest.raises(StreamError, match="on_damage='skip'"):
        pt.files(spark, path, schema=SCHEMA, on_damage="skip")
    with pytest.raises(StreamError, match="cannot reach 'wasb://"):
        pt.files(spark, "wasb://x@y/z", schema=SCHEMA)
    with pytest.raises(PredicateError, match="cannot be asked"):
        pt.files(spark, path, schema=SCHEMA, where=pc.field("k") == "a")
    with pytest.raises(PredicateError, match="expression of pyarrow"):
        pt.files(spark, path, schema=SCHEMA, where="k > 1")
    with pytest.raises(ColumnError, match="'u' is of type uint8"):
        pt.files(spark, path, schema=pa.schema([("u", pa.uint8())]))
    with pytest.raises(StreamError, match="there is nothing at"):
        pt.files(spark, str(tmp_path / "nowhere"), schema=SCHEMA)
    (tmp_path / "text.parquet").write_text("k,ts\n1,2\n" * 10)
    with pytest.raises(FileError, match=r"not hold only files of Parquet: .*text\.parquet"):
        pt.files(spark, str(tmp_path / "text.parquet"))
    pq.write_table(pa.table({"t": pa.array([1], pa.timestamp("ns"))}), tmp_path / "nanos.parquet")
    with pytest.raises(ColumnError, match=r"Give pt\.files schema="):
        pt.files(spark, str(tmp_path / "nanos.parquet"))


@pytest.mark.parametrize(
    ("path", "scheme", "inside"),
    [
        ("file:/a/b c%20.parquet", "file", "/a/b c%20.parquet"),
        ("file:///a/b", "file", "/a/b"),
        ("/a/b=c:d", "file", "/a/b=c:d"),
        ("s3a://bucket/a/b", "s3", "bucket/a/b"),
        ("gs://bucket/a", "gs", "bucket/a"),
        ("abfss://box@account.dfs.core.windows.net/a", "abfss", "box/a"),
        ("hdfs://name:8020/a", "hdfs", "/a"),
    ],
)
def test_hadoops_paths_are_pyarrows(path: str, scheme: str, inside: str) -> None:
    place = parse_path(path)
    assert (place.scheme, place.in_store) == (scheme, inside)
