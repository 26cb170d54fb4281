"""The auction streams of `pt.streams.auctions` as a Spark source: streams `auctions` and `bids` of one data set.

Invariant: rows follow from the options alone, never from batches or restarts.

An offset is a point in event time, so both streams, read with the same options, move on together: each micro-batch
brings the next `step` of both. Without `auctions` the data set has no end: it has days with a fixed number of auctions,
all of which are over before the next day begins.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition

from punctuated.errors import StreamError
from punctuated.model.arguments import LARGEST
from punctuated.spark.session.versions import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from punctuated.spark.source.options import Readers, duration, moment, plain_name, positive, read_values, whole
from punctuated.streams.arrival import LARGEST_SIZE
from punctuated.streams.auction import auctions as make_auctions

STREAMS = ("auctions", "bids")
COLUMNS = {
    "auctions": "item_id BIGINT, seller_id STRING, open_price DOUBLE, opened_at TIMESTAMP_LTZ",
    "bids": "item_id BIGINT, bidder_id STRING, bid_price DOUBLE, bid_at TIMESTAMP_LTZ, closed BOOLEAN",
}
_TIMES = {"auctions": "opened_at", "bids": "bid_at"}
_AUCTIONS_A_DAY = 20_000  # open for 2,000 s in all, and the last one is over an hour later
_DAY_US = 7_200_000_000
_STEP_US = 60_000_000

Offset = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AuctionStream:
    """The parameters that determine the rows; without a number of auctions there is no end."""

    name: str
    auctions: int | None = None
    seed: int = 0
    start: int = 0

    def day_at(self, moment: int) -> int:
        """The day that contains a moment; a data set with an end is a single day."""
        return 0 if self.auctions is not None else max(0, (moment - self.start) // _DAY_US)

    @property
    def end(self) -> int | None:
        """The moment after the last row, if there is one."""
        return None if self.auctions is None else int(_times(self, 0)[-1]) + 1


@dataclass(frozen=True, slots=True)
class AuctionOptions:
    """Which stream to read, and how fast."""

    stream: AuctionStream
    step: int  # of event time, in a micro-batch
    speed: float | None  # seconds of event time per second; None: as fast as Spark takes them


def is_auction_stream(options: Mapping[str, str]) -> bool:
    """Whether these options ask for a stream of this data set."""
    return any(plain_name(name) == "stream" and value in STREAMS for name, value in options.items())


def read_auction_options(options: Mapping[str, str]) -> AuctionOptions:
    """The options of the format as values.

    >>> read_auction_options({"stream": "bids", "auctions": "100", "step": "5 minutes"}).step
    300000000
    """
    values = read_values(options, _READERS)
    name, step, speed = values.pop("stream"), values.pop("step", _STEP_US), values.pop("speed", None)
    if step <= 0:
        raise StreamError("option step: give a duration longer than zero, such as 1 minute")
    return AuctionOptions(AuctionStream(name, **values), step, speed)


class AuctionReader(DataSourceReader):
    """Reads a data set that has an end as a batch."""

    def __init__(self, options: AuctionOptions) -> None:
        if options.stream.auctions is None:
            raise StreamError("a batch has an end: give the option auctions, the number of auctions to generate")
        self._stream = options.stream

    def partitions(self) -> list[InputPartition]:
        """One partition with the whole data set."""
        return [InputPartition((0, self._stream.start, self._stream.end))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        yield from _rows(self._stream, *partition.value).to_batches()


class AuctionStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a stream in micro-batches."""

    def __init__(self, options: AuctionOptions) -> None:
        self._stream, self._step, self._speed = options.stream, options.step, options.speed
        self._paced_from: tuple[int, float] | None = None  # first moment of this run, and when it was asked for

    def initialOffset(self) -> Offset:  # noqa: N802  (Spark's name)
        """The offset before the first row."""
        return self._offset(self._stream.start)

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """No limit of Spark's: the option `step` limits a micro-batch."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on everything is available, whatever the speed."""
        if self._stream.auctions is None:
            raise StreamError("availableNow reads to the end, but this stream has no end: give the option auctions")
        self._speed = None

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        """The offset up to which the next micro-batch may read."""
        now = self._moment(start)
        bounds = [now + self._step if self._speed is None else self._due(now), self._stream.end]
        return self._offset(max(now, min(bound for bound in bounds if bound is not None)))

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """The days that overlap with the micro-batch."""
        first, stop = self._moment(start), self._moment(end)
        days = range(self._stream.day_at(first), self._stream.day_at(stop) + 1) if first < stop else ()
        return [InputPartition((day, first, stop)) for day in days]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        yield from _rows(self._stream, *partition.value).to_batches()

    def _due(self, now: int) -> int:
        """The moment that is due at this speed; each run counts from its first moment."""
        assert self._speed is not None
        self._paced_from = self._paced_from or (now, time.monotonic())
        first, since = self._paced_from
        return first + int((time.monotonic() - since) * self._speed * 1_000_000)

    def _offset(self, moment: int) -> Offset:
        return {"moment": moment, "stream": asdict(self._stream)}

    def _moment(self, offset: Offset) -> int:
        if offset["stream"] != asdict(self._stream):
            raise StreamError(
                f"the checkpoint belongs to another stream, {offset['stream']}, not {asdict(self._stream)}: restore "
                "that, or use a new checkpoint"
            )
        return int(offset["moment"])


def auction_table(stream: AuctionStream, day: int = 0) -> pa.Table:
    """The whole table of a stream for one day."""
    return _tables(stream.auctions, stream.seed, stream.start, day)[STREAMS.index(stream.name)]


def _rows(stream: AuctionStream, day: int, first: int, stop: int) -> pa.Table:
    """The rows of a day from one moment to another."""
    begin, end = np.searchsorted(_times(stream, day), [first, stop])
    return auction_table(stream, day).slice(begin, end - begin)


def _times(stream: AuctionStream, day: int) -> Any:
    return auction_table(stream, day)[_TIMES[stream.name]].cast(pa.int64()).to_numpy()


@lru_cache(maxsize=2)  # for both streams of a join, and the end of a day with the start of the next
def _tables(n: int | None, seed: int, start: int, day: int) -> tuple[pa.Table, ...]:
    if n is not None:
        return make_auctions(n, seed=seed, start=start)
    day_seed = int(np.random.SeedSequence([seed, day]).generate_state(1, np.uint64)[0])
    tables = make_auctions(_AUCTIONS_A_DAY, seed=day_seed, start=start + day * _DAY_US)
    return tuple(_numbered_from(table, day * _AUCTIONS_A_DAY) for table in tables)


def _numbered_from(table: pa.Table, first: int) -> pa.Table:
    return table.set_column(0, "item_id", pc.add(table["item_id"], pa.scalar(first, pa.int64())))


_READERS: Readers = {
    "stream": str,
    "auctions": whole(1, LARGEST_SIZE),
    "seed": whole(0, LARGEST),
    "start": moment,
    "step": duration,
    "speed": positive("seconds of event time per second"),
}
