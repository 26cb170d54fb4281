"""Queries from a seed give what DuckDB gives: no clause is passed over."""

import warnings
from collections.abc import Iterator

import duckdb
import pytest

import punctuated as pt
from sql_corpus import ask, comparable, peer
from sql_generated import Queries
from sql_streams import streams

N, PART = 120, 20
GIVEN = streams()


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with peer() as connection:
        yield connection


@pytest.mark.parametrize("part", range(N // PART))
def test_results_are_those_of_duckdb(part: int, connection: duckdb.DuckDBPyConnection) -> None:
    made = Queries(part)
    for _ in range(PART):
        text = made.query()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = comparable(pt.sql(text, **GIVEN).results)
        expected = ask(connection, text.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI"))
        assert _without_signs(found) == _without_signs(expected), text


def _without_signs(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Without those of zeros: 0 - 0.0 is 0.0, and DuckDB's - 0.0 is -0.0."""
    return sorted(
        (tuple(0.0 if value == 0 and isinstance(value, float) else value for value in row) for row in rows), key=repr
    )
