"""Queries of the corpus over DataFrames: on Spark they give what DuckDB gives."""

import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import punctuated as pt
from sql_corpus import LENGTHS, Case, ask, by_name, comparable, peer
from sql_streams import DECLARED, tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
CASES = by_name(
    "pwjoin_figure_1",
    "wjoin_form_1",
    "wjoin_path",
    "last_rows_of_each_key",
    "full_join_where",
    "band_join",
    "expressions_over_both_streams",
    "groups_of_an_outer_join",
    "groups_as_a_stream",
    "projection_of_a_stream",
    "union_in_from",
    "distinct_of_a_join",
    "count_of_a_union",
)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with peer() as connection:
        yield connection


@pytest.fixture(autouse=True)
def _unbounded() -> Iterator[None]:
    with warnings.catch_warnings():
        for kind in (pt.UnboundedStateWarning, pt.LateGroupsWarning, pt.UnusedPunctuationsWarning):
            warnings.simplefilter("ignore", kind)
        yield


@pytest.fixture(scope="module")
def frames(spark: "SparkSession") -> dict[str, pt.SparkStream]:
    """All streams over DataFrames."""
    return {name: pt.stream(spark.createDataFrame(table), **DECLARED[name]) for name, table in tables().items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_query_over_dataframes(
    case: Case, frames: dict[str, pt.SparkStream], connection: duckdb.DuckDBPyConnection
) -> None:
    query = pt.sql(case.query, **frames, **LENGTHS)
    assert comparable(query.results.toArrow()) == ask(connection, case.peer)
    assert query.schema.names == query.results.columns


def test_given_dataframes_have_the_types_that_a_query_says(spark: "SparkSession") -> None:
    text = "CREATE STREAM s (`a b` DECIMAL(5, 1), TIME t, KEY k) FROM 'given'; SELECT k, `a b` FROM s"
    frame = spark.createDataFrame(pa.table({"k": [1], "a b": [1.25], "t": [0]}))
    found = pt.sql(text, s=frame).results.toArrow()
    assert found.to_pylist() == [{"k": 1, "a b": Decimal("1.3")}]


def test_a_streaming_query_writes_its_groups(spark: "SparkSession", tmp_path: Path) -> None:
    (case,) = by_name("pwjoin_figure_1")
    given = {name: pt.stream(_read(spark, name, tmp_path), **DECLARED[name]) for name in ("Auction", "Bid")}
    query = pt.sql(case.query, **given)
    running = query.write_to(
        results=str(tmp_path / "out"), checkpoint=str(tmp_path / "checkpoint"), trigger="availableNow", finish=True
    )
    running.awaitTermination()
    with peer() as connection:
        expected = ask(connection, case.peer)
    written = spark.read.parquet(str(tmp_path / "out")).select(query.schema.names)  # without the number of the batch
    assert comparable(written.toArrow()) == expected


def _read(spark: "SparkSession", name: str, folder: Path) -> "DataFrame":
    path = folder / name
    path.mkdir()
    pq.write_table(tables()[name], path / "part.parquet")
    return spark.readStream.schema(spark.read.parquet(str(path)).schema).parquet(str(path))
