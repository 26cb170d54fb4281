"""After every auction has closed nothing is left but the memory of punctuations, as Spark's state reader sees it."""

from pathlib import Path

import pyarrow.compute as pc
from pyspark.sql import SparkSession

import punctuated as pt
from punctuated.model.spec import LEFT, RIGHT
from punctuated.spark.joins.joined import SparkJoin
from punctuated.spark.session.local import write_files
from spark.checkpoints import cut_by_time, stored
from spark.crash_query import AUCTIONS, BIDS

N = 3_000
SCHEMAS = {"auctions": AUCTIONS, "bids": BIDS}


def auction_join(spark: SparkSession, folder: Path) -> SparkJoin:
    auctions, bids = (
        spark.readStream.schema(SCHEMAS[name]).option("maxFilesPerTrigger", 1).parquet(str(folder / name))
        for name in SCHEMAS
    )
    joined: SparkJoin = pt.join(
        pt.stream(auctions, name="A", key="item_id", time="opened_at", window="12 hours", punctuations=pt.unique()),
        pt.stream(bids, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed")),
    )
    return joined


def test_the_state_is_empty_after_the_last_auction(spark: SparkSession, tmp_path: Path) -> None:
    auctions, bids = pt.streams.auctions(N, seed=5, rate=10.0)
    auctions = auctions.filter(pc.is_in(auctions["item_id"], bids["item_id"].unique()))  # one without bids never closes
    for side, name in ((LEFT, "auctions"), (RIGHT, "bids")):
        write_files(tmp_path / name, [batch[side] for batch in cut_by_time(auctions, bids, 4)])
    joined, checkpoint = auction_join(spark, tmp_path), tmp_path / "checkpoint"
    writer = joined.results.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    writer.trigger(availableNow=True).start().awaitTermination()
    steps = stored(spark, checkpoint, joined.query)
    for number in range(joined.query.join.n_buckets):
        driver = steps.restored(number).driver
        assert driver.state.sides["live"].tolist() == [0, 0]
        assert driver.state.sides["n_pending"].tolist() == [0, 0]
        assert driver.state.sides["n_deadlines"].tolist() == [0, 0]
        assert sum(int(total) for total in driver.state.sides["tuples"]) > 0  # it is the state of the run
        assert 0 < len(driver.punctuations.memory.runs) <= joined.spec.max_punctuations
