"""Flink SQL's interval joins on written inputs: heap state, two slots, CSV in, all results to the blackhole.

Flink has no micro-batches: the rate is that of a whole job. Two jobs run in one JVM: the first counts and sums up the
results, which checks them and warms the JVM up; the second is timed. Started as a program by `run.py`, in the
environment `.bench/flink`: nothing but pyflink and the standard library is imported.
"""

import argparse
import os
import time
from collections import deque
from datetime import timedelta
from importlib.metadata import version
from typing import Any

from benchmarks.peers.manifest import STREAMS, Manifest, Near, checksum_of, from_clause
from benchmarks.peers.outcome import Outcome, run_program

HEAP = "-Xmx4g"  # as Spark's
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


def environment(settings: dict[str, str]) -> Any:
    """A new table environment; the JVM is the same for all of this process."""
    from pyflink.common import Configuration  # type: ignore[import-not-found]  # only in .bench/flink
    from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]  # as above

    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    built = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    return TableEnvironment.create(built)


def declare(tables: Any, manifest: Manifest) -> None:
    """The streams and the sink; one file per stream is read by one reader, so it stays in order."""
    for name in manifest.names:
        tables.execute_sql(
            f"CREATE TABLE {name} (k BIGINT, us BIGINT, val BIGINT, event_time AS TO_TIMESTAMP_LTZ(us, 3),"
            f" WATERMARK FOR event_time AS event_time) WITH ('connector' = 'filesystem', 'format' = 'csv',"
            f" 'path' = '{(manifest.path / f'{name}.csv').as_uri()}')"
        )
    columns = ", ".join(f"{name}_us BIGINT, {name}_val BIGINT" for name in manifest.names)
    tables.execute_sql(f"CREATE TABLE nothing (k BIGINT, {columns}) WITH ('connector' = 'blackhole')")


def join(manifest: Manifest) -> str:
    """All results, with the columns of all streams."""
    columns = ", ".join(f"{name}.us AS {name}_us, {name}.val AS {name}_val" for name in manifest.names)
    return f"SELECT a.k, {columns} {from_clause(manifest.windows_us, 'k', condition)}"


def condition(near: Near) -> str:
    """An interval join has one pair of time attributes, here those of the first stream and of the one that comes in.

    Distances from the streams between are conditions on numbers: with a second pair of time attributes Flink would plan
    a regular join, which forgets nothing.
    """
    ours, other, earlier, later = near
    if ours != STREAMS[0]:
        return f"{other}.us BETWEEN {ours}.us - {earlier} AND {ours}.us + {later}"
    return (
        f"{other}.event_time BETWEEN {ours}.event_time - {interval(earlier)} AND {ours}.event_time + {interval(later)}"
    )


def check(manifest: Manifest, settings: dict[str, str]) -> tuple[int, int]:
    """Number and checksum of the results: the last row of a query whose sums grow."""
    tables = environment(SETTINGS | settings | MINI_BATCHES)
    declare(tables, manifest)
    checksum = checksum_of("k", [f"{name}_val" for name in manifest.names])
    with tables.execute_sql(
        f"SELECT COUNT(*), SUM(CAST({checksum} AS BIGINT)) FROM ({join(manifest)})"
    ).collect() as rows:
        last = deque(rows, maxlen=1)
    return (int(last[0][0]), int(last[0][1])) if last else (0, 0)


def source(manifest: Manifest) -> str:
    """All tuples, without a join: what reading costs. As wide as a result, to go to the same sink."""
    columns = ", ".join(f"us AS {name}_us, val AS {name}_val" for name in manifest.names)
    return " UNION ALL ".join(f"SELECT k, {columns} FROM {name}" for name in manifest.names)


def time_job(manifest: Manifest, settings: dict[str, str], query: str) -> tuple[float, float]:
    """Seconds of the call, and of the job by Flink's own clock."""
    tables = environment(SETTINGS | settings)
    declare(tables, manifest)
    start = time.perf_counter()
    client = tables.execute_sql(f"INSERT INTO nothing {query}").get_job_client()
    result = client.get_job_execution_result().result()
    return time.perf_counter() - start, result.get_net_runtime() / 1000


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """Check, then time."""
    os.environ["JVM_ARGS"] = HEAP
    settings = dict(pair.split("=", 1) for pair in options.conf)
    results, checksum = check(manifest, settings)
    seconds, job_seconds = time_job(manifest, settings, join(manifest))
    _, source_seconds = time_job(manifest, settings, source(manifest))
    return Outcome(
        options.system,
        note=f"whole job in a warm JVM; reading alone {manifest.rows / source_seconds:,.0f} rows/s",
        rows=manifest.rows,
        seconds=seconds,
        rows_per_s=manifest.rows / job_seconds,
        results=results,
        checksum=checksum,
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
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="further Flink settings")
    run_program(measure, parser)
