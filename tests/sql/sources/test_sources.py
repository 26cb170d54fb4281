"""Sources of CREATE STREAM: how their rows and columns are read, in this process and on Spark."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import punctuated as pt
from punctuated.sql.parse.errors import SqlError
from punctuated.sql.sources.schemas import OutlineSources, is_endless
from punctuated.sql.sources.spark import SparkSources, reason_for_rows
from sql_catalog import BIDS, COLUMNS, catalog, created, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("source", "columns", "options"),
    [
        ("parquet", "", "path 'parquet'"),
        ("parquet", COLUMNS, "path 'parquet/*.parquet'"),
        ("csv", COLUMNS, "path 'csv', header true"),
        ("json", COLUMNS, "path 'json'"),
        ("delta", "", "path 'delta'"),
    ],
)
def test_files_are_read_as_tables(folder: Path, source: str, columns: str, options: str) -> None:
    listed = f"{columns}, " if columns else ""
    text = f"CREATE STREAM bids ({listed}KEY item, TIME at) FROM '{source}' OPTIONS ({options})"
    assert rows_of(catalog(text, folder).stream("bids")).to_pylist() == BIDS.to_pylist()


def test_columns_of_a_statement_are_chosen_and_cast(folder: Path) -> None:
    text = "CREATE STREAM bids (item INT, at TIMESTAMP, KEY item, TIME at) FROM 'parquet' OPTIONS (path 'parquet')"
    assert rows_of(catalog(text, folder).stream("bids")).schema.field("item").type == pa.int32()


def test_generated_streams_are_those_of_streams(tmp_path: Path) -> None:
    text = """
        CREATE STREAM a (KEY item_id, TIME opened_at) FROM 'generator' OPTIONS (stream 'auctions', auctions 50, seed 3);
        CREATE STREAM b (KEY item_id, TIME bid_at) FROM 'generator' OPTIONS (stream 'bids', auctions 50, seed 3);
        CREATE STREAM p (KEY key, TIME ts, PUNCTUATED BY PATTERNS pattern)
        FROM 'generator' OPTIONS (stream 'punct-asc-10-4', rows 99, gap '1 second', punctuations 'rows')
    """
    found = catalog(text, tmp_path)
    opened, bids = pt.streams.auctions(50, seed=3)
    assert rows_of(found.stream("a")) == opened
    assert rows_of(found.stream("b")) == bids
    punct = pt.streams.generate("punct-asc-10-4", 99, gap="1 second", punctuations="rows")
    assert rows_of(found.stream("p")) == punct


@pytest.mark.parametrize("source", ["csv", "json"])
def test_moments_in_text_need_no_offset(source: str, tmp_path: Path) -> None:
    texts = ["2024-05-01 12:00:00", "2024-05-01T12:00:00.5+02:00", "2024-05-01 12:00:01Z"]
    line = "{},{}\n" if source == "csv" else '{{"k": {}, "t": "{}"}}\n'
    (tmp_path / "in.txt").write_text("".join(line.format(k, text) for k, text in enumerate(texts)), encoding="utf-8")
    text = f"CREATE STREAM s (k BIGINT, t TIMESTAMP, KEY k, TIME t) FROM '{source}' OPTIONS (path 'in.txt')"
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    expected = [noon, noon - timedelta(hours=2, seconds=-0.5), noon + timedelta(seconds=1)]
    assert rows_of(catalog(text, tmp_path).stream("s"))["t"].to_pylist() == expected


def test_moments_of_files_are_in_utc_as_on_spark(tmp_path: Path) -> None:
    moments = pa.array([datetime(2024, 5, 1, 12, tzinfo=UTC)], pa.timestamp("us", "Asia/Tokyo"))
    pq.write_table(pa.table({"k": [1], "t": moments}), tmp_path / "part.parquet")
    text = "CREATE STREAM s (KEY k, TIME t) FROM 'parquet' OPTIONS (path 'part.parquet')"
    assert rows_of(catalog(text, tmp_path).stream("s")).schema.field("t").type == pa.timestamp("us", "UTC")


def test_the_source_that_is_meant(tmp_path: Path) -> None:
    text = "CREATE STREAM s (KEY item, TIME at) FROM 'parket' OPTIONS (path 'x')"
    with pytest.raises(SqlError, match=r"name them in CREATE STREAM s .*Did you mean 'parquet'\?"):
        catalog(text, tmp_path, OutlineSources(tmp_path)).stream("s")


@pytest.mark.parametrize(
    ("source", "endless"),
    [
        ("'rate'", True),
        ("'generator' OPTIONS (stream 'unique')", True),
        ("'generator' OPTIONS (stream 'unique', rows 5)", False),
        ("'generator' OPTIONS (stream 'bids', auctions 5)", False),
        ("'parquet' OPTIONS (path 'x')", False),
    ],
)
def test_what_never_ends(source: str, endless: bool, tmp_path: Path) -> None:
    (statement,) = created(f"CREATE STREAM s (KEY k, TIME t) FROM {source}")
    assert is_endless(statement, tmp_path) is endless


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("'parquet' OPTIONS (path 'x', maxFilesPerTrigger 1)", None),
        ("'parquet' OPTIONS (path 'x', lane false)", "the option lane says so"),
        ("'parquet' OPTIONS (path 'x', mergeSchema true)", "only Spark's reader knows the option mergeSchema"),
        ("'parquet' OPTIONS (path 'dbfs:/x')", "no dbfs"),
        ("'csv' OPTIONS (path 'x')", "this is 'csv'"),
    ],
)
def test_which_way_rows_take_and_why(source: str, words: str | None, tmp_path: Path) -> None:
    (statement,) = created(f"CREATE STREAM s (KEY k, TIME t) FROM {source}")
    why = reason_for_rows(statement, tmp_path)
    assert why is None if words is None else why is not None and words in why


def test_an_outline_has_columns_and_no_rows(folder: Path) -> None:
    text = f"""
        CREATE STREAM p (KEY item, TIME at) FROM 'parquet' OPTIONS (path 'parquet');
        CREATE STREAM c ({COLUMNS}, KEY item, TIME at) FROM 'csv' OPTIONS (path 'not_yet_there');
        CREATE STREAM r (KEY value, TIME "timestamp") FROM 'rate'
    """
    found = catalog(text, folder, OutlineSources(folder))
    assert {name: len(rows_of(found.stream(name))) for name in found.names} == {"p": 0, "c": 0, "r": 0}
    assert found.stream("p").schema == found.stream("c").schema == BIDS.schema


@pytest.mark.spark
def test_sources_on_spark(folder: Path, spark: "SparkSession") -> None:
    text = f"""
        CREATE STREAM lane (KEY item, TIME at) FROM 'parquet' OPTIONS (path 'parquet');
        CREATE STREAM rows (KEY item, TIME at) FROM 'parquet' OPTIONS (path 'parquet', lane false);
        CREATE STREAM csv ({COLUMNS}, KEY item, TIME at) FROM 'csv' OPTIONS (path 'csv', header true);
        CREATE STREAM json ({COLUMNS}, KEY item, TIME at) FROM 'json' OPTIONS (path 'json');
        CREATE STREAM rate (KEY value, TIME "timestamp") FROM 'rate' OPTIONS (rowsPerSecond 5);
        CREATE STREAM bids (KEY item_id, TIME bid_at, PUNCTUATED BY WHEN closed)
        FROM 'generator' OPTIONS (stream 'bids', auctions 50)
    """
    found = catalog(text, folder, SparkSources(spark, folder))
    streams = {name: found.stream(name) for name in found.names}
    kinds = {name: type(each.frame).__name__ for name, each in streams.items() if isinstance(each, pt.SparkStream)}
    assert kinds == {name: "Files" if name == "lane" else "DataFrame" for name in found.names}
    assert all(each.frame.isStreaming for each in streams.values() if isinstance(each, pt.SparkStream))
    assert {streams[name].schema for name in ("rows", "csv", "json")} == {streams["lane"].schema}


@pytest.mark.spark
def test_a_format_that_spark_does_not_know(tmp_path: Path, spark: "SparkSession") -> None:
    found = catalog("CREATE STREAM s (k INT, KEY k, TIME t) FROM 'nonsense'", tmp_path, SparkSources(spark, tmp_path))
    with pytest.raises(SqlError, match=r"spark\.jars\.packages"):
        found.stream("s")
