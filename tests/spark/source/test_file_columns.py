"""Columns that are given for files: whoever misspells one is told before the query starts."""

import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import punctuated as pt


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"order": [1, 2], "At": [0, 1]}), tmp_path / "0.parquet")
    return tmp_path


def test_a_column_that_no_file_has_is_warned_of(spark: SparkSession, folder: Path) -> None:
    with pytest.warns(pt.MissingColumnsWarning, match="no column 'ordr' .* did you mean 'order'") as caught:
        files = pt.files(spark, str(folder), schema="ordr BIGINT, at BIGINT")
    assert [each.filename for each in caught] == [__file__]  # once: upper and lower case do not matter
    assert files.columns == ["ordr", "at"]


@pytest.mark.parametrize("broken", [False, True])
def test_where_nothing_is_known_nobody_is_warned(spark: SparkSession, tmp_path: Path, broken: bool) -> None:
    if broken:
        (tmp_path / "0.parquet").write_bytes(b"PAR1 but not a footer")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pt.files(spark, str(tmp_path), schema="k BIGINT").columns == ["k"]


def test_columns_in_paths_are_there(spark: SparkSession, folder: Path) -> None:
    (folder / "day=2026-01-01").mkdir()
    (folder / "0.parquet").rename(folder / "day=2026-01-01" / "0.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pt.files(spark, str(folder), schema="order BIGINT, at BIGINT, day DATE")
