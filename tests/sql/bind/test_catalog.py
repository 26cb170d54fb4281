"""`CREATE STREAM` as a declared stream: what is said of it, and when it is opened."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import punctuated as pt
from punctuated.bind.sources import Announced, Clustered, RowsWith, Unique, When, single_sources
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow
from punctuated.sql.parse.errors import SqlError
from sql_catalog import COLUMNS, catalog


def test_streams_are_opened_when_they_are_asked_for(tmp_path: Path) -> None:
    found = catalog("CREATE STREAM s (KEY k, TIME t) FROM 'parquet' OPTIONS (path 'nowhere')", tmp_path)
    assert found.names == ["s"]
    with pytest.raises(SqlError, match="not known"):
        found.stream("s")


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


def test_two_streams_of_one_name(tmp_path: Path) -> None:
    text = "CREATE STREAM s (KEY k, TIME t) FROM 'rate';\nCREATE STREAM S (KEY k, TIME t) FROM 'rate'"
    with pytest.raises(SqlError, match="already") as caught:
        catalog(text, tmp_path)
    assert (caught.value.line, caught.value.column) == (2, 15)
