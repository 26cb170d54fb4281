"""Killed and restarted, a query puts out everything exactly once, and its state is that of an undisturbed run.

PUNCTUATED_KILLS sets how often it is killed, PUNCTUATED_SEED when.
"""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

import punctuated as pt
from kill_moments import next_moment
from patience import LONGEST_S
from punctuated.model.spec import LEFT, RIGHT, Side
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.grouping import Grouping
from punctuated.output.views import View
from punctuated.spark.session.local import write_files
from punctuated.spark.session.query import Query
from punctuated.spark.state.repair import find_repair
from punctuated.storage.tables.open_table import table_at
from punctuated.storage.tables.written_file import STAGED
from spark import crash_query
from spark.checkpoints import Batches, commits, cut_by_time, described, states
from spark.processes import kill, kill_session, members, members_with

KILLS = int(os.environ.get("PUNCTUATED_KILLS", "3"))
SEED = int(os.environ.get("PUNCTUATED_SEED", "1"))
N_BATCHES = 2 * KILLS + 1
PROGRAM = Path(crash_query.__file__)


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
        """Micro-batches of all queries that are over."""
        return sum(commits(self._folder / "checkpoint" / name) for name in crash_query.QUERIES)

    def kill(self) -> None:
        """Kill the program and its JVM; the Python workers see that it is gone."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        deadline = time.monotonic() + LONGEST_S
        while members(self._process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        kill_session(self._process.pid)

    def kill_worker(self, random: Random) -> bool:
        """Kill one of the Python processes that Spark has started."""
        workers = members_with(self._process.pid, "pyspark.daemon")
        if not workers:
            return False
        kill(random.choice(workers))
        return True


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
        written = (folder / "results" / "_spark_metadata").exists()
        if written and (repair := find_repair(folder / "checkpoint" / "results", folder / "results")) is not None:
            repair.carry_out()  # the kill has hit the moment between the two commits of a batch
            happened["repair"] += 1
    pytest.fail(f"the query does not come to its end: {happened}\n{(folder / 'log').read_text()[-5000:]}")


def _next_moment(program: Program, n_kills: int, random: Random) -> int:
    done = program.commits
    return next_moment(done, len(crash_query.QUERIES) * N_BATCHES - done, n_kills, random)


def _disturb(program: Program, victims: list[str], happened: Counter[str], random: Random) -> None:
    """Kill at random moments until the program ends by itself, or is killed."""
    n_killed = happened["program"] + happened["worker"]
    at = _next_moment(program, KILLS - n_killed, random)
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
                at = _next_moment(program, KILLS - n_killed, random)
        time.sleep(0.02)
    if program.result != 0:
        happened["failure"] += 1


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
    if name != "groups":
        query: Query = crash_query.join_files(spark, folder).query
        return query
    query = crash_query.join_files(spark, folder, memory=crash_query.MEMORY).query
    return query.seen_as(View.GROUPS, Grouping(("item_id",), crash_query.AGGREGATES))


def on_one_driver(query: Query, batches: Batches) -> Iterator[BatchResult]:
    """What comes out of a join in one piece and without Spark."""
    driver = query.new_driver(0)
    for batch in batches:
        yield driver.process(*(query.join.inputs[side].read(batch[side]) for side in Side))


def counted(table: pa.Table) -> Counter[str]:
    return Counter(map(repr, table.to_pylist()))


@pytest.mark.parametrize("sink", ["results", "written/results"])
def test_every_result_comes_out_once(spark: SparkSession, folder: Path, batches: Batches, sink: str) -> None:
    auctions, bids = ([batch[side] for batch in batches] for side in Side)
    wanted: pa.Table = pt.join(*crash_query.auction_streams(auctions, bids)).results
    results = spark.read.parquet(str(folder / sink)).toArrow().select(wanted.column_names)
    assert len(results) == len(wanted) > 1000
    assert counted(results.cast(wanted.schema)) == counted(wanted)


def test_every_punctuation_comes_out_once(spark: SparkSession, folder: Path, batches: Batches) -> None:
    outputs = on_one_driver(query_of(spark, folder, "written"), batches)
    wanted = [key for output in outputs for told in output.punctuations for key in told.keys[0].to_pylist()]
    punctuations = pq.read_table(folder / "written" / "punctuations")
    assert len(wanted) > 50
    assert sorted(punctuations["item_id"].to_pylist()) == sorted(wanted)


def test_every_final_group_comes_out_once(spark: SparkSession, folder: Path, batches: Batches) -> None:
    query = query_of(spark, folder, "groups")
    grouped = query.join.groups()
    wanted = pa.concat_tables([grouped.process(output) for output in on_one_driver(query, batches)])
    groups = DeltaTable(folder / "groups").to_pyarrow_table()
    assert len(set(groups["item_id"].to_pylist())) == len(groups) == len(wanted) > 50
    assert counted(groups.cast(wanted.schema)) == counted(wanted)


def test_what_is_left_of_failed_attempts_is_removed_and_nothing_else(folder: Path) -> None:
    tables = [folder / "written" / "results", folder / "written" / "punctuations", folder / "groups"]

    def visible() -> list[Counter[str]]:
        parquet = [counted(pq.read_table(path)) for path in tables[:2]]
        return [*parquet, counted(DeltaTable(tables[2]).to_pyarrow_table())]

    before = visible()
    for path in tables:
        table = table_at(str(path))
        left = table.left_over(stopped=True)
        print(f"{path.name}: {len(left)} files left")
        table.remove(left)
        assert table.left_over(stopped=True) == []
    assert visible() == before
    assert all(list((path / STAGED).iterdir()) == [] for path in tables[:2])


@pytest.mark.parametrize("name", crash_query.QUERIES)
def test_the_state_is_that_of_an_undisturbed_run(
    spark: SparkSession, folder: Path, batches: Batches, name: str
) -> None:
    query = query_of(spark, folder, name)
    n_stored = 0
    for found, wanted in states(spark, folder / "checkpoint" / name, query, batches):
        assert described(found) == described(wanted)
        n_stored += int(found.driver.state.n_stored.sum())
    assert n_stored > 50
