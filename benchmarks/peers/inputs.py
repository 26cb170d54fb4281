"""Writes the workloads W1 to W4 as files that every system reads, and asks DuckDB what their join gives.

All streams are cut at the same event times into micro-batches of equal size, one Parquet file per micro-batch and
stream; Spark reads one of each per trigger. Parquet also holds `last`, which marks the last tuple of its key; the peers
do not read it. In W3 the key is the auction, the values are the prices in cents.
"""

import itertools
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from benchmarks.peers.manifest import STREAMS, Manifest, Near, checksum_of, from_clause, load_manifest
from numpy.typing import NDArray

from punctuated import streams

SECOND = 1_000_000
HOUR = 3600 * SECOND
COLUMNS = ["key", "ts", "val"]
ROW_GROUP = 1 << 17  # so that Spark can give the two halves of a large file to two cores
Tables = tuple[pa.Table, ...]


class Workload(NamedTuple):
    """How to make the streams, and for each of them how long a tuple waits for later ones of the others."""

    make: Callable[[int], Tables]
    windows_us: tuple[int, ...]


def auctions(n: int) -> Tables:
    """W3 with the columns of the others; a bid never comes before its auction, so bids need no window."""
    opened, offered = streams.w3(n)
    left = pa.table([opened["item_id"], opened["opened_at"], _cents(opened["open_price"])], names=COLUMNS)
    right = [offered["item_id"], offered["bid_at"], _cents(offered["bid_price"]), offered["closed"]]
    return left, pa.table(right, names=[*COLUMNS, "last"])


def _cents(price: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.round(pc.multiply(price, 100)).cast(pa.int64())


def three_streams(n: int) -> Tables:
    """W4: as W1, but five tuples of a key in each stream instead of a hundred; a key lasts 50 s as there.

    Results are as many as the product of what meets. Three streams of W1 with a window of 1 s give 133 for each row
    among 3,000 tuples per stream, where bursts of forty come in step, and 2 among a million, where the streams have
    drifted apart. These give about 2 at either size with a window of 20 s. It is shorter than the life of a key: of the
    combinations with equal keys it leaves out three quarters, among them some that only the last two members forbid.
    """
    return tuple(streams.generate("punct-asc-5-40", n, seed=seed, ahead=1000) for seed in (2, 3, 4))


def ten_hours(n: int) -> Tables:
    """W2 with ten times the keys, for windows of ten hours: as many results, a state of millions of tuples."""
    return streams.w2(n, keys=3_600_000)


WORKLOADS = {
    "w1": Workload(streams.w1, (15 * SECOND, 15 * SECOND)),
    "w2": Workload(streams.w2, (HOUR, HOUR)),
    "w2-large": Workload(ten_hours, (10 * HOUR, 10 * HOUR)),
    "w3": Workload(auctions, (HOUR, 0)),
    "w4": Workload(three_streams, (20 * SECOND,) * 3),
}


def write_inputs(workload: str, size: int, batch_rows: int, cache: Path) -> Manifest:
    """The inputs of a workload, from the cache if they are there.

    Args:
        workload: a name of `WORKLOADS`.
        size: tuples per stream; auctions in W3, whose bids are nine times as many.
        batch_rows: tuples of all streams per micro-batch, about.
        cache: folder that holds one folder per (workload, size, batch_rows).
    """
    folder = cache.absolute() / f"{workload}-{size}-{batch_rows}"
    cached = load_manifest(folder)
    if cached is not None:
        return cached
    shutil.rmtree(folder, ignore_errors=True)
    made = WORKLOADS[workload]
    tables = made.make(size)
    cuts = cut(tables, batch_rows)
    for name, table, positions in zip(STREAMS, tables, cuts, strict=False):
        _write_parquet(table, positions, folder / name)
        _write_csv(table, folder, name)
    results, checksum = expected(tables, made)
    batches = np.diff(np.array(cuts)).T.tolist()
    windows = list(made.windows_us)
    manifest = Manifest(str(folder), workload, size, batch_rows, windows, batches, results, checksum)
    manifest.save()
    return manifest


def cut(tables: Tables, batch_rows: int) -> list[list[int]]:
    """Positions in each table at which micro-batches begin and end: the same moments in all, equal numbers of rows.

    >>> left = pa.table({"ts": [1, 2, 3, 4]})
    >>> cut((left, pa.table({"ts": [1, 1, 1, 9]})), 4)
    [[0, 1, 4], [0, 3, 4]]
    """
    times = [_micros(table) for table in tables]
    merged = np.sort(np.concatenate(times))
    n_batches = max(1, round(len(merged) / batch_rows))
    edges = merged[[len(merged) * i // n_batches for i in range(1, n_batches)]]
    return [[0, *np.searchsorted(ts, edges).tolist(), len(ts)] for ts in times]


def _micros(table: pa.Table) -> NDArray[np.int64]:
    return np.asarray(table["ts"].cast(pa.int64()).to_numpy())


def _write_parquet(table: pa.Table, positions: list[int], folder: Path) -> None:
    """A file per micro-batch. Spark reads files in the order of their times of change, so these are a second apart."""
    folder.mkdir(parents=True)
    first = int(time.time()) - len(positions)
    for i, (begin, end) in enumerate(itertools.pairwise(positions)):
        path = folder / f"{i:06}.parquet"
        pq.write_table(table.slice(begin, end - begin), path, row_group_size=ROW_GROUP)
        os.utime(path, (first + i, first + i))


def _write_csv(table: pa.Table, folder: Path, name: str) -> None:
    """Flink's reader knows no header, Pathway's needs one."""
    plain = _integers(table)
    named = folder / "named"
    named.mkdir(exist_ok=True)
    for path, header in ((folder, False), (named, True)):
        options = pyarrow.csv.WriteOptions(include_header=header, quoting_style="none")
        pyarrow.csv.write_csv(plain, path / f"{name}.csv", options)


def _integers(table: pa.Table) -> pa.Table:
    return table.select(COLUMNS).set_column(1, "ts", table["ts"].cast(pa.int64()))


def expected(tables: Tables, workload: Workload) -> tuple[int, int]:
    """Number and checksum of the results, by DuckDB."""
    connection = duckdb.connect()
    names = STREAMS[: len(tables)]
    for name, table in zip(names, tables, strict=True):
        connection.register(name, _integers(table))
    checksum = checksum_of("a.key", [f"{name}.val" for name in names])
    joined = from_clause(workload.windows_us, "key", _condition)
    found: Any = connection.execute(f"SELECT count(*), coalesce(sum({checksum}), 0) {joined}").fetchone()
    return int(found[0]), int(found[1])


def _condition(near: Near) -> str:
    return f"{near.other}.ts - {near.ours}.ts BETWEEN -{near.earlier_us} AND {near.later_us}"
