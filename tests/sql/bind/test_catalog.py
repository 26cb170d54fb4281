"""`CREATE STREAM` as a declared stream: where its rows come from, and what is said of them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import punctuated as pt
from punctuated.bind.sources import Announced, Clustered, RowsWith, Unique, When, single_sources
from punctuated.bind.streams import Stream
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.parse.errors import SqlError
from punctuated.sql.parse.statements import parse_script
from punctuated.sql.parse.syntax import CreateStream
from punctuated.sql.sources.schemas import OutlineSources, SqlSources, is_endless
from punctuated.sql.sources.spark import SparkSources, reason_for_rows
from punctuated.sql.sources.tables import TableSources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BIDS = pa.table(
    {
        "item": pa.array([1, 2, 1], pa.int64()),
        "price": [5.0, 6.5, 7.0],
        "at": pa.array(
            [datetime(2003, 11, 10, 9, minute, tzinfo=UTC) for minute in (1, 2, 3)], pa.timestamp("us", "UTC")
        ),
        "state": ["open", "open", "closed"],
    }
)
COLUMNS = "item BIGINT, price DOUBLE, at TIMESTAMP, state STRING"


def created(text: str) -> list[CreateStream]:
    return [each for each in parse_script(text) if isinstance(each, CreateStream)]


def catalog(text: str, folder: Path, sources: SqlSources | None = None) -> Catalog:
    return Catalog(created(text), sources or TableSources(folder))


def rows_of(stream: Stream) -> pa.Table:
    assert isinstance(stream, pt.TableStream)
    return pa.concat_tables(stream.batches)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The bids in every kind of file."""
    for kind in ("parquet", "csv", "json", "delta"):
        (tmp_path / kind).mkdir()
    pq.write_table(BIDS, tmp_path / "parquet" / "part.parquet")
    pa_csv.write_csv(BIDS, tmp_path / "csv" / "part.csv")
    lines = [f'{{"item": {i}, "price": {p}, "at": "{at.isoformat()}", "state": "{s}"}}' for i, p, at, s in _rows()]
    (tmp_path / "json" / "part.json").write_text("\n".join(lines), encoding="utf-8")
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(tmp_path / "delta"), BIDS)
    return tmp_path


def _rows() -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in BIDS.to_pylist()]


# Sources of this process


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


def test_streams_are_opened_when_they_are_asked_for(tmp_path: Path) -> None:
    found = catalog("CREATE STREAM s (KEY k, TIME t) FROM 'parquet' OPTIONS (path 'nowhere')", tmp_path)
    assert found.names == ["s"]
    with pytest.raises(SqlError, match="not known"):
        found.stream("s")


# What is said of a stream


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("UNIQUE", Unique),
        ("CLUSTERED", Clustered),
        ("WHEN last", When),
        ("PATTERNS pattern", RowsWith),
        ("ENDINGS e", Announced),
    ],
)
def test_punctuated_by(said: str, source: type, tmp_path: Path) -> None:
    options = "OPTIONS (stream 'punct-asc-10-4', rows 99, punctuations 'rows')"
    text = f"""
        CREATE STREAM e (KEY key, TIME ts) FROM 'generator' OPTIONS (stream 'unique', rows 5);
        CREATE STREAM s (KEY key, TIME ts, PUNCTUATED BY {said}) FROM 'generator' {options}
    """
    found = catalog(text, tmp_path).stream("s")
    assert [type(each) for each in single_sources(found.punctuations)] == [source]


def test_several_ways_to_say_that_a_key_is_over(tmp_path: Path) -> None:
    text = """CREATE STREAM s (KEY key, TIME ts, PUNCTUATED BY WHEN last, PUNCTUATED BY CLUSTERED)
        FROM 'generator' OPTIONS (stream 'cluster-asc-5', rows 9)"""
    found = catalog(text, tmp_path).stream("s")
    assert {type(each) for each in single_sources(found.punctuations)} == {When, Clustered}


def test_a_flag_may_have_any_name(tmp_path: Path) -> None:
    rows = pa.table({"k": [1, 1], "t": [0, 1], "SELECT": [False, True]})
    pq.write_table(rows, tmp_path / "part.parquet")
    text = (
        """CREATE STREAM s (KEY k, TIME t, PUNCTUATED BY WHEN "SELECT") FROM 'parquet' OPTIONS (path 'part.parquet')"""
    )
    found = catalog(text, tmp_path).stream("s")
    assert list(single_sources(found.punctuations)) == [When("SELECT")]
    assert found.spec.columns == ("k", "t", "SELECT")


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


def test_a_flag_may_be_an_expression(folder: Path) -> None:
    text = """CREATE STREAM bids (KEY item, TIME at, PUNCTUATED BY WHEN state = 'closed' AND price > 6)
        FROM 'parquet' OPTIONS (path 'parquet')"""
    found = catalog(text, folder).stream("bids")
    (flag,) = single_sources(found.punctuations)
    assert isinstance(flag, When)
    assert isinstance(found, pt.TableStream)
    assert pt.only(found).punctuations.column("item").to_pylist() == [1]


@pytest.mark.parametrize(
    ("said", "window"),
    [
        ("WINDOW [RANGE 5 MINUTES]", TimeWindow(300_000_000)),
        ("WINDOW [NOW]", TimeWindow(0)),
        ("WINDOW [ROWS 3 PARTITION BY item]", CountWindow(3, per_key=True)),
        ("WINDOW [UNTIL at]", UntilWindow("at")),
        ("LATENESS 5 MINUTES", None),
    ],
)
def test_windows_and_lateness(said: str, window: Any, folder: Path) -> None:
    text = f"CREATE STREAM s (KEY item, TIME at, {said}) FROM 'parquet' OPTIONS (path 'parquet')"
    spec = catalog(text, folder).stream("s").spec
    assert spec.window == window
    assert spec.lateness_us == (300_000_000 if "LATENESS" in said else 0)
    assert (spec.name, spec.key, spec.time) == ("s", ("item",), "at")


# What cannot be


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("CREATE STREAM s (KEY itme, TIME at) FROM 'parquet' OPTIONS (path 'parquet')", (1, 18), "did you mean 'item'"),
        ("CREATE STREAM s (KEY item, TIME att) FROM 'parquet' OPTIONS (path 'parquet')", (1, 28), "did you mean 'at'"),
        ("CREATE STREAM s (KEY item, TIME at) FROM 'parquet'", (1, 42), "give OPTIONS (path '…')"),
        ("CREATE STREAM s (KEY item, TIME at) FROM 'csv' OPTIONS (path 'csv')", (1, 42), "name them in CREATE STREAM"),
        ("CREATE STREAM s (KEY item, TIME at) FROM 'kafka'", (1, 42), "which needs Spark"),
        ("CREATE STREAM s (KEY key, TIME ts) FROM 'generator' OPTIONS (stream 'unique')", (1, 41), "has no end"),
        ("CREATE STREAM s (KEY key, TIME ts) FROM 'generator' OPTIONS (strem 'x')", (1, 41), "unknown option strem"),
        (
            "CREATE STREAM s (KEY item, TIME at, PUNCTUATED BY WHEN stat = 1) FROM 'parquet' OPTIONS (path 'parquet')",
            (1, 56),
            "did you mean 'state'",
        ),
        (
            "CREATE STREAM s (KEY item, TIME at, PUNCTUATED BY ENDINGS t) FROM 'parquet' OPTIONS (path 'parquet')",
            (1, 37),
            "column 37: there is no stream 't'",
        ),
        ("CREATE STREAM s (KEY item) FROM 'parquet' OPTIONS (path 'parquet')", (1, 1), "has no TIME"),
        (
            "CREATE STREAM s (TIME at, PUNCTUATED BY UNIQUE) FROM 'parquet' OPTIONS (path 'parquet')",
            (1, 27),
            "has no KEY that could end",
        ),
        (
            "CREATE STREAM s (KEY item, TIME at, PUNCTUATED BY WHEN b.state = 'x') "
            "FROM 'parquet' OPTIONS (path 'parquet')",
            (1, 56),
            "there is no stream 'b'",
        ),
        (
            "CREATE STREAM s (KEY item, TIME at) FROM 'parquet' OPTIONS (path 'parquet', maxFilesPerTriger 1)",
            (1, 42),
            "did you mean 'maxFilesPerTrigger'",
        ),
        (
            f"CREATE STREAM s ({COLUMNS}, KEY item, TIME at) FROM 'csv' OPTIONS (path 'csv', nullValue '-')",
            (1, 97),
            "nullValue needs Spark",
        ),
        (
            f"CREATE STREAM s ({COLUMNS}, KEY item, TIME at) FROM 'csv' OPTIONS (path 'csv', header 'perhaps')",
            (1, 97),
            "give true or false",
        ),
        (f"CREATE STREAM s ({COLUMNS}, KEY item, TIME at) FROM 'csv' OPTIONS (path 'csv')", (1, 97), "cannot be read"),
        (
            f"CREATE STREAM s ({COLUMNS}, KEY item, TIME at) FROM 'csv' OPTIONS (path 'csv', sep '||')",
            (1, 97),
            "give one character",
        ),
        (f"CREATE STREAM s ({COLUMNS}, KEY item, TIME at) FROM 'json' OPTIONS (path 'csv')", (1, 97), "cannot be read"),
        (
            "CREATE STREAM s (item BIGINT, at TIMESTAMP, prise DOUBLE, KEY item, TIME at) "
            "FROM 'parquet' OPTIONS (path 'parquet')",
            (1, 83),
            "did you mean 'price'",
        ),
        (
            "CREATE STREAM s (KEY item_id, TIME opened_at) FROM 'generator' OPTIONS (stream 'auctoins', auctions 5)",
            (1, 52),
            "'auctions' and 'bids'",
        ),
    ],
)
def test_what_cannot_be_says_where_and_why(text: str, place: tuple[int, int], words: str, folder: Path) -> None:
    with pytest.raises(SqlError) as caught:
        catalog(text, folder).stream("s")
    assert words in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


def test_the_source_that_is_meant(tmp_path: Path) -> None:
    text = "CREATE STREAM s (KEY item, TIME at) FROM 'parket' OPTIONS (path 'x')"
    with pytest.raises(SqlError, match=r"name them in CREATE STREAM s .*Did you mean 'parquet'\?"):
        catalog(text, tmp_path, OutlineSources(tmp_path)).stream("s")


def test_two_streams_of_one_name(tmp_path: Path) -> None:
    text = "CREATE STREAM s (KEY k, TIME t) FROM 'rate';\nCREATE STREAM S (KEY k, TIME t) FROM 'rate'"
    with pytest.raises(SqlError, match="already") as caught:
        catalog(text, tmp_path)
    assert (caught.value.line, caught.value.column) == (2, 15)


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


# The lane


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


# On Spark


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
