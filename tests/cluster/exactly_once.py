"""Executors and a worker of a Spark cluster are killed in the middle of the auction query: nothing is lost or doubled.

    python -m cluster.exactly_once --kills 5 --seed 7

Starts a cluster on this machine (Linux, Java 17 or newer) and two queries on it. While they run, executors are killed
at random moments, and once a worker together with its executor, for which another one starts. Then

- the state of every bucket must be that of an undisturbed run: tuples, punctuations, timers, watermarks, open groups;
- after the rest of the streams and their end, results and groups must be those of the same calls on tables, each once.

The last line is the verdict; the exit code is 0 if all of that holds.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pyarrow as pa
from pyspark.sql import SparkSession

import punctuated as pt
from cluster import auction_query
from cluster.standalone import HOST, MEMORY, Cluster, environment
from kill_moments import next_moment
from punctuated.spark.session.local import stderr_to
from spark.checkpoints import Batches, commits, described, states

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.executor.memory": MEMORY,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.shuffle.io.retryWait": "1s",  # what an executor held that is gone is asked for less long
    "spark.sql.streaming.minBatchesToRetain": "1000",  # the log of batches tells what an undisturbed run would do
}
LONGEST = 300  # seconds without the end of a micro-batch


STARTED = time.monotonic()


def say(text: str) -> None:
    print(f"{time.monotonic() - STARTED:5.0f} s  {text}", flush=True)


@contextmanager
def session(cluster: Cluster, folder: Path) -> Iterator[SparkSession]:
    """A driver in this process; what it has to say beside the program's own lines goes to a file."""
    os.environ.update(environment(folder))
    builder = SparkSession.builder.master(cluster.url).appName("exactly-once")
    for setting in (SETTINGS | {"spark.sql.warehouse.dir": str(folder / "warehouse")}).items():
        builder = builder.config(*setting)
    with stderr_to(folder / "driver.log"):
        spark = pt.configure(builder.getOrCreate())
    try:
        yield spark
    finally:
        spark.stop()


# Running and killing


class Run:
    """Both queries; one that fails starts again from its checkpoint, as it would in production."""

    def __init__(self, spark: SparkSession, folder: Path, n_batches: int) -> None:
        self._spark, self._folder, self._n = spark, folder, n_batches
        self._queries = auction_query.start(spark, folder)
        self._deadline = time.monotonic() + LONGEST
        self._said: list[int] = []
        self.n_failures = 0

    @property
    def commits(self) -> int:
        """Micro-batches of both queries that are over."""
        return sum(self._commits())

    @property
    def n_left(self) -> int:
        """Micro-batches of both queries that are to come."""
        return self._n * len(self._queries) - self.commits

    def _commits(self) -> list[int]:
        return [commits(self._folder / "checkpoint" / name) for name in self._queries]

    def is_over(self) -> bool:
        """Whether both have come to their end; tells how far they are."""
        if time.monotonic() > self._deadline:
            raise TimeoutError(f"no micro-batch came to its end for {LONGEST} s")
        if (now := self._commits()) != self._said:
            self._said, self._deadline = now, time.monotonic() + LONGEST
            done = ", ".join(f"{n} of {self._n} of {name}" for name, n in zip(self._queries, now, strict=True))
            say(f"micro-batches: {done}")
        failed = [name for name, query in self._queries.items() if query.exception() is not None]
        if failed:
            self._start_again(failed)
        return not any(query.isActive for query in self._queries.values())

    def _start_again(self, failed: list[str]) -> None:
        self.n_failures += 1
        for name in failed:
            say(f"{name} failed and starts again: {str(self._queries[name].exception())[:300]}")
        if self.n_failures > 5:
            raise RuntimeError("the queries do not come to their end")
        for query in self._queries.values():
            query.stop()
        self._queries = auction_query.start(self._spark, self._folder)

    def stop(self) -> None:
        for query in self._queries.values():
            query.stop()


def run_disturbed(run: Run, cluster: Cluster, victims: list[str], random: Random) -> int:
    """Let the queries come to their end, and kill on the way; returns how many of the victims it came to."""
    n_killed, at = 0, _next_moment(run, len(victims), random)
    while not run.is_over():
        if n_killed < len(victims) and run.commits >= at:
            time.sleep(random.uniform(0, 1))
            if KILL[victims[n_killed]](cluster, random):
                n_killed += 1
                at = _next_moment(run, len(victims) - n_killed, random)
        time.sleep(0.05)
    return n_killed


def _next_moment(run: Run, n_kills: int, random: Random) -> int:
    return next_moment(run.commits, run.n_left, n_kills, random)


def _kill_executor(cluster: Cluster, random: Random) -> bool:
    victim = cluster.kill_executor(random)
    if victim is None:
        return False
    say(f"killed executor {victim}")
    return True


def _kill_worker(cluster: Cluster, random: Random) -> bool:
    victim = cluster.kill_worker(random)
    if victim is None:
        return False
    time.sleep(random.uniform(0, 3))
    say(f"killed worker {victim} with its executor, started worker {cluster.start_worker()}")
    return True


KILL = {"executor": _kill_executor, "worker": _kill_worker}


# Checks


def check_state(spark: SparkSession, folder: Path, name: str, batches: Batches) -> bool:
    """Whether each bucket in the checkpoint is that of an undisturbed run."""
    query = auction_query.query_of(spark, folder, name)
    n_stored, differ = 0, []
    for number, (found, wanted) in enumerate(states(spark, folder / "checkpoint" / name, query, batches)):
        n_stored += int(found.driver.state.sides["live"].sum())
        if described(found) != described(wanted):
            differ.append(number)
    if differ:
        say(f"state of {name}: buckets {differ} are not those of an undisturbed run")
    else:
        say(f"state of {name}: {n_stored:,} tuples in {query.join.n_buckets} buckets, as in an undisturbed run")
    return not differ and n_stored > 0


def check_output(spark: SparkSession, folder: Path, name: str, wanted: pa.Table) -> bool:
    """Whether each row that tables give is there once, and nothing else."""
    found = spark.read.parquet(str(folder / name)).select(*wanted.column_names).toArrow().cast(wanted.schema)
    have, want = (Counter(map(repr, table.to_pylist())) for table in (found, wanted))
    missing, surplus = want - have, have - want
    if missing or surplus:
        say(f"{name}: {len(found):,} rows; {missing.total():,} are missing, {surplus.total():,} are too many")
        for what, rows in (("missing", missing), ("too many", surplus)):
            for row in list(rows)[:3]:
                say(f"  {what}: {row}")
        return False
    say(f"{name}: {len(found):,} rows, each as on tables and once")
    return len(found) > 0


# The program


def run(folder: Path, kills: int, seed: int) -> bool:
    """Everything; whether all checks hold."""
    random = Random(seed)
    victims = ["executor"] * kills
    victims.insert(len(victims) // 2, "worker")
    first, rest = auction_query.make_batches(4 * len(victims), seed)
    auction_query.add_files(folder, first)
    with Cluster(folder) as cluster:
        say(f"master {cluster.url}, workers {', '.join(str(worker.pid) for worker in cluster.workers)}")
        with session(cluster, folder) as spark:
            return all([*_killed(spark, cluster, folder, victims, first, random), *_ended(spark, folder, first, rest)])


def _killed(
    spark: SparkSession, cluster: Cluster, folder: Path, victims: list[str], batches: Batches, random: Random
) -> list[bool]:
    """The queries over the first batches, disturbed."""
    queries = Run(spark, folder, len(batches))
    n_killed = run_disturbed(queries, cluster, victims, random)
    say(
        f"{n_killed} of {len(victims)} kills, {cluster.n_executors_started} executors started, "
        f"the queries failed {queries.n_failures} times"
    )
    return [n_killed == len(victims), *(check_state(spark, folder, name, batches) for name in auction_query.NAMES)]


def _ended(spark: SparkSession, folder: Path, first: Batches, rest: Batches) -> list[bool]:
    """The queries over the rest, to the end of both streams."""
    say("the rest of both streams, and their end")
    auction_query.add_files(folder, rest, len(first))
    queries = Run(spark, folder, len(first) + len(rest))
    while not queries.is_over():
        time.sleep(0.05)
    wanted = auction_query.wanted([*first, *rest])
    return [check_output(spark, folder, name, wanted[name]) for name in auction_query.NAMES]


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill parts of a Spark cluster in the middle of a query.")
    parser.add_argument("--kills", type=int, default=2, help="how many executors are killed, beside one worker")
    parser.add_argument("--seed", type=int, default=1, help="of the streams, and of what is killed when")
    parser.add_argument("--folder", type=Path, help="keep files and logs here; a new folder")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended then, too
    try:
        with _folder(arguments.folder) as folder:
            exact = run(folder, arguments.kills, arguments.seed)
    except Exception:
        traceback.print_exc()
        exact = False
    verdict = "PASSED: nothing is lost, nothing doubled" if exact else "FAILED"
    say(f"{verdict} (kills {arguments.kills}, seed {arguments.seed})")
    return 0 if exact else 1


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True)
        yield given.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="punctuated-cluster-", ignore_cleanup_errors=True) as name:
        yield Path(name)


if __name__ == "__main__":
    sys.exit(main())
