"""Every query of the corpus: its plan is the one that is kept, its results are those of DuckDB.

PUNCTUATED_UPDATE=1 writes the plans anew.
"""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import punctuated as pt
from sql_corpus import LENGTHS, Case, ask, comparable, corpus, peer
from sql_streams import streams

PLANS = Path(__file__).parent / "plans"
CASES = corpus()


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with peer() as connection:
        yield connection


def run(case: Case) -> pt.SqlQuery:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some queries are unbounded on purpose
        return pt.sql(case.query, **streams(), **LENGTHS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_results_are_those_of_duckdb(case: Case, connection: duckdb.DuckDBPyConnection) -> None:
    query = run(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.LateGroupsWarning)
        warnings.simplefilter("ignore", pt.UnboundedStateWarning)
        found = query.results
    expected = ask(connection, case.peer)
    assert comparable(found) == expected
    assert expected, "a query without results shows nothing"
    assert query.rejected.num_rows == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_plan_is_the_one_that_is_kept(case: Case) -> None:
    query = run(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = ", ".join(f"{field.name} {field.type}" for field in query.schema)
    plan = f"{case.query}\n\ncolumns: {columns}\n{query.explain()}\n"
    kept = PLANS / f"{case.name}.txt"
    if os.environ.get("PUNCTUATED_UPDATE"):
        PLANS.mkdir(exist_ok=True)
        kept.write_text(plan, encoding="utf-8")
    assert plan == kept.read_text(encoding="utf-8")


def test_no_plan_is_kept_for_nothing() -> None:
    assert {path.stem for path in PLANS.glob("*.txt")} == {case.name for case in CASES}
    assert len(CASES) >= 60 and len({case.name for case in CASES}) == len(CASES)
