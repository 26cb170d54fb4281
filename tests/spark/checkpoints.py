"""What a checkpoint holds after a run, and what it should: the state of an undisturbed run over the same batches."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from punctuated.arrow.ipc import from_ipc, unpack_bundle
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.snapshot.journal import Journal
from punctuated.spark.pack.pack import PACKED, Pack
from punctuated.spark.session.query import Query
from punctuated.spark.state.bucket import Bucket
from spark.spark_harness import Steps

Batches = list[tuple[pa.Table, pa.Table]]


def cut_by_time(auctions: pa.Table, bids: pa.Table, n: int) -> Batches:
    """Both streams in batches of the same spans of time, each with about as many bids."""
    times = [np.asarray(table[name].cast(pa.int64())) for table, name in ((auctions, "opened_at"), (bids, "bid_at"))]
    edges = [0, *np.quantile(times[1], np.arange(1, n) / n).astype(np.int64).tolist(), 1 << 62]
    return [
        (_between(auctions, times[0], low, high), _between(bids, times[1], low, high)) for low, high in pairwise(edges)
    ]


def _between(table: pa.Table, times: "np.ndarray[Any, np.dtype[np.int64]]", low: int, high: int) -> pa.Table:
    start, stop = np.searchsorted(times, [low, high])
    return table.slice(start, stop - start)


def commits(checkpoint: Path) -> int:
    """How many micro-batches are over."""
    folder = checkpoint / "commits"
    return sum(entry.name.isdecimal() for entry in folder.iterdir()) if folder.exists() else 0


def states(spark: SparkSession, checkpoint: Path, query: Query, batches: Batches) -> Iterator[tuple[Bucket, Bucket]]:
    """Every bucket as the checkpoint has it, and as an undisturbed run leaves it."""
    found, wanted = stored(spark, checkpoint, query), undisturbed(query, batches_taken(checkpoint, batches))
    for number in range(query.join.n_buckets):
        yield found.restored(number), wanted.restored(number)


def undisturbed(query: Query, batches: Batches) -> Steps:
    """The query's steps over the same batches, in memory."""
    steps = Steps(query)
    for batch in batches:
        packed = [
            Pack(side, query.join.inputs[side], query.join.n_buckets)(iter(batch[side].to_batches())) for side in Side
        ]
        steps.run(pa.Table.from_batches([blob for each in packed for blob in each], schema=PACKED))
    return steps


def batches_taken(checkpoint: Path, batches: Batches) -> Batches:
    """The micro-batches that Spark has made of the files.

    A kill between its log of files and its log of batches lets one source go a file ahead of the other.
    """
    logs = sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda log: int(log.name))
    last = [[json.loads(line)["logOffset"] for line in log.read_text().splitlines()[-2:]] for log in logs]
    spans = [list(zip(*ends, strict=True)) for ends in pairwise([[-1, -1], *last])]
    return [(_files(batches, LEFT, *span[LEFT]), _files(batches, RIGHT, *span[RIGHT])) for span in spans]


def _files(batches: Batches, side: Side, before: int, last: int) -> pa.Table:
    nothing = batches[0][side].slice(0, 0)
    return pa.concat_tables([nothing, *(batch[side] for batch in batches[before + 1 : last + 1])])


def stored(spark: SparkSession, checkpoint: Path, query: Query) -> Steps:
    """The query's steps with the state that a checkpoint holds."""
    steps = Steps(query)
    kept: dict[int, dict[str, dict[Any, Any]]] = {}
    for name in steps.maps:
        for row in _rows(spark, checkpoint, name):
            of_bucket = kept.setdefault(row.key.bucket, {each: {} for each in steps.maps})
            of_bucket[name][tuple(row.user_map_key)] = tuple(row.user_map_value)
    steps.load([(row.key.bucket, tuple(row.value), kept[row.key.bucket]) for row in _rows(spark, checkpoint, "head")])
    return steps


def _rows(spark: SparkSession, checkpoint: Path, variable: str) -> list[Any]:
    return spark.read.format("statestore").option("stateVarName", variable).load(str(checkpoint)).collect()


def described(bucket: Bucket) -> dict[str, Any]:
    """All that a bucket knows: tuples, punctuations, timers, watermarks, counters, and open groups in any order."""
    parts = unpack_bundle(Journal().write(bucket.driver))
    known = {name: data.to_pybytes() for name, data in parts.items() if not name.startswith("rows.")}
    rows = {name: from_ipc(data).to_pylist() for name, data in parts.items() if name.startswith("rows.")}
    groups = {} if bucket.groups is None else unpack_bundle(bucket.groups.save())
    return known | rows | {name: _sorted(from_ipc(data)) for name, data in groups.items()}


def _sorted(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))
