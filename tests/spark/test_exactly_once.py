"""Killed and restarted, a query puts out everything exactly once, and its state is that of an undisturbed run.

PUNCTUATED_KILLS sets how often it is killed, PUNCTUATED_SEED when.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.join.journal import Journal
from punctuated.join.parts import from_ipc, unpack_parts
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.spark.bucket_state import Bucket
from punctuated.spark.pack import PACKED, Pack
from punctuated.spark.query import Grouping, Query, View
from spark import crash_query
from spark.spark_harness import Steps, write_files

KILLS = int(os.environ.get("PUNCTUATED_KILLS", "3"))
SEED = int(os.environ.get("PUNCTUATED_SEED", "1"))
N_BATCHES = 2 * KILLS + 1
PROGRAM = Path(crash_query.__file__)
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


# Killing


class Program:
    """The query in a session of its own, so that all processes that it starts can be told."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with (folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM), str(folder)], stdout=log, stderr=log, start_new_session=True
            )

    @property
    def result(self) -> int | None:
        return self._process.poll()

    @property
    def commits(self) -> int:
        """Micro-batches of both queries that are over."""
        folders = [self._folder / "checkpoint" / name / "commits" for name in ("results", "groups")]
        return sum(entry.name.isdecimal() for folder in folders if folder.exists() for entry in folder.iterdir())

    def kill(self) -> None:
        """Kill the program and its JVM; the Python workers see that it is gone."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        deadline = time.monotonic() + 20
        while self._members() and time.monotonic() < deadline:
            time.sleep(0.05)
        for pid in self._members():
            os.kill(pid, signal.SIGKILL)

    def kill_worker(self, random: Random) -> bool:
        """Kill one of the Python processes that Spark has started."""
        workers = [pid for pid in self._members() if b"pyspark.daemon" in _command(pid)]
        if not workers:
            return False
        os.kill(random.choice(workers), signal.SIGKILL)
        return True

    def _members(self) -> list[int]:
        """All living processes of the session."""
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
        return [pid for pid in pids if _session(pid) == self._process.pid]


def _session(pid: int) -> int | None:
    """The session of a process that has not ended."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return None
    return None if state in "ZX" else int(session)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def run_disturbed(folder: Path, random: Random) -> Counter[str]:
    """Run the program to its end, and kill it on the way; returns what was killed, and how often it failed itself."""
    victims = ["worker", "program"] * KILLS
    happened: Counter[str] = Counter()
    while happened["program"] + happened["worker"] + happened["failure"] <= 2 * KILLS:
        program = Program(folder)
        try:
            _disturb(program, victims, happened, random)
        finally:
            if program.result is None:
                program.kill()
        if program.result == 0:
            return happened
    pytest.fail(f"the query does not come to its end: {happened}\n{(folder / 'log').read_text()[-5000:]}")


def _disturb(program: Program, victims: list[str], happened: Counter[str], random: Random) -> None:
    """Kill at random moments until the program ends by itself, or is killed."""
    n_killed = happened["program"] + happened["worker"]
    left = 2 * N_BATCHES - program.commits
    at = program.commits + random.randint(1, max(1, left // (KILLS - n_killed + 1)))
    while program.result is None:
        if n_killed < KILLS and program.commits >= at:
            time.sleep(random.uniform(0, 1))
            victim = victims[n_killed]
            if victim == "program":
                program.kill()
                happened["program"] += 1
                return
            if program.kill_worker(random):
                happened["worker"] += 1
                n_killed += 1
                at = program.commits + random.randint(1, max(1, left // (KILLS - n_killed + 1)))
        time.sleep(0.02)
    if program.result != 0:
        happened["failure"] += 1


# State


def undisturbed(query: Query, batches: Batches) -> Steps:
    """The query's steps over the same batches, in memory."""
    steps = Steps(query)
    for batch in batches:
        packed = [Pack(side, query.readers[side], query.n_buckets)(iter(batch[side].to_batches())) for side in Side]
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
    heads, entries = (
        spark.read.format("statestore").option("stateVarName", name).load(str(checkpoint)).collect()
        for name in ("head", "entries")
    )
    kept: dict[int, dict[Any, Any]] = {}
    for row in entries:
        kept.setdefault(row.key.bucket, {})[tuple(row.user_map_key)] = tuple(row.user_map_value)
    steps = Steps(query)
    steps.load([(row.key.bucket, tuple(row.value), kept[row.key.bucket]) for row in heads])
    return steps


def described(bucket: Bucket) -> dict[str, Any]:
    """All that a bucket knows: tuples, punctuations, timers, watermarks, counters, and open groups in any order."""
    parts = unpack_parts(Journal().write(bucket.driver))
    known = {name: data.to_pybytes() for name, data in parts.items() if not name.startswith("rows.")}
    rows = {name: from_ipc(data).to_pylist() for name, data in parts.items() if name.startswith("rows.")}
    groups = {} if bucket.groups is None else unpack_parts(bucket.groups.save())
    return known | rows | {name: _sorted(from_ipc(data)) for name, data in groups.items()}


def _sorted(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


# The test


@pytest.fixture(scope="module")
def batches() -> Batches:
    """The streams stop in the middle, so that auctions are open and groups unfinished at the end."""
    auctions, bids = pt.streams.auctions(600, seed=3, rate=1.0)
    return cut_by_time(auctions, bids, 2 * N_BATCHES)[:N_BATCHES]


@pytest.fixture(scope="module")
def folder(batches: Batches, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a query has run to its end that was killed on its way."""
    folder = tmp_path_factory.mktemp("exactly_once")
    for side, name in ((LEFT, "auctions"), (RIGHT, "bids")):
        write_files(folder / name, [batch[side] for batch in batches])
    happened = run_disturbed(folder, Random(SEED))
    assert happened["program"] + happened["worker"] == KILLS
    print(f"killed and failed: {dict(happened)}")
    return folder


def query_of(spark: SparkSession, folder: Path, name: str) -> Query:
    """The query as the program has built it."""
    query: Query = crash_query.join_files(spark, folder).query
    if name == "results":
        return query
    return replace(query, view=View.GROUPS, grouping=Grouping(("item_id",), crash_query.AGGREGATES))


def on_one_driver(query: Query, batches: Batches) -> list[pa.Table]:
    """The final groups, from a join in one piece and without Spark."""
    driver = query.new_driver(0)
    groups = query.new_groups(driver)
    read = [[query.readers[side].read(batch[side]) for side in Side] for batch in batches]
    return [groups.process(driver.process(*both)) for both in read]


def counted(table: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.to_pylist()))


def test_every_result_comes_out_once(spark: SparkSession, folder: Path, batches: Batches) -> None:
    auctions, bids = ([batch[side] for batch in batches] for side in Side)
    wanted = pt.join(*crash_query.auction_streams(auctions, bids)).results
    results = spark.read.parquet(str(folder / "results")).toArrow()
    assert len(results) == len(wanted) > 1000
    assert counted(results.cast(wanted.schema)) == counted(wanted)


def test_every_final_group_comes_out_once(spark: SparkSession, folder: Path, batches: Batches) -> None:
    wanted = pa.concat_tables(on_one_driver(query_of(spark, folder, "groups"), batches))
    groups = spark.read.parquet(str(folder / "groups")).toArrow()
    assert len(set(groups["item_id"].to_pylist())) == len(groups) == len(wanted) > 50
    assert counted(groups.cast(wanted.schema)) == counted(wanted)


@pytest.mark.parametrize("name", ["results", "groups"])
def test_the_state_is_that_of_an_undisturbed_run(
    spark: SparkSession, folder: Path, batches: Batches, name: str
) -> None:
    query = query_of(spark, folder, name)
    checkpoint = folder / "checkpoint" / name
    mine, theirs = undisturbed(query, batches_taken(checkpoint, batches)), stored(spark, checkpoint, query)
    n_stored = 0
    for number in range(crash_query.BUCKETS):
        bucket = theirs.restored(number)
        assert described(bucket) == described(mine.restored(number))
        n_stored += int(bucket.driver.state.sides["live"].sum())
    assert n_stored > 50
