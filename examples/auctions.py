"""Auctions and bids: how many bids does each auction get within ten minutes? The query of the PWJoin paper.

python examples/auctions.py            on tables, in this process
python examples/auctions.py --spark    on a local Spark, from files to files; it prints the same

Two things are known of the streams. Every auction opens once, so a bid is joined with its auction and never stored. The
last bid of an auction is marked, so the auction is forgotten then, and its count comes out. An auction that is open for
longer is forgotten when its ten minutes are over, and later bids for it are dropped unread.
"""

import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import punctuated as pt
from local_spark import print_answer, session, write_files

OPENED, OFFERED = pt.streams.auctions(1000, seed=7, rate=1)  # one opens each second
SHOWN = 5


def query(auctions: Any, bids: Any) -> Any:
    """Each auction with its bids; tables give tables, files and DataFrames a streaming query."""
    once = pt.unique()  # every auction opens once
    opened = pt.stream(auctions, name="A", key="item_id", time="opened_at", window="10 minutes", punctuations=once)
    offered = pt.stream(bids, name="B", key="item_id", time="bid_at", punctuations=pt.when("closed"))  # the last bid
    return pt.join(opened, offered)


def count(joined: Any) -> Any:
    """A row per auction, when it is final."""
    return joined.group_by("item_id").agg(bids=pt.count(), best=pt.max("bid_price"))


def on_tables() -> list[str]:
    """The answer, in this process."""
    joined = query(OPENED, OFFERED)
    return answer(count(joined), joined.metrics.to_pylist()[-1])


def on_spark(folder: Path) -> list[str]:
    """The answer by way of Spark: both streams as files, one for each quarter of an hour, the counts as files again."""
    quarter = timedelta(minutes=15)
    with session() as spark:
        auctions, bids = (
            pt.files(spark, write_files(folder / name, table, time, every=quarter), max_files=1)
            for name, table, time in (("auctions", OPENED, "opened_at"), ("bids", OFFERED, "bid_at"))
        )
        counts = count(query(auctions, bids))
        tables = {"groups": str(folder / "counts"), "checkpoint": str(folder / "checkpoint")}
        running = pt.write_to(counts, **tables, trigger="availableNow", finish=True)
        running.awaitTermination()
        *_, last = pt.metrics.history(running.recentProgress)
    return answer(pq.read_table(folder / "counts"), last.total)


def answer(counts: pa.Table, counters: Mapping[str, Any]) -> list[str]:
    """What was asked for, line by line."""
    most = counts.sort_by([("bids", "descending"), ("item_id", "ascending")]).slice(0, SHOWN)
    return [
        f"{OPENED.num_rows:,} auctions, {OFFERED.num_rows:,} bids; {counts.num_rows:,} auctions got a bid. The most:",
        "",
        "  auction   bids    highest",
        *(f"  {row['item_id']:>7}  {row['bids']:>5}  {row['best']:>9.2f}" for row in most.to_pylist()),
        "",
        f"{counters['discarded']:,} bids were joined and never stored, {counters['dropped']:,} were dropped unread.",
        f"{counters['purged']:,} auctions were forgotten after their last bid,"
        f" {counters['invalidated']:,} after their ten minutes.",
    ]


def main(arguments: Sequence[str] = ()) -> None:
    """Print the answer."""
    print_answer(arguments, on_tables, on_spark)


if __name__ == "__main__":
    main(sys.argv[1:])
