"""Writes the workloads as files that every system reads, and asks DuckDB what their join gives.

All streams are cut at the same event times into micro-batches of equal size, one Parquet file per micro-batch and
stream; Spark reads one of each per trigger. Parquet also holds `last`, which marks the last tuple of its key; the peers
do not read it. In W3 the key is the auction, the values are the prices in cents.

Where results may be grouped, each stream ends with a tuple far in the future that has no partner: behind it every group
is final, in every system.
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
from benchmarks.peers.manifest import (
    GROUPS_CHECKSUM,
    STREAMS,
    Manifest,
    Near,
    checksum_of,
    from_clause,
    load_manifest,
)
from numpy.typing import NDArray

from punctuated import streams

SECOND = 1_000_000
HOUR = 3600 * SECOND
COLUMNS = ["key", "ts", "val"]
UNTIL = "until"
ROW_GROUP = 1 << 17  # so that Spark can give the two halves of a large file to two cores
Tables = tuple[pa.Table, ...]


class Workload(NamedTuple):
    """How to make the streams, and for each of them how long a tuple waits for later ones of the others."""

    make: Callable[[int], Tables]
    windows_us: tuple[int, ...]
    grouped: bool = False  # keys of the first stream are unique


def auctions(n: int) -> Tables:
    """W3 with the columns of the others; a bid never comes before its auction, so bids need no window."""
    opened, offered = streams.w3(n)
    left = pa.table([opened["item_id"], opened["opened_at"], _cents(opened["open_price"])], names=COLUMNS)
    right = [offered["item_id"], offered["bid_at"], _cents(offered["bid_price"]), offered["closed"]]
    return _closed(left, pa.table(right, names=[*COLUMNS, "last"]))


def winning_bids(n: int) -> Tables:
    """NEXMark's query 9, and what query 4 builds on: bids within the life of their auction, `n` events in all."""
    events = streams.nexmark(n)
    opened, offered = events.auctions, events.bids
    left = [opened["id"], opened["opened"], opened["category"], opened["expires"]]
    right = pa.table([offered["auction"], offered["at"], offered["price"]], names=COLUMNS)
    return _closed(pa.table(left, names=[*COLUMNS, UNTIL]), right)


def new_sellers(n: int) -> Tables:
    """NEXMark's query 8: persons who open auctions in the ten seconds in which they registered, `n` events in all.

    The ten seconds are a part of the key.
    """
    events = streams.nexmark(n)
    persons, opened = events.persons, events.auctions
    left = [_in_turn(persons["id"], persons["registered"]), persons["registered"], persons["id"]]
    right = [_in_turn(opened["seller"], opened["opened"]), opened["opened"], opened["id"]]
    return _closed(pa.table(left, names=COLUMNS), pa.table(right, names=COLUMNS))


def _in_turn(ids: pa.ChunkedArray, ts: pa.ChunkedArray) -> pa.ChunkedArray:
    """A number and the ten seconds at which it comes, as one number."""
    return pc.add(pc.multiply(pc.divide(ts.cast(pa.int64()), 10 * SECOND), 1 << 32), ids)


def _closed(*tables: pa.Table) -> Tables:
    """The same with a last tuple each, far in the future and of no key that others have."""
    end = max(pc.max(table["ts"].cast(pa.int64())).as_py() for table in tables) + 100 * HOUR
    closed = []
    for place, table in enumerate(tables):
        row = {"key": -1 - place, "ts": end, "val": 0, "last": True, UNTIL: end}
        columns = [pa.array([row[name]]).cast(table[name].type) for name in table.column_names]
        closed.append(pa.concat_tables([table, pa.table(columns, schema=table.schema)]))
    return tuple(closed)


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
    "w3": Workload(auctions, (HOUR, 0), grouped=True),
    "w4": Workload(three_streams, (20 * SECOND,) * 3),
    "q8": Workload(new_sellers, (10 * SECOND, 10 * SECOND), grouped=True),
    "q9": Workload(winning_bids, (20 * SECOND, 0), grouped=True),
}


def write_inputs(workload: str, size: int, batch_rows: int, cache: Path) -> Manifest:
    """The inputs of a workload, from the cache if they are there.

    Args:
        workload: a name of `WORKLOADS`.
        size: tuples per stream; auctions in W3, whose bids are nine times as many; events of NEXMark.
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
    batches = np.diff(np.array(cuts)).T.tolist()
    windows = list(made.windows_us)
    expiring = UNTIL in tables[0].column_names
    (results, checksum), (groups, groups_checksum) = expected(tables, made, expiring)
    manifest = Manifest(
        str(folder),
        workload,
        size,
        batch_rows,
        windows,
        batches,
        results,
        checksum,
        groups=groups,
        groups_checksum=groups_checksum,
        expiring=expiring,
    )
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
    names = [name for name in (*COLUMNS, UNTIL) if name in table.column_names]
    return pa.table([table[name].cast(pa.int64()) for name in names], names=names)


def expected(
    tables: Tables, workload: Workload, expiring: bool
) -> tuple[tuple[int, int], tuple[int, int] | tuple[None, None]]:
    """Number and checksum of the results, and of their groups, by DuckDB."""
    connection = duckdb.connect()
    names = STREAMS[: len(tables)]
    for name, table in zip(names, tables, strict=True):
        connection.register(name, _integers(table))
    joined = from_clause(workload.windows_us, expiring, "key", _condition)
    results = _summed(connection, checksum_of("a.key", [f"{name}.val" for name in names]), joined)
    if not workload.grouped:
        return results, (None, None)
    groups = f"SELECT a.key, count(*) AS n, max({names[-1]}.val) AS highest {joined} GROUP BY a.key"
    return results, _summed(connection, GROUPS_CHECKSUM, f"FROM ({groups})")


def _summed(connection: duckdb.DuckDBPyConnection, checksum: str, rows: str) -> tuple[int, int]:
    found: Any = connection.execute(f"SELECT count(*), coalesce(sum({checksum}), 0) {rows}").fetchone()
    return int(found[0]), int(found[1])


def _condition(near: Near) -> str:
    within = f"{near.other}.ts - {near.ours}.ts BETWEEN -{near.earlier_us} AND {near.later_us}"
    return f"{within} AND {near.other}.ts <= {near.ours}.{UNTIL}" if near.expires else within
