"""A state that is many times larger than the workers' memory: what does a trigger cost as the state grows?

Orders with wide rows wait for payments for a year. Most payments are for recent orders, one of a thousand is for any of
them. So each trigger touches about as much as the one before it, while the state grows. Prints a line for each trigger,
and at the end the costs of the first and the last ones, and the most memory that Python workers and the JVM used.

The state of 20 GB of decision 015 is `--gigabytes 20 --memory "1 GiB" --worker-memory 2g`, with two workers.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from statistics import mean
from typing import Any

from benchmarks.peers.punctuated_join import buckets_of
from benchmarks.peers.spark_native import session
from benchmarks.worker_memory import peak_mb
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (its name everywhere)
from rich.console import Console
from rich.table import Table

import punctuated as pt

WIDTH = 1024  # bytes of a payload; a quarter of them cannot be compressed away
RECENT = 50_000  # orders that most payments are for
ANY = 1_000  # one of so many payments is for any order
ALLOCATION = {  # what RocksDB frees goes back to the system; by default glibc keeps most of it
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "131072",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}
STAGES = ("restore", "join", "save")
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "true",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": "500",
}


def numbers(spark: SparkSession, rows: int) -> DataFrame:
    """So many numbers in each trigger, and a millisecond for each."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows).option("numPartitions", 2)
    return source.load().select("value", F.timestamp_millis("value").alias("at"))


def orders(spark: SparkSession, rows: int) -> DataFrame:
    """Each number is an order with a wide row."""
    parts = [F.sha2(F.concat(F.col("value").cast("string"), F.lit(f"/{part}")), 512) for part in range(WIDTH // 256)]
    payload = F.repeat(F.concat(*parts), 2)
    return numbers(spark, rows).select(F.col("value").alias("order"), "at", payload.alias("payload"))


def payments(spark: SparkSession, rows: int) -> DataFrame:
    """A payment for each number, mostly of a recent order."""
    chance = F.pmod(F.xxhash64("value"), F.lit(1 << 40))
    recent = F.greatest(F.lit(0), F.col("value") - chance % RECENT)
    order = F.when(F.col("value") % ANY == 0, chance % F.greatest(F.lit(1), F.col("value"))).otherwise(recent)
    return numbers(spark, rows).select(order.alias("order"), F.col("at").alias("paid"), F.col("value").alias("payment"))


def start(spark: SparkSession, options: argparse.Namespace, folder: str) -> Any:
    """The join of both, its results to nowhere."""
    rows = options.rows // 2
    left = pt.stream(orders(spark, rows), name="orders", key="order", time="at", window="365 days")
    right = pt.stream(payments(spark, rows), name="payments", key="order", time="paid", window=0)
    results = pt.join(left, right, memory=options.memory, buckets=options.buckets).results
    return results.writeStream.format("noop").option("checkpointLocation", folder).start()


def measure(options: argparse.Namespace, console: Console) -> list[dict[str, float]]:
    """A record for each trigger, until the state is as large as asked for."""
    os.environ |= ALLOCATION | {"PYSPARK_PYTHON": sys.executable}
    limit = {"spark.executor.pyspark.memory": options.worker_memory} if options.worker_memory else {}
    spark = pt.configure(session("rocksdb", 2, SETTINGS | limit))
    triggers: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        query = start(spark, options, folder)
        try:
            while query.isActive and not (triggers and triggers[-1]["gigabytes"] >= options.gigabytes):
                time.sleep(0.2)
                for progress in query.recentProgress[len(triggers) :]:
                    triggers.append(record(json.loads(progress.json)))
                    told = {**triggers[-1], **peak_mb()}
                    console.print(" ".join(f"{name} {value:,.3g}" for name, value in told.items()), soft_wrap=True)
            if query.exception() is not None:
                raise query.exception()
        finally:
            query.stop()
            spark.stop()
    return triggers


def record(progress: dict[str, Any]) -> dict[str, float]:
    """What one trigger took, and how large the state is after it."""
    buckets = buckets_of(progress)
    tuples = sum(bucket["state_left"] + bucket["state_right"] for bucket in buckets)
    stages = {name: sum(bucket.get(f"{name}_us", 0) for bucket in buckets) / 1e6 for name in STAGES}
    return {
        "seconds": progress["durationMs"]["triggerExecution"] / 1000,
        **stages,
        "tuples": tuples,
        "gigabytes": tuples * (WIDTH + 24) / 1e9,
        "written_mb": sum(bucket["bytes_written"] for bucket in buckets) / 1e6,
    }


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=0.5, help="of the state at the end, as rows in memory")
    parser.add_argument("--memory", default="64 MiB", help="that the join may use")
    parser.add_argument("--worker-memory", help="hard limit of each of the two Python workers, such as 2g")
    parser.add_argument("--rows", type=int, default=100_000, help="of both streams in a trigger")
    parser.add_argument("--buckets", type=int)
    parser.add_argument("--folder", help="where the checkpoint goes; default: the system's temporary folder")
    options = parser.parse_args()
    console = Console()
    triggers = measure(options, console)[1:]
    quarter = max(1, len(triggers) // 4)
    shown = Table("triggers", "state, GB", "seconds each", "of them in steps")
    for name, part in (("first quarter", triggers[:quarter]), ("last quarter", triggers[-quarter:])):
        steps = mean(sum(each[stage] for stage in STAGES) for each in part) / 2  # two at a time
        size, seconds = mean(each["gigabytes"] for each in part), mean(each["seconds"] for each in part)
        shown.add_row(name, f"{size:.2f}", f"{seconds:.2f}", f"{steps:.2f}")
    console.print(shown)


if __name__ == "__main__":
    main()
