"""The bids of an auction house in files of every kind, and CREATE STREAM statements as a catalog over them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import punctuated as pt
from punctuated.bind.streams import Stream
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.parse.statements import parse_script
from punctuated.sql.parse.syntax import CreateStream
from punctuated.sql.sources.schemas import SqlSources
from punctuated.sql.sources.tables import TableSources

if TYPE_CHECKING:
    pass

BIDS = pa.table(
    {
        "item": pa.array([1, 2, 1], pa.int64()),
        "price": [5.0, 6.5, 7.0],
        "at": pa.array(
            [datetime(2003, 11, 10, 9, minute, tzinfo=UTC) for minute in (1, 2, 3)], pa.timestamp("us", "UTC")
        ),
        "state": ["open", "open", "closed"],
    }
)
COLUMNS = "item BIGINT, price DOUBLE, at TIMESTAMP, state STRING"


def created(text: str) -> list[CreateStream]:
    return [each for each in parse_script(text) if isinstance(each, CreateStream)]


def catalog(text: str, folder: Path, sources: SqlSources | None = None) -> Catalog:
    return Catalog(created(text), sources or TableSources(folder))


def rows_of(stream: Stream) -> pa.Table:
    assert isinstance(stream, pt.TableStream)
    return pa.concat_tables(stream.batches)


def write_bids(folder: Path) -> None:
    """Write the bids to a folder of each kind."""
    for kind in ("parquet", "csv", "json", "delta"):
        (folder / kind).mkdir()
    pq.write_table(BIDS, folder / "parquet" / "part.parquet")
    pa_csv.write_csv(BIDS, folder / "csv" / "part.csv")
    lines = [f'{{"item": {i}, "price": {p}, "at": "{at.isoformat()}", "state": "{s}"}}' for i, p, at, s in _rows()]
    (folder / "json" / "part.json").write_text("\n".join(lines), encoding="utf-8")
    deltalake = pytest.importorskip("deltalake")
    deltalake.write_deltalake(str(folder / "delta"), BIDS)


def _rows() -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in BIDS.to_pylist()]
