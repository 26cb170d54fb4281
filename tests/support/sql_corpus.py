"""The corpus of queries: files of `-- name`, a query, and behind `-- as` the same in DuckDB, where it differs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from sql_streams import tables

FOLDER = Path(__file__).parents[1] / "sql" / "corpus"
LENGTHS = {"w": "20 minutes", "w1": "10 minutes", "w2": "20 minutes", "w3": "15 minutes"}  # what names stand for
_HEADING = re.compile(r"^-- (\w+)$", re.MULTILINE)
_MACROS = (
    "CREATE MACRO minutes(n) AS n::BIGINT * 60000000",
    "CREATE MACRO hours(n) AS n::BIGINT * 3600000000",
    "CREATE MACRO forever() AS 1000000000000000000::BIGINT",
    # The later one is within the window of the earlier one.
    "CREATE MACRO near(a, window_a, b, window_b) AS CASE WHEN b >= a THEN b - a <= window_a ELSE a - b <= window_b END",
)


@dataclass(frozen=True)
class Case:
    """A query by name, and what DuckDB is asked in its place."""

    name: str
    query: str
    peer: str


def corpus() -> list[Case]:
    """All queries."""
    return [case for path in sorted(FOLDER.glob("*.sql")) for case in _cases(path.read_text(encoding="utf-8"))]


def by_name(*names: str) -> list[Case]:
    """Some of them."""
    known = {case.name: case for case in corpus()}
    return [known[name] for name in names]


def _cases(text: str) -> Iterator[Case]:
    pieces = _HEADING.split(text)[1:]
    pairs = list(zip(pieces[::2], (piece.strip() for piece in pieces[1::2]), strict=True))
    for number, (name, query) in enumerate(pairs):
        if name != "as":
            following = pairs[number + 1] if number + 1 < len(pairs) else ("", "")
            yield Case(name, query, following[1] if following[0] == "as" else query)


def peer() -> duckdb.DuckDBPyConnection:
    """DuckDB with all streams as tables."""
    connection = duckdb.connect()
    for name, table in tables().items():
        connection.register(f"given_{name}", table)
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM "given_{name}"')
    for macro in _MACROS:
        connection.execute(macro)
    return connection


def ask(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    """What DuckDB says, comparable."""
    return comparable(connection.sql(query.replace("`", '"')).to_arrow_table())


def comparable(table: pa.Table) -> list[tuple[Any, ...]]:
    """Rows in an order that depends on nothing but themselves."""
    columns = [map(_plain, column.to_pylist()) for column in table.columns]  # two may have the same name in DuckDB
    return sorted(zip(*columns, strict=True), key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) or hasattr(value, "as_tuple"):  # decimals too
        return round(float(value), 6)
    return value.isoformat() if hasattr(value, "isoformat") else value
