"""Data that are missing end a script with a message."""

from pathlib import Path

import pytest

from real_data import MissingData, of_folder, of_package


def test_a_package_that_is_not_installed() -> None:
    with pytest.raises(MissingData, match=r"sales.csv is in a package .*: pip install no_such_package_of_data"):
        of_package("no_such_package_of_data", "sales.csv")


def test_a_package_that_is_installed() -> None:
    assert of_package("pyarrow", "x.csv").parts[-3:] == ("pyarrow", "data", "x.csv")


def test_a_file_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUNCTUATED_DATA", str(tmp_path))
    with pytest.raises(MissingData, match=r"log.parquet is not in .*; set PUNCTUATED_DATA"):
        of_folder("log.parquet")
    (tmp_path / "log.parquet").touch()
    assert of_folder("log.parquet") == tmp_path / "log.parquet"


def test_a_script_without_its_data_ends_with_the_message() -> None:
    assert issubclass(MissingData, SystemExit)  # which python prints in place of a traceback
