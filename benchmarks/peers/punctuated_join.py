"""Our own join on written inputs, measured as Spark's is: one file of each stream per trigger, the noop sink.

With another `--sink` what comes out is written: as Parquet files by the workers of the join (`files`) or by Spark's
file sink (`spark-files`), or to a Delta table (`delta`); it is then counted as readers see it.

`--what join` makes all results, `groups` the count and maximum per key instead, and `floor` runs the same pipeline with
an empty step: what any join in this place would cost. `--lane` lets the pack read the files. Started as a program by
`run.py`.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyspark
from benchmarks.peers.manifest import GROUPS_CHECKSUM, Manifest, checksum_of
from benchmarks.peers.outcome import Batch, Outcome, of_batches, run_program
from benchmarks.peers.spark_native import (
    DURABLE,
    Progress,
    check_files,
    in_files,
    observed,
    run_query,
    schema_of,
    session,
    timed,
)
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

import punctuated as pt
from punctuated.bind.sources import Source
from punctuated.model.counters import per_stream
from punctuated.spark.joins.joined import SparkJoin
from punctuated.spark.metrics.reading import buckets_in

SAID: dict[str, tuple[Source | None, ...]] = {  # the punctuations of the streams
    "w1": (pt.when("last"), pt.when("last")),
    "w2": (None, None),
    "w2-large": (None, None),
    "w3": (pt.unique(), pt.when("last")),
    "w4": (pt.when("last"),) * 3,
    "q8": (pt.unique(), None),
    "q9": (pt.unique(), None),
}


class EmptyStep(StatefulProcessor):
    """Takes what is packed and gives nothing."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare a state, as any step would."""
        self._state = handle.getValueState("n", "n BIGINT")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        """Count the blobs."""
        n = sum(len(frame) for frame in rows)
        self._state.update((n,))
        yield pd.DataFrame({"n": [n]})

    def close(self) -> None:
        """Nothing to close."""


def source(spark: SparkSession, folder: Path, schema: str, lane: bool) -> Any:
    """A stream of one file per trigger, as rows or as files."""
    if lane:
        return pt.files(spark, str(folder), schema=schema, max_files=1)
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def joined(spark: SparkSession, manifest: Manifest, memory: int | None = None, lane: bool = False) -> SparkJoin:
    """The workload's join, with the punctuations that its streams carry.

    Where all windows are equal, three streams are joined as by `within=` of that length.
    """
    streams = []
    for name, window, said in zip(manifest.names, manifest.windows_us, SAID[manifest.workload], strict=True):
        expires, flagged = "until" in manifest.columns_of(name), said is not None and said != pt.unique()
        schema = schema_of(manifest, name) + ", last BOOLEAN" * flagged
        read, kept = source(spark, manifest.path / name, schema, lane), pt.until("until") if expires else window
        streams.append(pt.stream(read, name=name, key="key", time="ts", window=kept, punctuations=said))
    wanted = [*columns(manifest, "ts"), *columns(manifest, "val")]
    result: SparkJoin = pt.join(*streams, select=wanted, memory=memory)
    return result


def columns(manifest: Manifest, name: str) -> list[str]:
    """What a column of the streams is called in the results."""
    if len(manifest.names) == 2:
        return [f"{name}_left", f"{name}_right"]
    return [f"{stream}_{name}" for stream in manifest.names]


def floor(join: SparkJoin) -> DataFrame:
    """The pipeline with an empty step."""
    packed = join.packed()
    return packed.groupBy("bucket").transformWithStateInPandas(EmptyStep(), "n BIGINT", "append", "None")


def buckets_of(progress: Progress) -> list[dict[str, Any]]:
    """The metrics of each bucket."""
    return buckets_in(progress).get("", [])


def batch(progress: Progress, manifest: Manifest, lane: bool) -> Batch:
    """What one micro-batch's progress says; where Spark lists files, an empty step leaves nobody who counts rows."""
    buckets, n_streams = buckets_of(progress), len(manifest.names)
    number, counted = progress["batchId"], pt.metrics.of(progress)
    listed = sum(manifest.batches[number]) if number < len(manifest.batches) else 0
    rows = listed if lane else progress["numInputRows"]
    return Batch(
        rows=rows if counted is None else counted.input_rows,
        seconds=progress["durationMs"]["triggerExecution"] / 1000,
        state_rows=sum(bucket[name] for bucket in buckets for name in per_stream("state", n_streams)),
        state_bytes=sum(bucket["bytes"] for bucket in buckets),
    )


def grouped(manifest: Manifest, join: SparkJoin) -> Any:
    """Number and largest last value by key."""
    return join.group_by("key").agg(n=pt.count(), highest=pt.max(columns(manifest, "val")[-1]))


def to_files(
    spark: SparkSession, manifest: Manifest, options: argparse.Namespace, found: list[dict[str, int]]
) -> tuple[float, list[Progress]]:
    """The query into files, which must hold what was found before."""
    join, are_groups = joined(spark, manifest, options.memory, options.lane), options.what == "groups"
    asked = grouped(manifest, join) if are_groups else join.results
    with tempfile.TemporaryDirectory(prefix="peers-files-") as folder:
        files = f"{folder}/results"
        if options.sink == "spark-files":
            measured = run_query(asked, files)
        else:
            sink = (pt.delta if options.sink == "delta" else pt.parquet)(files)
            sinks = {"groups" if are_groups else "results": sink}
            measured = timed(
                lambda checkpoint: pt.write_to(
                    asked if are_groups else join, **sinks, checkpoint=checkpoint, trigger="availableNow"
                )
            )
        if options.sink != "delta":  # which Spark reads with a package of its own
            check_files(in_files(spark, files, checksum(manifest, options.what)), found)
    return measured


def checksum(manifest: Manifest, what: str) -> str:
    """The term that is summed up to check what comes out."""
    return GROUPS_CHECKSUM if what == "groups" else checksum_of("key", columns(manifest, "val"))


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """The query over all inputs: once checked, which also warms the JVM up, then timed."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = pt.configure(session("rocksdb", options.partitions, dict(pair.split("=", 1) for pair in options.conf)))
    query = {"join": lambda join: join.results, "groups": lambda join: grouped(manifest, join), "floor": floor}
    what = "join" if options.what == "floor" else options.what
    try:
        checked = query[what](joined(spark, manifest, options.memory, options.lane))
        _, checks = run_query(observed(checked, checksum(manifest, what)))
        found = [progress["observedMetrics"]["results"] for progress in checks]
        if options.sink != "noop":
            seconds, progresses = to_files(spark, manifest, options, found)
        else:
            timed_query = query[options.what](joined(spark, manifest, options.memory, options.lane))
            seconds, progresses = run_query(timed_query)
    finally:
        spark.stop()
    batches = [batch(progress, manifest, options.lane) for progress in progresses]
    return of_batches(
        options.system,
        batches,
        seconds,
        found,
        note=f"{options.what} to {options.sink}; whole triggers after the first micro-batch",
        what=what,
        durable=DURABLE["noop" if options.sink == "noop" else "files"],
        details={
            "spark": pyspark.__version__,
            "partitions": options.partitions,
            "durations_ms": [progress["durationMs"] for progress in progresses],
            "metrics": [buckets_of(progress) for progress in progresses],
        },
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--what", choices=["join", "groups", "floor"], default="join")
    parser.add_argument("--lane", action="store_true", help="the pack reads the files, see pt.files")
    parser.add_argument("--sink", choices=["noop", "files", "spark-files", "delta"], default="noop")
    parser.add_argument("--memory", type=int, help="tuples that are kept in memory; the rest is in the state store")
    parser.add_argument("--partitions", type=int, default=2, help="shuffle partitions")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="further Spark settings")
    run_program(measure, parser)
