"""An auction query that may be killed at any moment: `python crash_query.py FOLDER` begins, or goes on where it was.

It reads FOLDER/auctions and FOLDER/bids, a file per micro-batch, and writes results by Spark's file sink to
FOLDER/results, final groups to a Delta table in FOLDER/groups, and results and punctuations to folders of Parquet
files, FOLDER/written/…; the three checkpoints are FOLDER/checkpoint/results, …/groups and …/written. It ends when all
files are read.
"""

import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import punctuated as pt
from punctuated.spark.session import local as local_spark

AUCTIONS = "item_id BIGINT, seller_id STRING, open_price DOUBLE, opened_at TIMESTAMP"
BIDS = "item_id BIGINT, bidder_id STRING, bid_price DOUBLE, bid_at TIMESTAMP, closed BOOLEAN"
AGGREGATES = {"n": pt.count(), "highest": pt.max("bid_price"), "first": pt.first("bidder_id")}
BUCKETS = 4
MEMORY = 40  # tuples: the state of the groups' join is several times larger, and most of it in the state store
QUERIES = "results", "groups", "written"
SETTINGS = local_spark.SETTINGS | {
    "spark.driver.memory": "1g",
    "spark.sql.streaming.minBatchesToRetain": "1000",  # the log of batches tells what an undisturbed run would do
}


def auction_streams(auctions: Any, bids: Any) -> tuple[pt.Stream, pt.Stream]:
    """Both streams as they are declared, over tables or DataFrames."""
    return (
        pt.stream(auctions, name="A", key="item_id", time="opened_at", window="10 minutes", punctuations=pt.unique()),
        pt.stream(bids, name="B", key="item_id", time="bid_at", window="10 minutes", punctuations=pt.when("closed")),
    )


def join_files(spark: SparkSession, folder: Path, **options: Any) -> Any:
    """The join over the files of a folder."""
    reader = spark.readStream.option("maxFilesPerTrigger", 1).option("latestFirst", "false")
    auctions, bids = (
        reader.schema(schema).parquet(str(folder / name)) for name, schema in (("auctions", AUCTIONS), ("bids", BIDS))
    )
    return pt.join(*auction_streams(auctions, bids), buckets=BUCKETS, **options)


def start(frame: DataFrame, folder: Path, name: str) -> StreamingQuery:
    """A query into a file sink."""
    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint" / name))
    return writer.trigger(availableNow=True).start(str(folder / name))


def start_write_to(joined: Any, folder: Path) -> StreamingQuery:
    """A query into two folders of Parquet files: one of many small sorted files, one partitioned by a column."""
    query: StreamingQuery = joined.write_to(
        results=pt.parquet(folder / "written" / "results", sort_by="bid_at", file_size="8 KiB"),
        punctuations=pt.parquet(folder / "written" / "punctuations", partition_by="reason"),
        checkpoint=str(folder / "checkpoint" / "written"),
        trigger="availableNow",
    )
    return query


def start_groups(joined: Any, folder: Path) -> StreamingQuery:
    """A query into a Delta table."""
    groups = joined.group_by("item_id").agg(**AGGREGATES)
    checkpoint = folder / "checkpoint" / "groups"
    query: StreamingQuery = pt.write_to(
        groups, groups=pt.delta(folder / "groups"), checkpoint=checkpoint, trigger="availableNow"
    )
    return query


def main(folder: Path) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,4]").appName("crash-query")  # a task may fail three times
    for setting in (SETTINGS | {"spark.local.dir": str(folder / "local")}).items():
        builder = builder.config(*setting)
    spark = pt.configure(builder.getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    joined, larger = join_files(spark, folder), join_files(spark, folder, memory=MEMORY)
    queries = [
        start(joined.results, folder, "results"),
        start_groups(larger, folder),
        start_write_to(joined, folder),
    ]
    for query in queries:
        query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
