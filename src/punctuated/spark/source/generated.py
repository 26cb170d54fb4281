"""A Spark data source that generates punctuated streams: `spark.readStream.format("punctuated")`.

Invariant: row n of a stream follows from the stream's own options, never from batches, partitions or restarts.

A stream is made of sections, each one call of `generate`. A stream with `rows` is a single section, so it equals
`generate(stream, rows, …)`; it cannot be made of several, because most patterns draw all their keys at once. An endless
stream is a chain of sections. Each ends with a punctuation, and the next one goes on with the next key and time:

    rows      0 ... 65,424 | 65,425 ... 130,881 | 130,882 ...     punct-asc-100-40
    ends     <0> ... <653> | <654> ... <1308>   | <1309> ...

So a chain keeps its promises (PW-46) and ends every key. An offset holds its section: a restart costs one section.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from punctuated.errors import StreamError
from punctuated.model.arguments import LARGEST
from punctuated.spark.session.versions import (
    HAS_READ_LIMITS,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from punctuated.spark.source.auctions import (
    COLUMNS,
    AuctionReader,
    AuctionStreamReader,
    is_auction_stream,
    read_auction_options,
)
from punctuated.spark.source.options import Readers, duration, moment, positive, read_values, whole
from punctuated.streams.arrival import LARGEST_SIZE, SegmentedArrival, parse_arrival
from punctuated.streams.generator import generate

FORMAT = "punctuated"
ROWS_PER_BATCH = 100_000
PARTITIONS = 2
_SECTION = 65_536  # tuples drawn for a section of an endless stream
_SEGMENTS_PER_SECTION = 4  # drawn at least, however long they are
_MOST_PARTITIONS = 10_000
_COLUMNS = "key BIGINT, ts TIMESTAMP_LTZ, val BIGINT, last BOOLEAN"

Offset = dict[str, Any]


def register(spark: SparkSession) -> None:
    """Make `format("punctuated")` known to a session; the workers need this package too."""
    spark.dataSource.register(PunctuatedSource)


class PunctuatedSource(DataSource):
    """The format: options in, readers out.

    Every option is checked when the reader is built, which for Spark means in `load()`.
    """

    @classmethod
    def name(cls) -> str:
        """The name for `format(…)`."""
        return FORMAT

    def schema(self) -> str:
        """The columns of `generate`, or of a stream of auctions."""
        if is_auction_stream(self.options):
            return COLUMNS[read_auction_options(self.options).stream.name]
        has_rows = read_options(self.options).stream.punctuations in ("rows", "irrelevant")
        return _COLUMNS + ", pattern STRING" * has_rows

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader for `spark.read`."""
        if is_auction_stream(self.options):
            return AuctionReader(read_auction_options(self.options))
        return GeneratorReader(read_options(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  (Spark's name)
        """The reader for `spark.readStream`."""
        if not HAS_READ_LIMITS:
            raise StreamError(
                f"as a stream, format({FORMAT!r}) needs Spark 4.2 or newer, which tells a source how much a batch "
                "may take; read it as a batch, with spark.read and the option rows, or write files with "
                "`punctuated generate` and stream those"
            )
        if is_auction_stream(self.options):
            return AuctionStreamReader(read_auction_options(self.options))
        return GeneratorStreamReader(read_options(self.options))


@dataclass(frozen=True, slots=True)
class GeneratedStream:
    """The parameters of `generate`, which determine the rows, with its defaults; no `rows` means endless."""

    name: str
    rows: int | None = None
    seed: int = 0
    gap: int = 10_000
    start: int = 0
    ahead: int = 50
    punctuations: str = "flag"
    first_key: int = 0

    def __post_init__(self) -> None:
        generate(self.name, 0, self.seed, self.gap, self.start, self.ahead, self.punctuations, self.first_key)
        pattern = parse_arrival(self.name)
        if self.rows is None and isinstance(pattern, SegmentedArrival) and pattern.order == "desc":
            raise StreamError(
                f"an endless stream cannot count down to its smallest key, as {self.name!r} does: "
                "give the option rows, or the order asc or random"
            )


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Which stream to generate, how fast, and in how many tasks."""

    stream: GeneratedStream
    rate: float | None  # tuples per second; `None`: as fast as Spark takes them
    rows_per_batch: int | None  # `None`: as many as are due
    partitions: int


@dataclass(frozen=True, slots=True)
class Section:
    """`n` tuples from one call of `generate`; the first of them is row `first_row` of the stream."""

    index: int
    first_row: int
    n: int
    first_key: int
    start: int

    @property
    def stop_row(self) -> int:
        """The row after the last."""
        return self.first_row + self.n


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows from `first` to `stop`, without `stop`, all of them in one section."""

    section: Section
    first: int
    stop: int


class GeneratorReader(DataSourceReader):
    """Reads a bounded stream as a batch."""

    def __init__(self, options: SourceOptions) -> None:
        if options.stream.rows is None:
            raise StreamError("a batch has an end: give the option rows, the number of tuples to generate")
        self._stream, self._rows, self._partitions = options.stream, options.stream.rows, options.partitions

    def partitions(self) -> list[InputPartition]:
        """Contiguous parts of the stream, in their order."""
        return _cut(self._stream, first_section(self._stream), 0, self._rows, self._partitions)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        return _read(self._stream, partition)


class GeneratorStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a stream in micro-batches.

    An offset has the next row, the section that holds the row before it, and the stream that both belong to. Rows are
    counted as in the option `rows`: a row that is a punctuation belongs to the tuple in front of it.
    """

    def __init__(self, options: SourceOptions) -> None:
        self._stream, self._partitions = options.stream, options.partitions
        self._rate, self._rows_per_batch = options.rate, options.rows_per_batch
        self._paced_from: tuple[int, float] | None = None  # first row of this run, and when it was asked for

    def initialOffset(self) -> Offset:  # noqa: N802
        """The offset before the first row."""
        return self._offset(0, first_section(self._stream))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The limit of the option rowsPerBatch."""
        return ReadAllAvailable() if self._rows_per_batch is None else ReadMaxRows(self._rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on everything is available, whatever the rate."""
        if self._stream.rows is None:
            raise StreamError("availableNow reads to the end, but an endless stream has no end: give the option rows")
        self._rate = None

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802
        """The offset up to which the next micro-batch may read."""
        first, section = self._position(start)
        allowed = first + limit.max_rows if isinstance(limit, ReadMaxRows) else None
        bounds = (self._stream.rows, self._due(first), allowed)
        most = first + (self._rows_per_batch or ROWS_PER_BATCH)  # of what is endless and always there
        stop = min((bound for bound in bounds if bound is not None), default=most)
        return self._offset(stop, section_of(self._stream, section, stop - 1)) if stop > first else start

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """Contiguous parts of the micro-batch, in their order."""
        (first, section), (stop, _) = self._position(start), self._position(end)
        return _cut(self._stream, section, first, stop, self._partitions)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        return _read(self._stream, partition)

    def _due(self, row: int) -> int | None:
        """The row that is due at this rate, if there is a rate; each run counts from its first row and moment."""
        if self._rate is None:
            return None
        self._paced_from = self._paced_from or (row, time.monotonic())
        first, since = self._paced_from
        return first + int((time.monotonic() - since) * self._rate)

    def _offset(self, row: int, section: Section) -> Offset:
        return {"row": row, "piece": asdict(section), "stream": asdict(self._stream)}

    def _position(self, offset: Offset) -> tuple[int, Section]:
        """The row and the section of an offset, which must be one of this stream."""
        now, then = asdict(self._stream), offset["stream"]
        if changed := [name for name in now if then.get(name) != now[name]]:
            was = ", ".join(f"{name}={then.get(name)!r} (now {now[name]!r})" for name in changed)
            raise StreamError(
                f"the checkpoint belongs to another stream, with {was}: restore that, or use a new checkpoint"
            )
        return offset["row"], Section(**offset["piece"])  # "piece" is the name in checkpoints


def first_section(stream: GeneratedStream) -> Section:
    """The section that a stream begins with; the whole stream if it is bounded."""
    n = _outline(stream, 0).n if stream.rows is None else stream.rows
    return Section(0, 0, n, stream.first_key, stream.start)


def section_after(stream: GeneratedStream, section: Section) -> Section:
    """The next section of an endless stream: its first key is the first that has not ended so far."""
    done, index = _outline(stream, section.index), section.index + 1
    first_key, start = section.first_key + done.n_ended, section.start + done.duration
    return Section(index, section.stop_row, _outline(stream, index).n, first_key, start)


def section_of(stream: GeneratedStream, section: Section, row: int) -> Section:
    """The section that holds a row, found by walking on from a section that does not begin behind it."""
    while row >= section.stop_row:
        section = section_after(stream, section)
    return section


class Outline(NamedTuple):
    """What the chain must know of a section: how many tuples it has, how many keys it ends, and how long it lasts."""

    n: int
    n_ended: int
    duration: int


@lru_cache(maxsize=1024)
def _outline(stream: GeneratedStream, index: int) -> Outline:
    """A section of an endless stream ends with the last of the punctuations drawn for it, if there are any.

    That is sound because neither times nor punctuated rows depend on how much is drawn; only keys do.
    """
    drawn = generate(*_quick_draw(stream.name), _seed(stream, index), stream.gap)
    ends = np.flatnonzero(drawn["last"].to_numpy())
    n = int(ends[-1]) + 1 if len(ends) else drawn.num_rows
    return Outline(n, len(ends), drawn["ts"].cast(pa.int64())[n - 1].as_py())


def _quick_draw(name: str) -> tuple[str, int]:
    """A pattern and length to draw times and punctuated rows with: those of `punct` are those of a plain cluster."""
    pattern = parse_arrival(name)
    if not isinstance(pattern, SegmentedArrival):
        return name, _SECTION
    n = max(_SECTION, _SEGMENTS_PER_SECTION * pattern.size)
    return (name if pattern.match is None else f"cluster-asc-{pattern.size}"), n


def _seed(stream: GeneratedStream, index: int) -> int:
    """The seed of a section; the first has the seed of its stream."""
    if index == 0:
        return stream.seed
    return int(np.random.SeedSequence([stream.seed, index]).generate_state(1, np.uint64)[0])


@lru_cache(maxsize=4)  # the next micro-batch often goes on in the same section, of each stream of a join
def _table(stream: GeneratedStream, section: Section) -> pa.Table:
    """The rows of a section.

    Irrelevant punctuations lie below the smallest key of the whole stream and differ between sections.
    """
    first_key = section.first_key
    if stream.punctuations == "irrelevant":
        n_ended = section.first_key - stream.first_key
        first_key = min(stream.first_key, 0) - n_ended
    seed = _seed(stream, section.index)
    table = generate(
        stream.name, section.n, seed, stream.gap, section.start, stream.ahead, stream.punctuations, first_key
    )
    return _shifted(_shifted(table, "key", section.first_key - first_key), "val", section.first_row)


def _shifted(table: pa.Table, column: str, by: int) -> pa.Table:
    at = table.schema.get_field_index(column)
    return table.set_column(at, column, pc.add(table.column(at), pa.scalar(by, pa.int64())))


def _cut(stream: GeneratedStream, section: Section, first: int, stop: int, n_parts: int) -> list[InputPartition]:
    """The rows from `first` to `stop` in contiguous parts of equal size, none of them empty."""
    edges = [first + (stop - first) * part // n_parts for part in range(n_parts + 1)]
    return [InputPartition(tuple(_slices(stream, section, *part))) for part in pairwise(edges) if part[0] < part[1]]


def _slices(stream: GeneratedStream, section: Section, first: int, stop: int) -> Iterator[Slice]:
    """The rows from `first` to `stop`, section by section."""
    while first < stop:
        section = section_of(stream, section, first)
        end = min(stop, section.stop_row)
        yield Slice(section, first, end)
        first = end


def _read(stream: GeneratedStream, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    for part in partition.value:
        yield from _rows(_table(stream, part.section), part).to_batches(max_chunksize=_SECTION)


def _rows(table: pa.Table, part: Slice) -> pa.Table:
    """The tuples of a slice, with the punctuations behind them."""
    first, stop = part.first - part.section.first_row, part.stop - part.section.first_row
    if "pattern" in table.column_names:
        tuple_idx = np.flatnonzero(table["pattern"].is_null().to_numpy())
        first, stop = np.append(tuple_idx, table.num_rows)[[first, stop]]
    return table.slice(first, stop - first)


def read_options(options: Mapping[str, str]) -> SourceOptions:
    """The options of the format as values; case and underscores in their names do not matter.

    >>> read_options({"stream": "unique", "rows": "10", "rowsPerBatch": "4"}).rows_per_batch
    4
    """
    values = read_values(options, _READERS)
    if "stream" not in values:
        raise StreamError("give the option stream: the name of a stream such as punct-asc-100-40")
    rate, partitions = values.pop("rate", None), values.pop("partitions", PARTITIONS)
    rows_per_batch = values.pop("rowsPerBatch", ROWS_PER_BATCH if rate is None else None)
    stream = GeneratedStream(**{_FIELDS.get(name, name): value for name, value in values.items()})
    return SourceOptions(stream, rate, rows_per_batch, partitions)


_READERS: Readers = {
    "stream": str,
    "rows": whole(1, LARGEST_SIZE),
    "seed": whole(0, LARGEST),
    "gap": duration,
    "start": moment,
    "ahead": whole(1, LARGEST_SIZE),
    "punctuations": str,
    "firstKey": whole(-LARGEST, LARGEST),
    "rate": positive("tuples per second"),
    "rowsPerBatch": whole(1, LARGEST_SIZE),
    "partitions": whole(1, _MOST_PARTITIONS),
}
_FIELDS = {"stream": "name", "firstKey": "first_key"}  # options whose name differs from their field
