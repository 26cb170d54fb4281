"""The auction streams as a Spark source: rows follow from the options alone, and both streams move on together."""

from itertools import pairwise

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import StructType

import punctuated as pt
from punctuated.errors import StreamError
from punctuated.spark.source.auctions import AuctionReader, AuctionStreamReader, read_auction_options
from punctuated.spark.source.generated import PunctuatedSource

SCHEMAS = {name: table.schema for name, table in zip(("auctions", "bids"), pt.streams.auctions(1), strict=True)}


def reader(**options: str) -> AuctionStreamReader:
    return AuctionStreamReader(read_auction_options(options))


def batches(source: AuctionStreamReader, most: int = 1_000) -> list[pa.Table]:
    """What consecutive micro-batches read, up to the end."""
    offset, found = source.initialOffset(), []
    for _ in range(most):
        following = source.latestOffset(offset, ReadAllAvailable())
        if following == offset:
            break
        parts = [batch for part in source.partitions(offset, following) for batch in source.read(part)]
        found.append(pa.Table.from_batches(parts, SCHEMAS[offset["stream"]["name"]]))
        offset = following
    return found


@pytest.mark.parametrize("step", ["20 seconds", "1 hour"])
def test_rows_do_not_depend_on_the_steps(step: str) -> None:
    opened, bids = pt.streams.auctions(100, seed=4)
    for name, whole in (("auctions", opened), ("bids", bids)):
        read = pa.concat_tables(batches(reader(stream=name, auctions="100", seed="4", step=step)))
        assert read == whole


def test_a_batch_is_the_whole_stream() -> None:
    source = AuctionReader(read_auction_options({"stream": "bids", "auctions": "50"}))
    (part,) = source.partitions()
    assert pa.Table.from_batches(source.read(part)) == pt.streams.auctions(50)[1]


def test_both_streams_move_on_together() -> None:
    times = {"auctions": "opened_at", "bids": "bid_at"}
    parts = {name: batches(reader(stream=name, auctions="100", step="5 seconds")) for name in times}
    for opened, bids in zip(parts["auctions"], parts["bids"], strict=False):
        seen = [
            table[times[name]].cast(pa.int64()).to_pylist() for name, table in zip(times, (opened, bids), strict=True)
        ]
        assert all(max(each) - min(other) < 5_000_000 for each in seen for other in seen if each and other)


def test_without_a_number_of_auctions_days_follow_each_other() -> None:
    opened, bids = (batches(reader(stream=name, step="1 hour"), most=4) for name in ("auctions", "bids"))
    assert [table.num_rows for table in opened] == [20_000, 0, 20_000, 0]
    assert pa.concat_tables(opened)["item_id"].to_pylist() == list(range(40_000))
    for first, second in pairwise(bids[::2]):
        assert set(first["item_id"].to_pylist()).isdisjoint(second["item_id"].to_pylist())
    assert sum(table.num_rows for table in bids) == 2 * 9 * 20_000


def test_a_speed_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("punctuated.spark.source.auctions.time.monotonic", lambda: now)
    source = reader(stream="bids", speed="60")
    start = source.latestOffset(source.initialOffset(), ReadAllAvailable())
    now += 2
    assert source.latestOffset(start, ReadAllAvailable())["moment"] == 120_000_000


def test_what_cannot_be() -> None:
    with pytest.raises(StreamError, match="unknown option rows"):
        reader(stream="bids", rows="5")
    with pytest.raises(StreamError, match="longer than zero"):
        reader(stream="bids", step="0")
    with pytest.raises(StreamError, match="this stream has no end"):
        reader(stream="bids").prepareForTriggerAvailableNow()
    with pytest.raises(StreamError, match="a batch has an end"):
        AuctionReader(read_auction_options({"stream": "bids"}))
    other = reader(stream="bids", seed="2").initialOffset()
    with pytest.raises(StreamError, match="another stream"):
        reader(stream="bids", seed="3").latestOffset(other, ReadAllAvailable())


def test_the_format_has_both_kinds_of_streams() -> None:
    source = PunctuatedSource({"stream": "bids", "auctions": "5"})
    assert "bid_at TIMESTAMP_LTZ" in source.schema()
    assert isinstance(source.streamReader(StructType()), AuctionStreamReader)
    assert isinstance(source.reader(StructType()), AuctionReader)
    assert source.schema() != PunctuatedSource({"stream": "unique"}).schema()
