"""Files that tests of the query language read."""

from pathlib import Path

import pytest

from sql_catalog import write_bids


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The bids in every kind of file."""
    write_bids(tmp_path)
    return tmp_path
