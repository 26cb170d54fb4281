"""The auction query over Spark Connect: `python -m spark.connect_query REMOTE FOLDER`; no JVM in this process.

It reads FOLDER/auctions and FOLDER/bids, a file per micro-batch, and leaves what it has got in FOLDER/got: output as
Parquet files, metrics as JSON.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from queue import Queue
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import punctuated as pt
from patience import LONGEST_S
from spark import crash_query


def keep(folder: Path, name: str, table: pa.Table) -> None:
    """For those who compare."""
    pq.write_table(table, folder / "got" / f"{name}.parquet")


def run_streaming(spark: SparkSession, folder: Path) -> None:
    """Results and groups into file sinks, one by one; what a listener hears, and their progress says."""
    heard: list[pt.metrics.JoinMetrics] = []
    ended: Queue[str] = Queue()
    listener = pt.metrics.listen(spark, pt.metrics.Call(heard.append, ended.put))
    joined: Any = crash_query.join_files(spark, folder)
    frames = {"results": joined.results, "groups": joined.group_by("item_id").agg(**crash_query.AGGREGATES)}
    said: list[pt.metrics.JoinMetrics] = []
    for name, frame in frames.items():
        query = crash_query.start(frame, folder, name)
        query.awaitTermination()
        said += pt.metrics.history(query.recentProgress)
        assert ended.get(timeout=LONGEST_S) == query.id
        keep(folder, name, spark.read.parquet(str(folder / name)).toArrow())
    spark.streams.removeListener(listener)
    for name, metrics in (("said", said), ("heard", heard)):
        (folder / "got" / f"{name}.json").write_text(json.dumps([asdict(each) for each in metrics]))


def run_sinks(spark: SparkSession, folder: Path) -> None:
    """One query into several sinks, by a function that runs on the server."""
    parts = ("results", "punctuations", "rejected")
    sinks = {name: str(folder / "sinks" / name) for name in parts}
    joined: Any = crash_query.join_files(spark, folder)
    query = joined.write_to(**sinks, checkpoint=str(folder / "checkpoint" / "sinks"), trigger="availableNow")
    query.awaitTermination()
    for name, path in sinks.items():
        keep(folder, f"sinks_{name}", spark.read.parquet(path).drop("batch_id").toArrow())


def run_batch(spark: SparkSession, folder: Path) -> None:
    """The same rows as one batch; and rows of a generated stream."""
    frames = [
        spark.read.schema(schema).parquet(str(folder / name))
        for name, schema in (("auctions", crash_query.AUCTIONS), ("bids", crash_query.BIDS))
    ]
    joined: Any = pt.join(*crash_query.auction_streams(*frames), buckets=crash_query.BUCKETS)
    keep(folder, "batch_results", joined.results.toArrow())
    keep(folder, "batch_groups", joined.group_by("item_id").agg(**crash_query.AGGREGATES).toArrow())
    pt.register_source(spark)
    generated = spark.read.format("punctuated").options(stream="cluster-asc-20", rows=100, seed=7).load()
    keep(folder, "generated", generated.toArrow())


def run(spark: SparkSession, folder: Path) -> None:
    """Everything."""
    (folder / "got").mkdir()
    try:
        crash_query.join_files(spark, folder)
    except pt.SessionError as error:
        (folder / "got" / "refused").write_text(str(error))
    pt.configure(spark)
    run_streaming(spark, folder)
    run_sinks(spark, folder)
    run_batch(spark, folder)


if __name__ == "__main__":
    session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    try:
        run(session, Path(sys.argv[2]))
    finally:
        session.stop()  # a listener would keep this process alive
