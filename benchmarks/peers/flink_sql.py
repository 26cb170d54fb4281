"""Flink SQL's interval joins on written inputs: heap state, two slots, CSV in, all results to the blackhole.

With `--sink files` they are written as Parquet files, from which they are then counted; with `--checkpoints` Flink
takes checkpoints meanwhile, and files become visible with them. With `--what groups` an aggregate follows the join.

Flink has no micro-batches: the rate is that of a whole job. Two jobs run in one JVM: the first counts and sums up the
results, which checks them and warms the JVM up; the second is timed. Started as a program by `run.py`, in the
environment `.bench/flink`: nothing but pyflink and the standard library is imported.
"""

import argparse
import os
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers.manifest import GROUPS_CHECKSUM, STREAMS, Manifest, Near, checksum_of, from_clause
from benchmarks.peers.outcome import Outcome, of_whole_run, run_program

HEAP = "-Xmx4g"  # as Spark's
BLACKHOLE = "'connector' = 'blackhole'"
SETTINGS = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "state.backend.type": "hashmap",
    "restart-strategy.type": "none",
    "pipeline.auto-watermark-interval": "1000 s",  # of slow event time (see `interval`): a second of the stream
}
# Emits a new sum every 36 s of the stream, not for every result.
MINI_BATCHES = {
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "10 h",
    "table.exec.mini-batch.size": "1000000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
}


def interval(us: int) -> str:
    """A literal of Flink SQL that is a thousand times as long.

    Flink's event times are milliseconds. Ours are microseconds; read as milliseconds they give the same join, exactly,
    in a world that is a thousand times slower.

    >>> interval(15_000_000)
    "INTERVAL '0 04:10:00.000' DAY TO SECOND"
    """
    slow = timedelta(milliseconds=us)
    minutes, seconds = divmod(slow.seconds, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{slow.microseconds // 1000:03}"
    return f"INTERVAL '{slow.days} {clock}' DAY TO SECOND"


class Query(NamedTuple):
    """What is asked of Flink: a statement, its columns, and the term that is summed up to check it."""

    statement: str
    columns: str
    checksum: str


def query_of(manifest: Manifest, what: str) -> Query:
    """All results, or groups of them."""
    if what == "groups":
        return Query(groups(manifest), "k BIGINT, n BIGINT, highest BIGINT", GROUPS_CHECKSUM.replace("key", "k"))
    columns = ", ".join(f"{name}_us BIGINT, {name}_val BIGINT" for name in manifest.names)
    return Query(join(manifest), f"k BIGINT, {columns}", checksum_of("k", [f"{name}_val" for name in manifest.names]))


def environment(settings: dict[str, str]) -> Any:
    """A new table environment; the JVM is the same for all of this process."""
    from pyflink.common import Configuration  # type: ignore[import-not-found]  # only in .bench/flink
    from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]  # as above

    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    built = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    return TableEnvironment.create(built)


def declare(tables: Any, manifest: Manifest, columns: str, files: Path | None = None) -> None:
    """The streams and the sink; one file per stream is read by one reader, so it stays in order."""
    for name in manifest.names:
        more = "".join(f", {column} BIGINT" for column in manifest.columns_of(name)[3:])
        tables.execute_sql(
            f"CREATE TABLE {name} (k BIGINT, us BIGINT, val BIGINT{more}, event_time AS TO_TIMESTAMP_LTZ(us, 3),"
            f" WATERMARK FOR event_time AS event_time) WITH ('connector' = 'filesystem', 'format' = 'csv',"
            f" 'path' = '{(manifest.path / f'{name}.csv').as_uri()}')"
        )
    to_files = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{files.as_uri()}'" if files else ""
    tables.execute_sql(f"CREATE TABLE sink ({columns}) WITH ({to_files or BLACKHOLE})")


def join(manifest: Manifest) -> str:
    """All results, with the columns of all streams."""
    columns = ", ".join(f"{name}.us AS {name}_us, {name}.val AS {name}_val" for name in manifest.names)
    return f"SELECT a.k, {columns} {from_clause(manifest.windows_us, manifest.expiring, 'k', condition)}"


def groups(manifest: Manifest) -> str:
    """Number and largest last value by key, once each: final when the time of its only tuple of the first stream is.

    Grouped by the key alone, every result would change its group anew.
    """
    last = manifest.names[-1]
    return (
        f"SELECT a.k, COUNT(*) AS n, MAX({last}.val) AS highest "
        f"{from_clause(manifest.windows_us, manifest.expiring, 'k', condition)} "
        "GROUP BY a.k, TUMBLE(a.event_time, INTERVAL '0.001' SECOND)"
    )


def condition(near: Near) -> str:
    """An interval join has one pair of time attributes, here those of the first stream and of the one that comes in.

    Distances from the streams between are conditions on numbers: with a second pair of time attributes Flink would plan
    a regular join, which forgets nothing.
    """
    ours, other, earlier, later, expires = near
    if ours != STREAMS[0]:
        return f"{other}.us BETWEEN {ours}.us - {earlier} AND {ours}.us + {later}"
    within = (
        f"{other}.event_time BETWEEN {ours}.event_time - {interval(earlier)} AND {ours}.event_time + {interval(later)}"
    )
    return f"{within} AND {other}.us <= {ours}.until" if expires else within


def check(manifest: Manifest, settings: dict[str, str], query: Query) -> tuple[int, int]:
    """Number and checksum of the results: the last row of a query whose sums grow."""
    tables = environment(SETTINGS | settings | MINI_BATCHES)
    declare(tables, manifest, query.columns)
    return summed(tables, query, f"({query.statement})")


def summed(tables: Any, query: Query, rows: str) -> tuple[int, int]:
    """Number and checksum of rows."""
    statement = f"SELECT COUNT(*), SUM(CAST({query.checksum} AS BIGINT)) FROM {rows}"
    with tables.execute_sql(statement).collect() as sums:
        last = deque(sums, maxlen=1)
    return (int(last[0][0]), int(last[0][1])) if last else (0, 0)


def source(manifest: Manifest) -> Query:
    """All tuples, without a join: what reading costs."""
    rows = " UNION ALL ".join(f"SELECT k, us, val FROM {name}" for name in manifest.names)
    return Query(rows, "k BIGINT, us BIGINT, val BIGINT", "k")


def time_job(
    manifest: Manifest, settings: dict[str, str], query: Query, files: Path | None = None
) -> tuple[float, float]:
    """Seconds of the call, and of the job by Flink's own clock."""
    tables = environment(SETTINGS | settings)
    declare(tables, manifest, query.columns, files)
    start = time.perf_counter()
    client = tables.execute_sql(f"INSERT INTO sink {query.statement}").get_job_client()
    result = client.get_job_execution_result().result()
    return time.perf_counter() - start, result.get_net_runtime() / 1000


def in_files(manifest: Manifest, settings: dict[str, str], query: Query, files: Path) -> tuple[int, int]:
    """Number and checksum of what lies in files that readers see."""
    tables = environment(SETTINGS | settings | MINI_BATCHES)
    declare(tables, manifest, query.columns, files)
    return summed(tables, query, "sink")


@contextmanager
def place_for_files(sink: str) -> Iterator[Path | None]:
    """A folder for the results, if they are written."""
    with tempfile.TemporaryDirectory(prefix="peers-files-") as folder:
        yield Path(folder, "results") if sink == "files" else None


def durable(options: argparse.Namespace) -> str:
    """What outlives a crash."""
    if options.checkpoints:
        return "state and results, every 5 s" if options.sink == "files" else "state, every 5 s"
    return "results, at the end" if options.sink == "files" else "nothing"


def settings_of(options: argparse.Namespace) -> dict[str, str]:
    """Those given, and what files and checkpoints need."""
    settings = dict(pair.split("=", 1) for pair in options.conf)
    if options.jars:
        settings["pipeline.jars"] = ";".join(Path(jar).as_uri() for jar in options.jars)
    if options.checkpoints:
        settings |= {
            "execution.checkpointing.interval": "5 s",
            "execution.checkpointing.storage": "filesystem",
            "execution.checkpointing.dir": Path(options.checkpoints).as_uri(),
        }
    return settings


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """Check, then time."""
    os.environ["JVM_ARGS"] = HEAP
    query = query_of(manifest, options.what)
    with tempfile.TemporaryDirectory(prefix="peers-checkpoints-") as folder, place_for_files(options.sink) as files:
        options.checkpoints = folder if options.checkpoints else ""
        settings = settings_of(options)
        found = check(manifest, settings, query)
        seconds, job_seconds = time_job(manifest, settings, query, files)
        if files is not None:
            written = in_files(manifest, settings, query, files)
            assert written == found, f"the files hold {written}, the results are {found}"
        _, source_seconds = time_job(manifest, settings, source(manifest))
    return of_whole_run(
        options.system,
        manifest,
        seconds,
        found,
        timed_s=job_seconds,
        note=f"whole job in a warm JVM; reading alone {manifest.rows / source_seconds:,.0f} rows/s",
        what=options.what,
        durable=durable(options),
        details={
            "flink": version("apache-flink"),
            "conf": SETTINGS | settings,
            "heap": HEAP,
            "job_seconds": job_seconds,
            "source_job_seconds": source_seconds,
        },
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--what", choices=["join", "groups"], default="join")
    parser.add_argument("--sink", choices=["noop", "files"], default="noop")
    parser.add_argument("--checkpoints", action="store_true", help="every five seconds")
    parser.add_argument("--jars", action="append", default=[], help="what Flink needs to write Parquet files")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="further Flink settings")
    run_program(measure, parser)
