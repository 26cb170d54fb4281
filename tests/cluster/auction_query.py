"""The auction query on a cluster: results and final groups, each by a query of its own into Parquet files.

Results are written by the workers of the join, groups by Spark's file sink.

FOLDER/auctions and FOLDER/bids are the inputs, a file per micro-batch; FOLDER/results and FOLDER/groups the outputs;
their checkpoints are FOLDER/checkpoint/results and …/groups. The last file of each input ends its stream.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import punctuated as pt
from punctuated.model.spec import LEFT, RIGHT
from punctuated.output.groups.grouping import Grouping
from punctuated.output.views import View
from punctuated.spark.session.local import write_files
from punctuated.spark.session.query import Query
from spark import crash_query
from spark.checkpoints import Batches, cut_by_time

BUCKETS = 4
NAMES = ("results", "groups")
INPUTS = {"auctions": (LEFT, crash_query.AUCTIONS), "bids": (RIGHT, crash_query.BIDS)}


def make_batches(n: int, seed: int) -> tuple[Batches, Batches]:
    """The first `n` batches, which leave auctions open and groups unfinished; and the rest, which ends both streams."""
    auctions, bids = (
        table.append_column("pattern", pa.nulls(len(table), pa.string()))
        for table in pt.streams.auctions(50 * n, seed=seed, rate=1.0)
    )
    batches = cut_by_time(auctions, bids, n + 2)
    return batches[:n], [*batches[n:], (_end(auctions, "opened_at"), _end(bids, "bid_at"))]


def _end(table: pa.Table, time: str) -> pa.Table:
    """A punctuation that ends the stream."""
    everything = ",".join("*" * (table.num_columns - 1))
    return pa.Table.from_pylist([{time: pc.max(table[time]).as_py(), "pattern": f"<{everything}>"}], table.schema)


def declare(auctions: Any, bids: Any) -> Any:
    """The join, over tables or DataFrames."""
    patterns = pt.rows_with("pattern")
    left = pt.stream(
        auctions, name="A", key="item_id", time="opened_at", window="10 minutes", punctuations=pt.unique() | patterns
    )
    right = pt.stream(
        bids, name="B", key="item_id", time="bid_at", window="10 minutes", punctuations=pt.when("closed") | patterns
    )
    return pt.join(left, right, buckets=BUCKETS)


def wanted(batches: Batches) -> dict[str, pa.Table]:
    """What the queries must have put out in the end: the same calls on tables."""
    joined = declare(*([batch[side] for batch in batches] for side in (LEFT, RIGHT)))
    return {"results": joined.results, "groups": joined.group_by("item_id").agg(**crash_query.AGGREGATES)}


def add_files(folder: Path, batches: Batches, first: int = 0) -> None:
    """Files for both inputs, the first of them with this number."""
    for name, (side, _) in INPUTS.items():
        write_files(folder / name, [batch[side] for batch in batches], first)


def on_files(spark: SparkSession, folder: Path) -> Any:
    """The join over the inputs."""
    reader = spark.readStream.option("maxFilesPerTrigger", 1).option("latestFirst", "false")
    frames = [
        reader.schema(f"{schema}, pattern STRING").parquet(str(folder / name)) for name, (_, schema) in INPUTS.items()
    ]
    return declare(*frames)


def start(spark: SparkSession, folder: Path) -> dict[str, StreamingQuery]:
    """Both queries; they end when all files are read."""
    joined = on_files(spark, folder)
    table, checkpoint = pt.parquet(folder / "results"), str(folder / "checkpoint" / "results")
    groups = joined.group_by("item_id").agg(**crash_query.AGGREGATES)
    return {
        "results": joined.write_to(results=table, checkpoint=checkpoint, trigger="availableNow"),
        "groups": crash_query.start(groups, folder, "groups"),
    }


def query_of(spark: SparkSession, folder: Path, name: str) -> Query:
    """What the steps of a query are told."""
    query: Query = on_files(spark, folder).query
    if name == "results":
        return query
    return query.seen_as(View.GROUPS, Grouping(("item_id",), crash_query.AGGREGATES))
