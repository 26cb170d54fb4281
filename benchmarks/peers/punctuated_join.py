"""Our own join on written inputs, measured as Spark's is: one file of each stream per trigger, the noop sink.

With another `--sink` the results are written: as Parquet files by the workers of the join (`files`) or by Spark's file
sink (`spark-files`), or to a Delta table (`delta`); they are then counted as readers see them.

`--what join` makes all results, `groups` the count and maximum per key instead, and `floor` runs the same pipeline with
an empty step: what any join in this place would cost. `--lane` lets the pack read the files. Started as a program by
`run.py`.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyspark
from benchmarks.peers.manifest import Manifest
from benchmarks.peers.outcome import Batch, Outcome, run_program, steady_rate
from benchmarks.peers.spark_native import Progress, check_files, in_files, observed, run_query, session, timed
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

import punctuated as pt
from punctuated.bind.sources import Source
from punctuated.model.counters import per_stream
from punctuated.spark.joined import SparkJoin

SCHEMA = "key BIGINT, ts TIMESTAMP, val BIGINT"
SAID: dict[str, tuple[Source | None, ...]] = {  # the punctuations of the streams
    "w1": (pt.when("last"), pt.when("last")),
    "w2": (None, None),
    "w2-large": (None, None),
    "w3": (pt.unique(), pt.when("last")),
    "w4": (pt.when("last"),) * 3,
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


def source(spark: SparkSession, folder: Path, flagged: bool, lane: bool) -> Any:
    """A stream of one file per trigger, as rows or as files."""
    schema = f"{SCHEMA}, last BOOLEAN" if flagged else SCHEMA
    if lane:
        return pt.files(spark, str(folder), schema=schema, max_files=1)
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def joined(spark: SparkSession, manifest: Manifest, memory: int | None = None, lane: bool = False) -> SparkJoin:
    """The workload's join, with the punctuations that its streams carry.

    Where all windows are equal, three streams are joined as by `within=` of that length.
    """
    streams = []
    for name, window, said in zip(manifest.names, manifest.windows_us, SAID[manifest.workload], strict=True):
        read = source(spark, manifest.path / name, said is not None and said != pt.unique(), lane)
        streams.append(pt.stream(read, name=name, key="key", time="ts", window=window, punctuations=said))
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


def buckets_of(progress: Progress) -> list[dict[str, int]]:
    """The metrics of each bucket."""
    observed = progress.get("observedMetrics", {}).get("punctuated", {})
    return [json.loads(text) for text in observed.get("buckets", [])]


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


def to_files(
    spark: SparkSession, manifest: Manifest, options: argparse.Namespace, found: list[dict[str, int]]
) -> tuple[float, list[Progress]]:
    """The query into files, which must hold what was found before."""
    join, values = joined(spark, manifest, options.memory, options.lane), columns(manifest, "val")
    with tempfile.TemporaryDirectory(prefix="peers-files-") as folder:
        files = f"{folder}/results"
        if options.sink == "spark-files":
            measured = run_query(join.results, files)
        else:
            sink = (pt.delta if options.sink == "delta" else pt.parquet)(files)
            measured = timed(
                lambda checkpoint: join.write_to(results=sink, checkpoint=checkpoint, trigger="availableNow")
            )
        if options.sink != "delta":  # which Spark reads with a package of its own
            check_files(in_files(spark, files, values), found)
    return measured


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """The query over all inputs: once checked, which also warms the JVM up, then timed."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = pt.configure(session("rocksdb", options.partitions, dict(pair.split("=", 1) for pair in options.conf)))
    try:
        values = columns(manifest, "val")
        _, checked = run_query(observed(joined(spark, manifest, options.memory, options.lane).results, values))
        found = [progress["observedMetrics"]["results"] for progress in checked]
        if options.sink != "noop":
            seconds, progresses = to_files(spark, manifest, options, found)
        else:
            query = {
                "join": lambda join: join.results,
                "groups": lambda join: join.group_by("key").agg(n=pt.count(), highest=pt.max(values[-1])),
                "floor": floor,
            }[options.what](joined(spark, manifest, options.memory, options.lane))
            seconds, progresses = run_query(query)
    finally:
        spark.stop()
    batches = [batch(progress, manifest, options.lane) for progress in progresses]
    return Outcome(
        options.system,
        note=f"{options.what} to {options.sink}; whole triggers after the first micro-batch",
        rows=sum(batch.rows for batch in batches),
        seconds=seconds,
        rows_per_s=steady_rate(batches),
        results=sum(one["n"] for one in found),
        checksum=sum(one["checksum"] or 0 for one in found),
        batches=batches,
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
