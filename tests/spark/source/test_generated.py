"""The data source `punctuated` gives the rows of `generate`, however they are cut into batches and partitions."""

import inspect
import json
import pickle
import time
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from punctuated.errors import PunctuatedError, StreamError
from punctuated.model.window import parse_duration
from punctuated.spark.session.versions import ReadAllAvailable, ReadMaxRows
from punctuated.spark.source.generated import (
    ROWS_PER_BATCH,
    GeneratedStream,
    GeneratorReader,
    GeneratorStreamReader,
    Offset,
    PunctuatedSource,
    read_options,
    register,
)
from punctuated.streams import generate

NAMES = ["unique-asc", "cluster-asc-5", "punct-asc-10-40", "punct-random-10-40", "uniform-99"]
KINDS = ["flag", "rows", "none", "irrelevant"]
PIECES = 150_000  # tuples: more than two pieces of an endless stream


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """A session that knows the source."""
    register(spark)
    return spark


class Batches:
    """A sink that keeps each micro-batch as a table; a batch that is repeated must be the same again."""

    def __init__(self) -> None:
        self.tables: dict[int, pa.Table] = {}

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        table = batch.toArrow()
        assert table.equals(self.tables.setdefault(batch_id, table))

    def all(self) -> pa.Table:
        assert list(self.tables) == list(range(len(self.tables)))
        return pa.concat_tables(self.tables.values())


# In Spark


@pytest.mark.parametrize("kind", ["flag", "rows"])
def test_a_batch_is_what_generate_gives(session: SparkSession, kind: str) -> None:
    options: dict[str, Any] = {"seed": 3, "gap": "2 s", "ahead": 7, "punctuations": kind, "first_key": -5}
    frame = (
        session.read.format("punctuated")
        .options(stream="punct-random-10-40", rows=5000, start="1970-01-03T01:00:00", partitions=3, **options)
        .load()
    )
    assert frame.rdd.getNumPartitions() == 3
    table = frame.toArrow()
    expected = generate("punct-random-10-40", 5000, start=parse_duration("2 days 1 hour"), **options)
    assert table.schema == expected.schema
    assert table.equals(expected)


def test_available_now_reads_all_rows_in_micro_batches(session: SparkSession, tmp_path: Path) -> None:
    batches = Batches()
    stream = (
        session.readStream.format("punctuated")
        .options(stream="punct-asc-10-40", rows=2500, punctuations="rows", rowsPerBatch=1000, rate=1)
        .load()
    )
    writer = stream.writeStream.foreachBatch(batches).option("checkpointLocation", str(tmp_path))
    writer.trigger(availableNow=True).start().awaitTermination()
    assert [pc.count(table["key"]).as_py() for table in batches.tables.values()] == [1000, 1000, 500]
    assert batches.all().equals(generate("punct-asc-10-40", 2500, punctuations="rows"))


def test_an_endless_stream_goes_on_where_it_stopped(session: SparkSession, tmp_path: Path) -> None:
    batches = Batches()
    for n_batches in (2, 4):
        stream = session.readStream.format("punctuated").options(stream="punct-asc-10-40", rowsPerBatch=50_000).load()
        query = stream.writeStream.foreachBatch(batches).option("checkpointLocation", str(tmp_path)).start()
        while query.isActive and len(batches.tables) < n_batches:
            time.sleep(0.02)
        query.stop()
        assert query.exception() is None
    assert len(batches.tables) >= 4
    table = batches.all()
    assert table.num_rows == 50_000 * len(batches.tables)
    assert table.equals(first_rows(table.num_rows, stream="punct-asc-10-40"))


def test_bad_options_fail_when_the_stream_is_loaded(session: SparkSession) -> None:
    with pytest.raises(PySparkException, match="StreamError: unknown option sed; known: stream, rows, seed"):
        session.readStream.format("punctuated").options(stream="unique", sed=1).load()


# Without Spark: the readers do what Spark will ask for


def stream_reader(**options: object) -> GeneratorStreamReader:
    texts = {name: str(value) for name, value in options.items()}
    reader = PunctuatedSource(texts).streamReader(StructType())
    assert isinstance(reader, GeneratorStreamReader)
    return reader


def rows_between(reader: GeneratorStreamReader, start: Offset, end: Offset) -> pa.Table:
    partitions = pickle.loads(pickle.dumps(reader.partitions(start, end)))
    return pa.Table.from_batches([batch for partition in partitions for batch in reader.read(partition)])


def first_rows(n: int, per_batch: int = ROWS_PER_BATCH, **options: object) -> pa.Table:
    """The first `n` tuples, in micro-batches of that size, each planned by a reader of its own."""
    offsets = [stream_reader(**options).initialOffset()]
    while (row := offsets[-1]["row"]) < n:
        end = stream_reader(**options).latestOffset(offsets[-1], ReadMaxRows(min(per_batch, n - row)))
        offsets.append(json.loads(json.dumps(end)))
    return pa.concat_tables([rows_between(stream_reader(**options), *ends) for ends in pairwise(offsets)])


def ints(table: pa.Table, column: str) -> NDArray[np.int64]:
    values: NDArray[np.int64] = table[column].cast(pa.int64()).to_numpy()
    return values


def test_the_options_are_the_parameters_of_generate() -> None:
    parameters = inspect.signature(generate).parameters.values()
    theirs = {"rows" if p.name == "n" else p.name: p.default for p in parameters}
    ours = {field.name: field.default for field in fields(GeneratedStream)}
    assert list(ours) == list(theirs)
    for name in ("seed", "start", "ahead", "punctuations", "first_key"):
        assert ours[name] == theirs[name]
    assert ours["gap"] == parse_duration(theirs["gap"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*NAMES, "punct-desc-10-40"])
@pytest.mark.parametrize("first_key", [-5, 5])
def test_a_bounded_stream_is_what_generate_gives(name: str, kind: str, first_key: int) -> None:
    options = {"seed": 9, "punctuations": kind, "first_key": first_key}
    table = first_rows(1000, per_batch=137, stream=name, rows=1000, partitions=3, **options)
    expected = generate(name, 1000, seed=9, punctuations=kind, first_key=first_key)
    assert table.schema == expected.schema
    assert table.equals(expected)


@pytest.mark.parametrize("name", NAMES)
def test_endless_rows_do_not_depend_on_batches_and_partitions(name: str) -> None:
    options = {"stream": name, "seed": 2, "punctuations": "rows"}
    at_once = first_rows(PIECES, per_batch=PIECES, partitions=1, **options)
    assert first_rows(PIECES, per_batch=33_333, partitions=5, **options).equals(at_once)


@pytest.mark.parametrize("name", NAMES)
def test_endless_streams_keep_their_promises_and_end_every_key(name: str) -> None:
    table = first_rows(PIECES, stream=name, first_key=5)
    keys, last = ints(table, "key"), table["last"].to_numpy()
    assert ints(table, "val").tolist() == list(range(PIECES))
    assert np.all(np.diff(ints(table, "ts")) >= 0)
    ended_at = np.full(keys.max() + 1, PIECES)
    ended_at[keys[last]] = np.flatnonzero(last)
    assert np.all(np.arange(PIECES) <= ended_at[keys])
    ended = np.sort(keys[last])
    if name.startswith("uniform"):
        assert len(ended) == 0
    elif name.endswith("random-10-40"):  # the last piece is open: it ends its keys in any order
        first_open = ended[np.flatnonzero(np.diff(ended) > 1)[0]]
        assert first_open > 12_000
    else:
        assert np.array_equal(ended, np.arange(5, 5 + len(ended)))


@pytest.mark.parametrize("name", NAMES)
def test_pieces_may_be_cut_at_a_punctuation(name: str) -> None:
    """What a chain of pieces rests on: times and punctuated rows do not depend on `n`; the keys of `punct` do."""
    long, short = generate(name, 5000, seed=4), generate(name, 1234, seed=4)
    for column in ("ts", "val", "last"):
        assert short[column].equals(long[column].slice(0, 1234))
    assert short["key"].equals(long["key"].slice(0, 1234)) == (not name.startswith("punct"))


def test_clusters_show_where_segments_end() -> None:
    cluster, punct = generate("cluster-asc-10", 5000, seed=4), generate("punct-random-10-40", 5000, seed=4)
    assert cluster.select(["ts", "last"]).equals(punct.select(["ts", "last"]))


def test_pieces_join_without_a_seam() -> None:
    table = first_rows(PIECES, stream="punct-asc-100-40", gap="1 s")
    ends = np.flatnonzero(table["last"].to_numpy())
    assert np.diff(ends).max() < 160  # segments of 100 tuples, with a standard deviation of 10
    assert np.diff(ends).min() > 50
    lead = ints(table, "key")[: ends[-1]] - np.searchsorted(ends, np.arange(ends[-1]))
    assert lead.min() == 0 and lead.max() == 50
    gaps = np.diff(ints(table, "ts"))
    assert gaps.mean() == pytest.approx(1_000_000, rel=0.02)
    assert gaps.max() < 20_000_000


def test_pieces_differ() -> None:
    keys = ints(first_rows(PIECES, stream="uniform-99"), "key")
    second = keys[65_536:131_072]
    assert (keys[:65_536] == second).mean() == pytest.approx(1 / 99, abs=0.005)


def test_irrelevant_punctuations_never_repeat_nor_hit_a_key() -> None:
    table = first_rows(PIECES, stream="cluster-asc-5", punctuations="irrelevant", first_key=-3)
    named = [int(text.removeprefix("<").split(",")[0]) for text in table["pattern"].drop_null().to_pylist()]
    assert named == list(range(-4, -4 - len(named), -1))
    assert len(named) > 20_000
    assert pc.min(table["key"]).as_py() == -3


def test_very_long_segments() -> None:
    table = first_rows(450_000, stream="cluster-asc-100000")
    assert ints(table, "key").max() == 4
    assert table["last"].to_numpy().sum() == 4


def test_limits() -> None:
    endless, bounded = stream_reader(stream="unique"), stream_reader(stream="unique", rows=250_000, rowsPerBatch=7)
    assert endless.getDefaultReadLimit() == ReadMaxRows(ROWS_PER_BATCH)
    assert bounded.getDefaultReadLimit() == ReadMaxRows(7)
    assert stream_reader(stream="unique", rate=5).getDefaultReadLimit() == ReadAllAvailable()
    assert endless.latestOffset(endless.initialOffset(), ReadAllAvailable())["row"] == ROWS_PER_BATCH
    small = stream_reader(stream="unique", rowsPerBatch=7)
    assert small.latestOffset(small.initialOffset(), ReadAllAvailable())["row"] == 7
    end = bounded.latestOffset(bounded.initialOffset(), ReadAllAvailable())
    assert end["row"] == 250_000
    assert bounded.latestOffset(end, ReadMaxRows(7)) == end
    assert bounded.partitions(end, end) == []


def test_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("punctuated.spark.source.generated.time.monotonic", lambda: now)
    reader = stream_reader(stream="unique", rate=2.5, rows=30)
    offset = reader.initialOffset()
    rows = []
    for seconds in (0, 1, 1, 4, 40):
        now += seconds
        offset = reader.latestOffset(offset, reader.getDefaultReadLimit())
        rows.append(offset["row"])
    assert rows == [0, 2, 5, 15, 30]
    after_restart = stream_reader(stream="unique", rate=2.5, rows=30)
    half = reader.initialOffset() | {"row": 15}
    assert after_restart.latestOffset(half, ReadAllAvailable()) == half
    after_restart.prepareForTriggerAvailableNow()
    assert after_restart.latestOffset(half, ReadAllAvailable())["row"] == 30


def test_a_checkpoint_of_another_stream_is_refused() -> None:
    start = stream_reader(stream="unique", rows=10).initialOffset()
    with pytest.raises(StreamError, match=r"belongs to another stream, with rows=10 \(now 20\), seed=0 \(now 1\)"):
        stream_reader(stream="unique", rows=20, seed=1).latestOffset(start, ReadAllAvailable())


def test_few_rows_in_many_partitions() -> None:
    reader = PunctuatedSource({"stream": "unique", "rows": "2", "partitions": "5"}).reader(StructType())
    assert isinstance(reader, GeneratorReader)
    batches = [batch for partition in reader.partitions() for batch in reader.read(partition)]
    assert pa.Table.from_batches(batches).equals(generate("unique", 2))
    assert len(batches) == 2


def test_names_of_options_may_be_spelled_as_in_spark_or_as_in_python() -> None:
    for spelling in ({"rowsPerBatch": "4", "firstKey": "8"}, {"rows_per_batch": "4", "first_key": "8"}):
        options = read_options({"stream": "unique", **spelling})
        assert (options.rows_per_batch, options.stream.first_key) == (4, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give the option stream"),
        ({"stream": "zipf-3"}, "unknown arrival pattern 'zipf-3'"),
        ({"path": "/tmp"}, "unknown option path; known: stream, rows, seed, gap"),
        ({"rows": "0"}, "option rows='0': give a whole number between 1 and"),
        ({"rows": "many"}, "option rows='many': give a whole number"),
        ({"seed": "-1"}, "option seed='-1': give a whole number between 0 and"),
        ({"ahead": "0"}, "option ahead='0'"),
        ({"first_key": "1.5"}, "option firstKey='1.5'"),
        ({"gap": "soon"}, "option gap='soon': cannot read the duration"),
        ({"gap": "-1 s"}, "cannot be negative"),
        ({"start": "noon"}, "option start='noon': give microseconds since the epoch, or a time such as"),
        ({"punctuations": "some"}, "known: flag, rows, none, irrelevant"),
        ({"rate": "0"}, "option rate='0': give a positive number"),
        ({"rate": "fast"}, "option rate='fast': give a positive number"),
        ({"rowsPerBatch": "0"}, "option rowsPerBatch='0'"),
        ({"partitions": "0"}, "option partitions='0'"),
        ({"partitions": "1000000"}, "give a whole number between 1 and 10000"),
        ({"rowsPerBatch": str(2**62)}, "give a whole number between 1 and 1000000000"),
        ({"rows": "9" * 5000}, "give a whole number between 1 and 1000000000"),
        ({"rate": "1e308"}, "option rate='1e308': give a positive number of tuples per second, 1000000000 at most"),
        ({"rate": "nan"}, "option rate='nan': give a positive number"),
        ({"gap": str(2**62)}, "option gap="),
        ({"stream": "cluster-desc-5"}, "an endless stream cannot count down"),
    ],
)
def test_bad_options(options: dict[str, str], message: str) -> None:
    given: dict[str, Any] = {"stream": "unique", **options} if options else {}
    with pytest.raises(StreamError, match=message) as caught:
        PunctuatedSource(given).streamReader(StructType())
    assert isinstance(caught.value, PunctuatedError)


def test_what_only_bounded_streams_can_do() -> None:
    with pytest.raises(StreamError, match="a batch has an end: give the option rows"):
        PunctuatedSource({"stream": "unique"}).reader(StructType())
    with pytest.raises(StreamError, match="availableNow reads to the end"):
        stream_reader(stream="unique").prepareForTriggerAvailableNow()


def test_before_spark_4_2_a_stream_is_refused_and_a_batch_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("punctuated.spark.source.generated.HAS_READ_LIMITS", False)
    source = PunctuatedSource({"stream": "unique", "rows": "2"})
    with pytest.raises(StreamError, match=r"needs Spark 4.2 or newer.*read it as a batch"):
        source.streamReader(StructType())
    assert source.reader(StructType()).partitions()
