"""Spark's own stream-stream join on written inputs: one file of each stream per trigger, all results to the noop sink.

With `--sink files` the timed run writes them as Parquet files by Spark's file sink, from which they are then counted.
With `--what groups` the join is followed by an aggregate, in the same query.

Watermarks without delay on all streams and ranges on the time differences, so that Spark can forget what no later tuple
can match. Three streams are two joins, one behind the other. By default the results are counted and summed up in a run
of their own, which also warms the JVM up; the timed run then only makes them. Started as a program by `run.py`; prints
nothing, writes an outcome.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from typing import Any

import pyspark
from benchmarks.peers.manifest import GROUPS_CHECKSUM, Manifest, Near, checksum_of, near_others
from benchmarks.peers.outcome import Batch, Outcome, of_batches, run_program
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (its name everywhere)
from pyspark.sql.streaming.query import StreamingQuery

from punctuated.spark.session.session import AT_START, ON_LOCAL_FILES

PROVIDERS = "org.apache.spark.sql.execution.streaming.state"
STORES: dict[str, dict[str, Any]] = {
    "default": {"stateStore.providerClass": f"{PROVIDERS}.HDFSBackedStateStoreProvider", "join.stateFormatVersion": 2},
    "rocksdb": {
        "stateStore.providerClass": f"{PROVIDERS}.RocksDBStateStoreProvider",
        "join.stateFormatVersion": 4,
        "stateStore.rocksdb.changelogCheckpointing.enabled": True,  # faster than without
    },
}
SCHEMA = "key BIGINT, ts TIMESTAMP, val BIGINT"
DURABLE = {"noop": "state", "files": "state, results"}  # by the sink: what outlives a crash
KEPT_PROGRESS = 1_000_000  # every micro-batch, not the last hundred
Progress = dict[str, Any]


def session(store: str, partitions: int, settings: dict[str, str]) -> SparkSession:
    """Two cores and 4 GB, as for all systems."""
    builder = SparkSession.builder.master("local[2]").appName(f"peers-{store}")
    basics: dict[str, Any] = {
        "spark.driver.memory": "4g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": False,
        "spark.ui.showConsoleProgress": False,
        "spark.sql.shuffle.partitions": partitions,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.numRecentProgressUpdates": KEPT_PROGRESS,
        **AT_START,
        **ON_LOCAL_FILES,  # for all that is compared
    }
    chosen = {f"spark.sql.streaming.{name}": value for name, value in STORES[store].items()}
    for name, value in (basics | chosen | settings).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def schema_of(manifest: Manifest, name: str) -> str:
    """The columns of a stream that every system reads."""
    return SCHEMA + ", until TIMESTAMP" * ("until" in manifest.columns_of(name))


def stream(spark: SparkSession, manifest: Manifest, name: str) -> DataFrame:
    """A stream of one file per trigger."""
    files = (
        spark.readStream.schema(schema_of(manifest, name))
        .option("maxFilesPerTrigger", 1)
        .parquet(str(manifest.path / name))
    )
    return files.withWatermark("ts", "0 seconds").alias(name)


def joined(spark: SparkSession, manifest: Manifest) -> DataFrame:
    """All results, with the columns of all streams: one after the other is joined with the results of those before."""
    first, *others = manifest.names
    results = stream(spark, manifest, first)
    for place, name in enumerate(others, start=1):
        near = [condition(near) for near in near_others(manifest.windows_us, place, manifest.expiring)]
        met = results.join(stream(spark, manifest, name), F.expr(" AND ".join([f"a.key = {name}.key", *near])))
        results = handed_on(met, name)
    return results.drop("until").withColumnsRenamed({"ts": "a_ts", "val": "a_val"})


def condition(near: Near) -> str:
    """A range of times; from those of the first stream Spark derives how long to keep what, of others it warns."""
    ours = "a.ts" if near.ours == "a" else f"a.{near.ours}_ts"
    within = (
        f"{near.other}.ts >= {ours} - INTERVAL {near.earlier_us} MICROSECONDS"
        f" AND {near.other}.ts <= {ours} + INTERVAL {near.later_us} MICROSECONDS"
    )
    return f"{within} AND {near.other}.ts <= a.until" if near.expires else within


def handed_on(met: DataFrame, name: str) -> DataFrame:
    """Results as they go into the next join, where Spark allows for one event time: that of the first stream."""
    plain_time = F.col(f"{name}.ts").alias(f"{name}_ts", metadata={})
    return met.select("a.*", plain_time, F.col(f"{name}.val").alias(f"{name}_val")).alias("a")


def grouped(manifest: Manifest, results: DataFrame) -> DataFrame:
    """Number and largest last value by key; with the time of its only tuple of the first stream, Spark can end it."""
    highest = F.max(f"{manifest.names[-1]}_val").alias("highest")
    groups = results.groupBy("key", "a_ts").agg(F.count(F.lit(1)).alias("n"), highest)
    return groups.select("key", "n", "highest")


def wanted(spark: SparkSession, manifest: Manifest, what: str) -> tuple[DataFrame, str]:
    """What is asked for, and the term that is summed up to check it."""
    results = joined(spark, manifest)
    if what == "groups":
        return grouped(manifest, results), GROUPS_CHECKSUM
    return results, checksum_of("key", [f"{name}_val" for name in manifest.names])


def observed(results: DataFrame, checksum: str) -> DataFrame:
    """Counts the results and sums them up on their way to the sink; costs some 20 ns a result."""
    return results.observe("results", F.count(F.lit(1)).alias("n"), F.sum(F.expr(checksum)).alias("checksum"))


def run_query(results: DataFrame, files: str | None = None) -> tuple[float, list[Progress]]:
    """Seconds from the start of the query to its end, and the progress of each micro-batch; `files` is a folder."""

    def start(checkpoint: str) -> StreamingQuery:
        writer = results.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
        return writer.format("noop").start() if files is None else writer.format("parquet").start(files)

    return timed(start)


def timed(start: Callable[[str], StreamingQuery]) -> tuple[float, list[Progress]]:
    """The same for any query that is started with a new checkpoint."""
    with tempfile.TemporaryDirectory(prefix="peers-checkpoint-") as checkpoint:
        begin = time.perf_counter()
        query = start(checkpoint)
        query.awaitTermination()
        seconds = time.perf_counter() - begin
        return seconds, [json.loads(progress.json) for progress in query.recentProgress]


def in_files(spark: SparkSession, files: str, checksum: str) -> dict[str, int]:
    """Number and sum of the results that lie in files, as readers see them."""
    sums = F.count(F.lit(1)).alias("n"), F.sum(F.expr(checksum)).alias("checksum")
    found: dict[str, int] = spark.read.parquet(files).agg(*sums).collect()[0].asDict()
    return found


def batch(progress: Progress, results: int) -> Batch:
    """What one micro-batch's progress says."""
    return Batch(
        rows=progress["numInputRows"],
        seconds=progress["durationMs"]["triggerExecution"] / 1000,
        results=results,
        state_rows=of_all_joins(progress, "numRowsTotal"),
        state_bytes=of_all_joins(progress, "memoryUsedBytes"),
    )


def of_all_joins(progress: Progress, name: str) -> int:
    """What the joins of a micro-batch say, summed up."""
    return sum(join[name] for join in progress["stateOperators"])


def runs(
    spark: SparkSession, manifest: Manifest, what: str, apart: bool, files: str | None
) -> tuple[float, list[Progress], list[dict[str, int]]]:
    """Seconds and progress of the timed run, and what was observed of each micro-batch, there or in a run before."""
    results, checksum = wanted(spark, manifest, what)
    seconds, progresses = run_query(observed(results, checksum))
    found = [progress["observedMetrics"]["results"] for progress in progresses]
    if apart or files is not None:
        seconds, progresses = run_query(results, files)
    if files is not None:
        check_files(in_files(spark, files, checksum), found)
    return seconds, progresses, found


def check_files(written: dict[str, int], found: list[dict[str, int]]) -> None:
    """Raise if the files hold other results than were observed before."""
    expected = {name: sum(one[name] or 0 for one in found) for name in ("n", "checksum")}
    if written != expected:
        raise ValueError(f"the files hold {written}, the results are {expected}")


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """The query over all inputs."""
    spark = session(options.store, options.partitions, dict(pair.split("=", 1) for pair in options.conf))
    with tempfile.TemporaryDirectory(prefix="peers-files-") as folder:
        try:
            files = f"{folder}/results" if options.sink == "files" else None
            seconds, progresses, found = runs(spark, manifest, options.what, options.checks == "apart", files)
        finally:
            spark.stop()
    batches = [batch(progress, one["n"]) for progress, one in zip(progresses, found, strict=True)]
    return of_batches(
        options.system,
        batches,
        seconds,
        found,
        note=f"to {options.sink}; whole triggers after the first micro-batch",
        what=options.what,
        durable=DURABLE[options.sink],
        details={
            "spark": pyspark.__version__,
            "store": STORES[options.store],
            "partitions": options.partitions,
            "conf": options.conf,
            "checks": options.checks,
            "durations_ms": [progress["durationMs"] for progress in progresses],
            "dropped_late": sum(of_all_joins(progress, "numRowsDroppedByWatermark") for progress in progresses),
        },
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=list(STORES), default="default")
    parser.add_argument("--what", choices=["join", "groups"], default="join")
    parser.add_argument("--sink", choices=["noop", "files"], default="noop")
    parser.add_argument("--partitions", type=int, default=2, help="shuffle partitions")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="further Spark settings")
    parser.add_argument(
        "--checks",
        choices=["apart", "same"],
        default="apart",
        help="check in a run before, or in the timed one",
    )
    run_program(measure, parser)
