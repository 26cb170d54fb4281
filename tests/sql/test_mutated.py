"""Queries of the corpus, mutated at random: each is an error with a place, or it gives what DuckDB gives."""

import warnings
from random import Random

import duckdb
import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.sql.parse.dialect import tokens_of
from punctuated.sql.parse.errors import SqlError
from sql_corpus import LENGTHS, ask, comparable, corpus, peer
from sql_streams import streams

N = 500
GIVEN = streams()
CASES = corpus()
QUERIES = [case.query for case in CASES]
NOT_THEIRS = ("[", "WINDOW", "EXPLAIN", "Ordered", "*", "BIGINT")  # windows, the key of a star, how casts round
STRANGE = (
    *("(", ")", "[", "]", ",", ".", ";", "*", "'", '"', "--", "/*", "0", "1e309", "1e", "1_000", "''", '""', "ß", "\0"),
    *("\u202e", "\ufeff", "?", "@x", ":", "::", "->", "{", "}", "9" * 30, "9" * 90, "LATERAL", "OVER", "ORDER BY"),
    *("INTERVAL", "CAST", "EXISTS", "VALUES", "CASE", "END", "COUNT", "EXPLAIN", "WITH", "DATE", "NULL", "NOT", "-"),
)
WORDS = sorted({text[token.start : token.end + 1] for text in QUERIES for token in tokens_of(text)} | set(STRANGE))


def mutated(text: str, random: Random) -> str:
    """The text with a word left out, doubled, replaced, moved, or with a character less."""
    try:
        spans = [(token.start, token.end + 1) for token in tokens_of(text)]
    except SqlError:
        spans = []
    if not spans:
        return text[: len(text) // 2]
    (start, end), (other, last) = sorted((random.choice(spans), random.choice(spans)))
    word, new, place = text[start:end], random.choice(WORDS), random.randrange(len(text))
    return random.choice(
        (
            text[:start] + text[end:],
            f"{text[:end]} {text[start:]}",
            f"{text[:start]}{new}{text[end:]}",
            f"{text[:start]}{new} {text[start:]}",
            text[:start] + text[other:last] + text[end:other] + word + text[last:] if other >= end else text,
            text[:place] + text[place + 1 :],
        )
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_mutated_query_is_an_error_with_a_place_or_gives_what_duckdb_gives(seed: int) -> None:
    random = Random(seed)
    with peer() as connection, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(N // 5):
            case = random.choice(CASES)
            text = mutated(case.query, random)
            text = mutated(text, random) if random.random() < 0.3 else text
            check(text, connection, compare=case.peer == case.query)


def run(text: str) -> pa.Table | SqlError:
    try:
        return pt.sql(text, **GIVEN, **LENGTHS).results
    except SqlError as error:
        return error


def check(text: str, connection: duckdb.DuckDBPyConnection, *, compare: bool) -> None:
    found = run(text)
    if isinstance(found, SqlError):
        lines = text.split("\n")
        assert 1 <= found.line <= len(lines), text
        assert 1 <= found.column <= len(lines[found.line - 1]) + 1, text
        assert "sqlglot" not in str(found), text
        return
    if not compare or any(each in text for each in NOT_THEIRS):
        return
    try:
        expected = ask(connection, text)
    except duckdb.Error:
        return  # it is stricter in some respects
    assert comparable(found) == expected, text
