"""Queries that are wrong in some way: each gives a `SqlError` with a place in its own text, and nothing else is raised.

Good queries are damaged systematically: a word is left out, doubled, replaced or moved, the text is cut off. Some of
the damaged ones are good queries again; far more than two hundred are not.
"""

import warnings
from collections.abc import Iterator

import pytest

import punctuated as pt
from punctuated.sql.parse.dialect import tokens_of
from punctuated.sql.parse.statements import parse_script
from sql_corpus import LENGTHS, Case, by_name
from sql_streams import streams

DAMAGED = by_name(
    "pwjoin_figure_1",
    "wjoin_form_2",
    "wjoin_path",
    "left_join_with_a_filter_of_the_right_stream",
    "cases",
    "having",
    "named_queries",
    "union_in_from",
    "distinct_of_a_join",
    "until_a_column",
    "offset_window",
    "last_rows_of_each_key",
)
SCRIPT = """CREATE STREAM bids (item BIGINT, price DOUBLE, at TIMESTAMP, done BOOLEAN, TIME at, KEY item,
PUNCTUATED BY WHEN done, LATENESS 5 MINUTES) FROM 'parquet' OPTIONS (path 'bids');
INSERT INTO 'parquet' OPTIONS (path 'out') SELECT item, COUNT(*) AS n FROM bids GROUP BY item;"""
GIVEN = streams()


def damaged(text: str) -> Iterator[str]:
    """The text with one thing wrong in it."""
    tokens = tokens_of(text)
    for number, token in enumerate(tokens):
        before, word, after = text[: token.start], text[token.start : token.end + 1], text[token.end + 1 :]
        yield before + after
        yield f"{before}{word} {word}{after}"
        yield f"{before}frobnicate{after}"
        yield f"{before}){after}"
        yield before
        if number:
            yield f"{before}, {word}{after}"


def error_of(text: str) -> pt.SqlError | None:
    """What is wrong with a query, if anything is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            pt.sql(text, **GIVEN, **LENGTHS)
        except pt.SqlError as error:
            return error
    return None


def check(error: pt.SqlError, text: str) -> None:
    lines = text.split("\n")
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert str(error).startswith(f"line {error.line}, column {error.column}: ")
    assert str(error).splitlines()[-1].strip("^ \t") == ""  # carets
    assert "sqlglot" not in str(error) and "<class" not in str(error)


@pytest.mark.parametrize("case", DAMAGED, ids=lambda case: case.name)
def test_a_damaged_query_is_an_error_with_a_place(case: Case) -> None:
    errors = {text: error_of(text) for text in damaged(case.query)}
    found = {text: error for text, error in errors.items() if error is not None}
    for text, error in found.items():
        check(error, text)
    assert len(found) > max(20, len(errors) // 2)


def test_a_damaged_script_is_an_error_with_a_place() -> None:
    n_errors = 0
    for text in damaged(SCRIPT):
        try:
            parse_script(text)
        except pt.SqlError as error:
            check(error, text)
            n_errors += 1
    assert n_errors > 200


# What is wrong, and what the error says of it.
WRONG = [
    ("", "there is no query"),
    ("   -- nothing", "there is no query"),
    ("SELEC item_id FROM Bid", "did you mean 'SELECT'?"),
    ("UPDATE Bid SET price = 1", "expected SELECT"),
    ("DELETE FROM Bid", "expected SELECT"),
    ("DROP TABLE Bid", "expected SELECT"),
    ("SELECT", "the query ends here"),
    ("SELECT item_id", "expected FROM"),
    ("SELECT FROM Bid", "expected a column"),
    ("SELECT item_id,, price FROM Bid", "expected a column"),
    ("SELECT item_id FROM", "expected a stream"),
    ("SELECT item_id FROM Bids", "did you mean 'Bid'?"),
    ("SELECT item_id FROM Nowhere", "there are: "),
    ("SELECT itemid FROM Bid", "did you mean 'item_id'?"),
    ("SELECT B.itemid FROM Bid B", "B has no column 'itemid'"),
    ("SELECT C.item_id FROM Bid B", "FROM has no stream 'C'"),
    ('SELECT "ITEM_ID" FROM Bid', "there is no column"),
    ("SELECT Bid.a.b FROM Bid", "two dots"),
    ("SELECT item_id FROM Auction A, Bid B WHERE A.item_id = B.bidder AND price > 0", "is in A and B"),
    ("SELECT price FROM Bid WHERE", "expected a predicate"),
    ("SELECT price FROM Bid WHERE price >", "expected a value"),
    ("SELECT price FROM Bid WHERE price", "not true or false"),
    ("SELECT price FROM Bid WHERE price = 'dear'", "cannot evaluate"),
    ("SELECT price FROM Bid WHERE (price > 5", "closing parenthesis"),
    ("SELECT price FROM Bid WHERE price > 5)", "a clause or the end"),
    ("SELECT 'price FROM Bid", "never closed"),
    ('SELECT "price FROM Bid', "never closed"),
    ("SELECT price /* a comment FROM Bid", "never closed"),
    ("SELECT price FROM Bid; SELECT price FROM Bid", "more than one query"),
    ("CREATE STREAM s (a INT, TIME a) FROM 'rate'", "there is no query"),
    ("CREATE STREAM s (a INT, TIME a) FROM 'rate'; SELECT a FROM s", "is for scripts"),
    ("INSERT INTO 'parquet' SELECT price FROM Bid", "is for scripts"),
    # windows
    ("SELECT price FROM Bid B [RNGE 5 MINUTES]", "did you mean 'RANGE'?"),
    ("SELECT price FROM Bid B [RANGE]", "a length of time"),
    ("SELECT price FROM Bid B [RANGE 5 MINUTES", "expected ]"),
    ("SELECT price FROM Bid B [ROWS x]", "a number of rows"),
    ("SELECT price FROM Bid B [ROWS 1.5]", "a number of rows"),
    ("SELECT price FROM Bid B [RANGE BETWEEN 1 HOUR]", "expected AND"),
    ("SELECT price FROM Bid [NOW] B [NOW]", "one window"),
    ("SELECT price [NOW] FROM Bid", "windows stand behind streams"),
    ("SELECT 1 AS x FROM Auction A [RANGE 5 PARSECS], Bid B WHERE A.item_id = B.item_id", "unknown unit"),
    ("SELECT 1 AS x FROM Auction A [RANGE z], Bid B WHERE A.item_id = B.item_id", "no length of time 'z'"),
    (f"SELECT 1 AS x FROM Auction A [ROWS {10**19}], Bid B WHERE A.item_id = B.item_id", "unbounded"),
    ("SELECT 1 AS x FROM Auction A [UNTIL B.expires], Bid B WHERE A.item_id = B.item_id", "leave out B"),
    ("SELECT 1 AS x FROM (SELECT * FROM Auction) [UNTIL A.expires], Bid B WHERE item_id = B.item_id", "leave out A"),
    ("SELECT 1 AS x FROM Auction A [ROWS 0], Bid B WHERE A.item_id = B.item_id", "holds no tuple"),
    ("SELECT 1 AS x FROM Auction A [UNTIL expired], Bid B WHERE A.item_id = B.item_id", "did you mean 'expires'?"),
    ("SELECT 1 AS x FROM Auction A [UNTIL title], Bid B WHERE A.item_id = B.item_id", "needs a column of timestamps"),
    ("SELECT 1 AS x FROM Auction A [ROWS 3 PARTITION BY title], Bid B WHERE A.item_id = B.item_id", "the join key"),
    ("SELECT 1 AS x FROM Auction A [RANGE BETWEEN 2 HOURS AND 1 HOUR], Bid B WHERE A.item_id = B.item_id", "exceeds"),
    ("SELECT price FROM Bid WINDOW = 5 MINUTES", "FROM has one"),
    ("SELECT 1 AS x FROM Store1 A, Store2 B WINDOW 5 MINUTES WHERE A.ItemNum = B.ItemNum", "expected ="),
    ("SELECT 1 AS x FROM Store1 A, Store2 B WINDOW (A, C) = w WHERE A.ItemNum = B.ItemNum", "no stream 'C'"),
    ("SELECT 1 AS x FROM Store1 A, Store2 B WINDOW (A, A) = w WHERE A.ItemNum = B.ItemNum", "not one and itself"),
    (
        "SELECT 1 AS x FROM Store1 A, Store2 B WINDOW (A, B) = w AND WINDOW (B, A) = w WHERE A.ItemNum = B.ItemNum",
        "twice",
    ),
    (
        "SELECT 1 AS x FROM Store1 A, Store2 B WINDOW = w AND WINDOW (A, B) = w WHERE A.ItemNum = B.ItemNum",
        "all streams",
    ),
    ("SELECT 1 AS x FROM Store1 A, Store2 B DWINDOW = w WHERE A.ItemNum = B.ItemNum", "two streams"),
    ("SELECT 1 AS x FROM Store1 A, Store2 B WINDOW (A, B) = w BOTH DIRECTIONS WHERE A.ItemNum = B.ItemNum", "DWINDOW"),
    ("SELECT 1 AS x FROM Store1 A [NOW], Store2 B WINDOW = w WHERE A.ItemNum = B.ItemNum", "leave one of them out"),
    (
        "SELECT 1 AS x FROM Store1 A, Store2 B, Store3 C DWINDOW (A, B) = w AND DWINDOW (A, C) = w "
        "WHERE A.ItemNum = B.ItemNum AND B.ItemNum = C.ItemNum",
        "along all streams",
    ),
    (
        "SELECT 1 AS x FROM Store1 A, Store2 B, Store3 C WINDOW (A, B) = w "
        "WHERE A.ItemNum = B.ItemNum AND B.ItemNum = C.ItemNum",
        "C",
    ),
    (
        "SELECT 1 AS x FROM Store1 A, Store2 B, Store3 C WINDOW (A, B) = w AND DWINDOW (B, C) = w "
        "WHERE A.ItemNum = B.ItemNum AND B.ItemNum = C.ItemNum",
        "cannot stand in one query",
    ),
    # joins
    ("SELECT 1 AS x FROM Auction A, Bid B", "nothing joins A and B"),
    ("SELECT 1 AS x FROM Auction A JOIN Bid B", "expected ON or USING"),
    (
        "SELECT A.item_id FROM Auction A LEFT JOIN Bid B ON A.item_id = B.item_id DWINDOW (A, B) = w",
        "A [RANGE 5 MINUTES], B [NOW]",
    ),
    ("SELECT 1 AS x FROM Auction A LEFT Bid B ON A.item_id = B.item_id", "expected JOIN"),
    ("SELECT 1 AS x FROM Auction A CROSS JOIN Bid B", "CROSS JOIN"),
    ("SELECT 1 AS x FROM Auction A NATURAL JOIN Bid B", "USING"),
    ("SELECT 1 AS x FROM Auction A RIGHT SEMI JOIN Bid B ON A.item_id = B.item_id", "swap the streams"),
    ("SELECT 1 AS x FROM Auction A FULL SEMI JOIN Bid B ON A.item_id = B.item_id", "there is no FULL SEMI JOIN"),
    ("SELECT 1 AS x FROM Auction A JOIN Bid B USING (item)", "no column 'item'"),
    ("SELECT B.price FROM Auction A LEFT SEMI JOIN Bid B ON A.item_id = B.item_id", "B has no column"),
    ("SELECT 1 AS x FROM Auction A, Bid A WHERE A.item_id = A.item_id", "two streams are called 'A'"),
    ("SELECT 1 AS x FROM Auction A, Bid B WHERE A.title = B.item_id", "type"),
    ("SELECT 1 AS x FROM Auction A, Bid B, Person P WHERE A.item_id = B.item_id AND A.seller = P.id", "different keys"),
    (
        "SELECT 1 AS x FROM Auction A LEFT JOIN Bid B ON A.item_id = B.item_id JOIN Person P ON A.item_id = P.id",
        "more than two streams",
    ),
    ("SELECT 1 AS x FROM (Auction A JOIN Bid B ON A.item_id = B.item_id)", "parentheses around streams"),
    ("SELECT 1 AS x FROM 'bids.parquet'", "a text in FROM"),
    ("SELECT 1 AS x FROM db.Bid", "a name with a dot"),
    ("SELECT 1 AS x FROM generate(5)", "a function in FROM"),
    # expressions
    ("SELECT UPER(title) FROM Auction", "did you mean 'upper'?"),
    ("SELECT UPPER(title, 2) FROM Auction", "takes 1 argument, not 2"),
    ("SELECT UPPER(item_id) FROM Auction", "cannot evaluate"),
    ("SELECT title + 1 AS x FROM Auction", "cannot evaluate"),
    ("SELECT CAST(title AS FROBNICATE) FROM Auction", "type"),
    ("SELECT CAST(title) FROM Auction", "AS"),
    ("SELECT CASE WHEN price > 1 THEN 2 FROM Bid", "END of the CASE"),
    ("SELECT price BETWEEN 1 FROM Bid", "expected"),
    ("SELECT price IN () AS x FROM Bid", "list of values"),
    ("SELECT price IS 5 AS x FROM Bid", "IS"),
    ("SELECT price FROM Bid WHERE item_id IN (SELECT item_id FROM Auction)", "a query inside an expression"),
    ("SELECT price FROM Bid WHERE EXISTS (SELECT item_id FROM Auction)", "a query inside an expression"),
    ("SELECT ROW_NUMBER() OVER (PARTITION BY item_id) AS n FROM Bid", "OVER"),
    ("SELECT price[1] AS x FROM Bid", "brackets"),
    ("SELECT CURRENT_TIMESTAMP AS x FROM Bid", "the time of the clock"),
    ("SELECT price IS DISTINCT FROM 5 AS x FROM Bid", "IS DISTINCT FROM"),
    ("SELECT title LIKE 'a!%' ESCAPE '!' AS x FROM Auction", "ESCAPE"),
    ("SELECT price BETWEEN SYMMETRIC 5 AND 1 AS x FROM Bid", "not supported"),
    ("SELECT INTERVAL '5' PARSEC AS x FROM Bid", "unit"),
    ("SELECT (1, 2) AS x FROM Bid", "not supported"),
    ("SELECT :x FROM Bid", "not supported"),
    ("SELECT x -> x + 1 FROM Bid", ""),
    ("SELECT 1_000 FROM Bid", "'1_000' is no number"),
    ("SELECT 0x1F AS x FROM Bid", "'0x1F' is no number"),
    ("SELECT 1e FROM Bid", "'1e' is no number"),
    (f"SELECT {'9' * 77} AS x FROM Bid", "at most 76 digits"),
    ("SELECT DATE '2024-13-01' AS x FROM Bid", "not a date"),
    ("SELECT TIMESTAMP 'noon' AS x FROM Bid", "not a time"),
    ("SELECT NOW() AS x FROM Bid", "the time of the clock"),
    ("SELECT P.id.x FROM Person P", "write FIELD(P.id, 'x')"),
    ("SELECT title.x FROM Auction", "write FIELD(title, 'x')"),
    ("SELECT FIELD(title, 'x') AS x FROM Auction", "has no fields"),
    ("SELECT price AS a, bidder AS a FROM Bid", "two columns 'a'"),
    ("SELECT * AS x FROM Bid", "no alias"),
    ("SELECT COUNT(*), * FROM Bid GROUP BY item_id", "cannot stand among groups"),
    # groups
    ("SELECT item_id, COUNT(*) FROM Bid", "is not in GROUP BY"),
    ("SELECT bidder FROM Bid GROUP BY item_id", "is not in GROUP BY"),
    ("SELECT item_id FROM Bid GROUP item_id", "expected BY"),
    ("SELECT item_id FROM Bid GROUP BY", "expected a column"),
    ("SELECT item_id FROM Bid GROUP BY 2", "no item 2"),
    ("SELECT COUNT(*) AS n FROM Bid GROUP BY -1", "no item -1"),
    ("SELECT COUNT(*) AS n FROM Bid GROUP BY (item_id, bider)", "did you mean 'bidder'?"),
    ("SELECT item_id FROM Bid GROUP BY COUNT(*)", "cannot be grouped by"),
    ("SELECT item_id FROM Bid GROUP BY ALL", "name the columns"),
    ("SELECT item_id FROM Bid GROUP BY ROLLUP (item_id)", "name the columns"),
    ("SELECT COUNT(DISTINCT bidder) AS n FROM Bid GROUP BY item_id", "SELECT DISTINCT in a query in FROM"),
    ("SELECT COUNT(price, bidder) AS n FROM Bid GROUP BY item_id", "takes one value"),
    ("SELECT SUM(title) AS n FROM Auction GROUP BY item_id", "sum"),
    ("SELECT SUM(COUNT(*)) AS n FROM Bid GROUP BY item_id", "inside of another one"),
    ("SELECT SUM(*) AS n FROM Bid GROUP BY item_id", ""),
    ("SELECT COUNT(*) FILTER (WHERE price > 5) AS n FROM Bid GROUP BY item_id", "FILTER"),
    ("SELECT price FROM Bid WHERE COUNT(*) > 5", "cannot stand here"),
    ("SELECT item_id FROM Bid GROUP BY item_id HAVING price > 5", "is not in GROUP BY"),
    ("SELECT item_id FROM Bid GROUP BY item_id HAVING item_id", "not true or false"),
    ("SELECT MEDIAN(price) AS m FROM Bid GROUP BY item_id", "there is no function 'median'"),
    # other clauses
    ("SELECT price FROM Bid ORDER BY price", "ORDER BY"),
    ("SELECT price FROM Bid LIMIT 5", "LIMIT"),
    ("SELECT DISTINCT ON (price) price FROM Bid", "DISTINCT ON"),
    ("SELECT ALL DISTINCT price FROM Bid", "not 'DISTINCT'"),
    ("SELECT price FROM Bid MINUS SELECT price FROM Bid", "LEFT ANTI JOIN"),
    ("SELECT price FROM Bid UNION ALL SELECT item_id FROM Bid", "cast one of them"),
    ("SELECT price FROM Bid UNION SELECT price FROM Bid", "UNION ALL"),
    ("SELECT price FROM Bid UNION ALL SELECT price, bidder FROM Bid", "2 columns"),
    ("SELECT price FROM Bid UNION ALL SELECT title FROM Auction", "cast"),
    ("SELECT price FROM Bid EXCEPT SELECT price FROM Bid", "LEFT ANTI JOIN"),
    ("SELECT price FROM Bid INTERSECT SELECT price FROM Bid", "LEFT SEMI JOIN"),
    ("WITH a AS (SELECT price FROM Bid), a AS (SELECT price FROM Bid) SELECT price FROM a", "two queries"),
    ("WITH RECURSIVE a AS (SELECT price FROM Bid) SELECT price FROM a", "RECURSIVE"),
    ("WITH a (SELECT price FROM Bid) SELECT price FROM a", "expected AS"),
    ("SELECT price FROM (SELECT item_id FROM Bid) B", "there is no column 'price'"),
    ("SELECT price FROM Bid [RANGE 5 MINUTES]", "not joined"),
    ("SELECT price FROM (SELECT price FROM Bid [NOW]) B", "behind the query"),
    (f"SELECT price FROM Bid WHERE {'(' * 3000}price > 5{')' * 3000}", "nested too deeply"),
    (f"SELECT {'- ' * 5000}price AS x FROM Bid", "nested too deeply"),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=lambda text: text[:60])
def test_an_error_says_what_is_wrong(text: str, said: str) -> None:
    error = error_of(text)
    assert error is not None
    check(error, text)
    assert said in str(error), str(error)


def test_an_error_points_at_the_line_and_the_column() -> None:
    error = error_of("SELECT A.item_id,\n       A.titel\nFROM Auction A")
    assert error is not None
    assert (error.line, error.column, error.nearest) == (2, 8, "title")
    assert str(error).splitlines()[1:] == ["         A.titel", "         ^^^^^^^"]


def test_what_is_given_must_be_a_stream() -> None:
    with pytest.raises(pt.SqlError, match="its times are not known"):
        pt.sql("SELECT a FROM s", s=object())
