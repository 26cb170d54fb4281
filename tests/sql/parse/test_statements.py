"""Statements of scripts: what they say, and where."""

import pickle

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.sql.parse.statements import parse_query, parse_script
from punctuated.sql.parse.syntax import CreateStream, Explain, Insert, Select

CREATE = """-- bids of an auction house
CREATE STREAM bids (
  item BIGINT, price DECIMAL(10, 2), at TIMESTAMP, time STRING, tags ARRAY<STRING>,
  TIME at, KEY (item, time),
  PUNCTUATED BY WHEN price > 5 AND item = 3, PUNCTUATED BY UNIQUE, PUNCTUATED BY PATTERNS pattern,
  PUNCTUATED BY CLUSTERED, PUNCTUATED BY ENDINGS closings,
  LATENESS INTERVAL '5' MINUTES, WINDOW [RANGE 12 HOURS]
) FROM 'parquet' OPTIONS (path '/data/bids', maxFilesPerTrigger 1, spark.x = TRUE, 'a b' -2.5);
/* done */ ;
"""


def test_create_stream() -> None:
    (made,) = parse_script(CREATE)
    assert isinstance(made, CreateStream)
    assert (made.name, made.source, made.time, made.key) == ("bids", "parquet", "at", ("item", "time"))
    assert dict(made.columns)["price"] == "DECIMAL(10, 2)"
    assert [name for name, _ in made.columns] == ["item", "price", "at", "time", "tags"]
    assert [(each.kind, each.argument) for each in made.punctuated] == [
        ("when", "price > 5 AND item = 3"),
        ("unique", None),
        ("patterns", "pattern"),
        ("clustered", None),
        ("endings", "closings"),
    ]
    assert made.lateness == "5 minutes"
    assert made.window is not None and made.window.kind == "range"
    options = {"path": "/data/bids", "maxFilesPerTrigger": "1", "spark.x": "true", "a b": "-2.5"}
    assert made.options == options
    assert (made.position.line, made.position.column) == (2, 1)
    assert (made.positions["TIME"].line, made.positions["price"].column) == (4, 16)


def test_insert_explain_and_select() -> None:
    text = "INSERT INTO 'delta' OPTIONS (path 'x') SELECT a FROM s; EXPLAIN SELECT a FROM s; SELECT a FROM s"
    insert, explain, select = parse_script(text)
    assert isinstance(insert, Insert) and (insert.sink, insert.options) == ("delta", {"path": "x"})
    assert isinstance(explain, Explain) and isinstance(select, Select)
    assert explain.position.column == 57 and select.position.quoted == "SELECT a FROM s"
    assert insert.query.blocks[0].items[0].value.name == "a"


def test_words_are_read_in_any_case() -> None:
    query, _ = parse_query(
        "select a from s [range 5 minutes] as t window = 5 min where a > 1 group by a having count(*) > 1"
    )
    assert isinstance(query, Select)
    (block,) = query.blocks
    assert block.source.alias is not None and block.source.alias.text == "t"
    assert block.within[0].length.value == "5 min" and block.having is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CREATE TABLE s (a INT) FROM 'x'", "write CREATE STREAM"),
        ("CREATE STREAM s (a INT, TIME a, TIME a) FROM 'x'", "TIME is given twice"),
        ("CREATE STREAM s (a INT, a INT) FROM 'x'", "two columns 'a'"),
        ("CREATE STREAM s (a FOO) FROM 'x'", "expected a type"),
        ("CREATE STREAM s (a INT, PUNCTUATED BY UNIQE) FROM 'x'", "did you mean 'UNIQUE'?"),
        ("CREATE STREAM s (a INT, LATENESS soon) FROM 'x'", "no length of time"),
        ("CREATE STREAM s (a INT, LATENESS 5 PARSECS) FROM 'x'", "unknown unit"),
        ("CREATE STREAM s (order INT, KEY order) FROM 'x'", 'if that is its name, write "order"'),
        ("CREATE STREAM s (a INT) FROM parquet", "a source in quotes"),
        ("CREATE STREAM s (a INT) FROM 'x' OPTIONS (path 'a', path 'b')", "given twice"),
        ("CREATE STREAM s (a INT) FROM 'x' OPTIONS (path)", "a value"),
        ("CREATE STREAM s (a INT) FROM 'x' SELECT", "the end of the statement"),
        ("INSERT INTO parquet SELECT a FROM s", "a sink in quotes"),
        ("INSERT INTO 'parquet'", "expected SELECT"),
        ("EXPLAIN CREATE STREAM s (a INT) FROM 'x'", "expected SELECT"),
    ],
)
def test_what_is_wrong_with_a_statement(text: str, said: str) -> None:
    with pytest.raises(pt.SqlError) as raised:
        parse_script(text)
    assert said in str(raised.value)


def test_a_query_is_text() -> None:
    with pytest.raises(pt.StreamError, match="a query is text, not int"):
        pt.sql(5)  # type: ignore[arg-type]


def test_errors_can_be_sent_to_another_process() -> None:
    with pytest.raises(pt.SqlError) as raised:
        parse_script("SELEC a")
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value) and again.nearest == "SELECT"


def test_a_query_says_itself_what_its_data_are() -> None:
    text = """
    CREATE STREAM a (item BIGINT, TIME at, KEY item, PUNCTUATED BY UNIQUE, WINDOW [RANGE 10]) FROM 'given';
    CREATE STREAM b (TIME at, KEY item, PUNCTUATED BY WHEN price > 2) FROM 'given';
    SELECT a.item, COUNT(*) AS n FROM a, b WHERE a.item = b.item GROUP BY a.item
    """
    opened = pa.table({"item": [1, 2], "at": [0, 1]})
    offered = pa.table({"item": [1, 2, 1], "price": [1.0, 2.0, 3.0], "at": [2, 3, 4]}).to_pandas()
    query = pt.sql(text, a=opened, b=offered)
    assert query.to_pylist() == [{"item": 1, "n": 2}, {"item": 2, "n": 1}]
    assert query.punctuations.num_rows == 2


def test_a_computed_flag_is_no_column() -> None:
    create = "CREATE STREAM b (TIME at, KEY item, PUNCTUATED BY WHEN price > 2) FROM 'given';"
    table = pa.table({"item": [1, 2], "price": [1.0, 3.0], "at": [2, 3]})
    query = pt.sql(create + "SELECT * FROM b", b=table)
    assert query.results.equals(table.select(["item", "price", "at"]))
    assert query.punctuations["item"].to_pylist() == [2]
    with pytest.raises(pt.SqlError, match="no column 'is_last'"):
        pt.sql(create + "SELECT is_last FROM b", b=table)


def test_columns_of_given_data_have_the_types_that_a_query_says() -> None:
    text = "CREATE STREAM a (Item VARCHAR, TIME at, KEY item) FROM 'given'; SELECT * FROM a"
    query = pt.sql(text, a=pa.table({"item": [1], "at": [0]}))
    assert query.to_pylist() == [{"item": "1", "at": 0}]


@pytest.mark.parametrize(
    ("create", "said"),
    [
        ("CREATE STREAM a (TIME at, KEY item) FROM 'parquet'", "FROM 'given'"),
        ("CREATE STREAM b (TIME at, KEY item) FROM 'given'", "no data of this name"),
        ("CREATE STREAM a (price DOUBLE, TIME at, KEY item) FROM 'given'", "no column 'price'"),
        ("CREATE STREAM a (TIME at, KEY itm) FROM 'given'", "did you mean 'item'?"),
        ("CREATE STREAM a (KEY item) FROM 'given'", "has no TIME"),
        ("CREATE STREAM a (TIME at, KEY item) FROM 'given' OPTIONS (path 'x')", "takes no options"),
        ("CREATE STREAM a (item DATE, TIME at, KEY item) FROM 'given'", "does not fit its columns"),
        ("CREATE STREAM a (TIME at) FROM 'given'; CREATE STREAM A (TIME at) FROM 'given'", "already"),
    ],
)
def test_what_is_wrong_with_given_data(create: str, said: str) -> None:
    with pytest.raises(pt.SqlError) as raised:
        pt.sql(f"{create}; SELECT item FROM a", a=pa.table({"item": [1], "at": [0]}))
    assert said in str(raised.value)
