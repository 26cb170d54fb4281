"""Metrics of a streaming join: sums over buckets equal the counters of the join over tables, in every format."""

import io
import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import punctuated as pt
from patience import LONGEST_S
from punctuated.api.metrics import (
    Exporter,
    JoinMetrics,
    JsonLines,
    Lines,
    Log,
    Prometheus,
    RejectedRows,
    history,
    joins_in,
    listen,
)
from punctuated.api.metrics import of as metrics_of
from punctuated.model.counters import COLUMNS, COUNTERS
from punctuated.model.times import FOREVER, NEVER
from punctuated.spark.metrics.listener import MetricsListener
from punctuated.spark.metrics.prometheus import prometheus_text
from punctuated.spark.session.local import write_files
from spark.spark_harness import read_files

AUCTIONS = [
    pa.table({"item": [1, 2, 3], "ts": [0, 1, 2]}),
    pa.table({"item": [4, 5], "ts": [20, 21]}),
    pa.table({"item": [6], "ts": [40]}),
]
BIDS = [
    pa.table({"item": [1, 2], "at": [5, 6], "closed": [False, True]}),
    pa.table({"item": [1, 3, 9], "at": [25, 26, 27], "closed": [True, False, False]}),
    pa.table({"item": [3, 6, 5], "at": [10, 45, 46], "closed": [False, True, False]}),  # the first of them is late
]


def declare(auctions: Any, bids: Any) -> Any:
    left = pt.stream(auctions, name="A", key="item", time="ts", window=30, punctuations=pt.unique())
    right = pt.stream(bids, name="B", key="item", time="at", window=100, punctuations=pt.when("closed"))
    return pt.join(left, right)


def expected() -> list[tuple[dict[str, int], dict[str, int]]]:
    """The counters and watermarks of the join over tables, after each batch."""
    found = []
    for n in (1, 2, 3):
        joined = declare(AUCTIONS[:n], BIDS[:n])
        driver = joined.bound.driver()
        for batches in joined.batches:
            driver.process(*batches)
        left, right = driver.state.sides["watermark"].tolist()
        found.append((driver.counts(), {"left": left, "right": right}))
    return found


class Kept(Exporter):
    """Keeps what it gets."""

    def __init__(self) -> None:
        self.metrics: list[JoinMetrics] = []
        self.over: list[str] = []

    def export(self, metrics: JoinMetrics) -> None:
        if not self.metrics:
            self.over.clear()  # Spark may tell of the end of an earlier test's query only now
        self.metrics.append(metrics)

    def ended(self, query_id: str) -> None:
        self.over.append(query_id)


class Broken(Exporter):
    def export(self, metrics: JoinMetrics) -> None:
        raise OSError("no space left on device")


@pytest.fixture(scope="module")
def ran(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StreamingQuery, Kept, Path]]:
    """One query over three batches, with every exporter listening."""
    folder = tmp_path_factory.mktemp("metrics")
    kept, logger = Kept(), logging.getLogger("test.metrics")
    handler = logging.FileHandler(folder / "log.txt", encoding="utf-8")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    told = logging.FileHandler(folder / "told.txt", encoding="utf-8")
    rejections = logging.getLogger("punctuated.rejected")
    rejections.addHandler(told)
    lines = (folder / "lines.txt").open("w", encoding="utf-8")
    exporters = (
        Broken(),
        Lines(lines),
        Log(logger),
        JsonLines(folder / "m.jsonl"),
        Prometheus(folder / "m.prom"),
        kept,
    )
    listener = listen(spark, *exporters)
    a, b = (
        read_files(spark, write_files(folder / name, tables), tables[0].schema, streaming=True)
        for name, tables in (("a", AUCTIONS), ("b", BIDS))
    )
    writer = declare(a, b).all.writeStream.format("noop").queryName("auctions")
    query = writer.option("checkpointLocation", str(folder / "c")).trigger(availableNow=True).start()
    query.awaitTermination()
    wait_for(lambda: str(query.id) in kept.over and bool((folder / "told.txt").read_text(encoding="utf-8")))
    yield query, kept, folder
    spark.streams.removeListener(listener)
    lines.close()
    logger.removeHandler(handler)
    rejections.removeHandler(told)
    handler.close()
    told.close()


def wait_for(done: Callable[[], bool]) -> None:
    """Events come a moment later than the end of a query."""
    deadline = time.monotonic() + LONGEST_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)


Ran = tuple[StreamingQuery, Kept, Path]


def test_sums_over_buckets_equal_the_join_over_tables(ran: Ran) -> None:
    query, _, _ = ran
    found = history(query.recentProgress)
    assert [m.batch_id for m in found] == [0, 1, 2]
    for m, (counts, watermarks) in zip(found, expected(), strict=True):
        assert (m.total, m.watermarks) == (counts, watermarks)
        assert (m.query_name, m.join, m.buckets, m.cache_hits + m.cache_misses) == ("auctions", "", 2, 2)
        assert m.bytes > 0 and m.bytes_written > 0
        assert m.batch_ms >= m.stages_ms["addBatch"] > 0
    assert [m.input_rows for m in found] == [5, 5, 4]
    assert found[0].cache_misses == 2
    assert found[-1].total.purged and found[-1].total.discarded and found[-1].total.rejected  # not all are zero


def test_what_each_batch_did_adds_up_to_the_totals(ran: Ran) -> None:
    query, _, _ = ran
    found = history(query.recentProgress)
    for name in COLUMNS:
        assert sum(getattr(m.in_batch, name) for m in found) == getattr(found[-1].total, name)
    assert history(query.recentProgress[1:])[0].in_batch is None
    assert metrics_of(query.lastProgress, found[1]) == found[2]


def test_a_listener_hears_of_every_batch_and_of_the_end(ran: Ran) -> None:
    query, kept, _ = ran
    assert kept.metrics == history(query.recentProgress)
    assert kept.over == [str(query.id)]


def test_json_lines_hold_everything(ran: Ran) -> None:
    _, kept, folder = ran
    lines = (folder / "m.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [asdict(m) for m in kept.metrics]


def test_printed_and_logged_lines_say_what_happened(ran: Ran) -> None:
    _, kept, folder = ran
    printed = (folder / "lines.txt").read_text(encoding="utf-8")
    assert printed == (folder / "log.txt").read_text(encoding="utf-8")
    assert printed.splitlines() == [str(m) for m in kept.metrics]
    assert re.match(r"batch 0: 5 rows in [\d,]+ ms; state 2 \+ 0 tuples, [\d.]+ kB, .*\+2 results, ", printed)
    assert "1 rejected" in printed.splitlines()[2]


SAMPLE = re.compile(r'^(?P<name>[a-z_]+)\{(?P<labels>(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\} (?P<value>\S+)$')


def parsed(text: str) -> dict[str, dict[str, float]]:
    """Samples by name and labels; every name has a help and a type, and stands together."""
    assert text.endswith("\n")
    found: dict[str, dict[str, float]] = {}
    current = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split()[2]
            assert current not in found
            found[current] = {}
        elif line.startswith("# TYPE "):
            assert line.split()[2] == current
            assert line.split()[3] == ("counter" if current.endswith("_total") else "gauge")
        else:
            sample = SAMPLE.match(line)
            assert sample is not None, line
            assert sample["name"] == current and sample["labels"] not in found[current]
            found[current][sample["labels"]] = float(sample["value"])
    return found


def test_rejected_rows_are_told_without_asking(ran: Ran) -> None:
    (line,) = (ran[2] / "told.txt").read_text(encoding="utf-8").splitlines()
    assert re.match(r"query auctions, batch \d: stream '\w+': 1 row rejected as \w+, in no result: .*write_to", line)


def test_rejected_rows_are_told_once_a_query_stream_and_reason(caplog: pytest.LogCaptureFixture) -> None:
    exporter = RejectedRows()

    def hear(query: str, **total: int) -> int:
        """How many warnings a batch brings."""
        caplog.clear()
        said = json.dumps({"bucket": 0, "streams": ["A", "B"], **total})
        progress = {"id": query, "batchId": 1, "observedMetrics": {"punctuated": {"buckets": [said]}}}
        metrics = metrics_of(progress)
        assert metrics is not None
        exporter.export(metrics)
        return len(caplog.records)

    assert hear("q", results=5) == 0
    assert hear("q", rejected_late_right=4000) == 1
    assert "stream 'B': 4,000 rows rejected as late" in caplog.text and "lateness=" in caplog.text
    assert hear("q", rejected_late_right=5000, rejected_corrupt_left=1) == 1
    assert hear("another", rejected_late_right=5000) == 1
    exporter.ended("q")
    assert hear("q", rejected_late_right=5000) == 1
    assert hear("another", rejected_late_right=6000) == 0


def test_prometheus_text_is_well_formed(ran: Ran) -> None:
    query, kept, folder = ran
    found = parsed((folder / "m.prom").read_text(encoding="utf-8"))
    labels = f'query="auctions",query_id="{query.id}",join=""'
    assert found["punctuated_results_total"] == {labels: kept.metrics[-1].total.results}
    assert found["punctuated_state_tuples"][f'{labels},stream="left"'] == kept.metrics[-1].total.state_left
    assert found["punctuated_stage_seconds"][f'{labels},stage="addBatch"'] > 0
    assert found["punctuated_active"] == {labels: 0}
    assert [each for each in folder.iterdir() if each.name.endswith("aside")] == []


def test_names_and_ends_of_time_fit_into_prometheus_text(ran: Ran) -> None:
    _, kept, _ = ran
    odd = replace(kept.metrics[0], query_name='a "b"\\\n', watermarks={"left": None, "right": FOREVER})
    text = prometheus_text([odd, replace(odd, join="A B")], active=[odd.query_id])
    found = parsed(text)
    assert list(found["punctuated_active"].values()) == [1, 1]
    assert set(found["punctuated_watermark_seconds"].values()) == {float("inf")}
    assert 'query="a \\"b\\"\\\\\\n"' in text


def test_every_counter_reaches_prometheus_and_the_line() -> None:
    """What the join shed among them."""
    numbers = {name: 1000 + place for place, name in enumerate(COLUMNS)}
    found = metrics_of(progress(0, punctuated=[bucket(0, **numbers)]))
    assert found is not None
    samples = {(name, labels): n for name, by in parsed(prometheus_text([found])).items() for labels, n in by.items()}
    for counter in COUNTERS:
        assert f"# HELP punctuated_{counter.exported} {counter.what}\n" in prometheus_text([found])
        for column in counter.columns:
            stream = f',stream="{column.removeprefix(counter.name + "_")}"' if counter.per_stream else ""
            where = f'query="",query_id="q",join=""{stream}'
            assert samples[f"punctuated_{counter.exported}", where] == numbers[column]
    assert [number for number in numbers.values() if f"{number:,}" not in str(found)] == [
        numbers[name] for name in ("tuples_left", "tuples_right", "punctuations_left", "punctuations_right")
    ]


def test_a_counter_that_does_not_exist_is_no_zero() -> None:
    found = metrics_of(progress(0, punctuated=[bucket(0, results=2)]))
    assert found is not None
    with pytest.raises(AttributeError, match="no counter 'result'; known: state_left, "):
        _ = found.total.result
    with pytest.raises(KeyError):
        _ = found.total["result"]


def test_an_exporter_that_fails_is_logged(caplog: pytest.LogCaptureFixture, ran: Ran) -> None:
    query, _, _ = ran
    kept = Kept()
    listener = MetricsListener(Broken(), kept)
    listener.onQueryProgress(type("Event", (), {"progress": query.lastProgress})())
    assert len(kept.metrics) == 1
    assert "could not be exported by Broken" in caplog.text


def bucket(number: int, **said: int) -> str:
    return json.dumps({"bucket": number} | said)


def progress(batch: int, **observed: list[str]) -> dict[str, Any]:
    rows = {name.replace("__", " "): {"buckets": buckets} for name, buckets in observed.items()}
    return {"id": "q", "batchId": batch, "observedMetrics": rows}


def test_a_progress_without_metrics_has_none() -> None:
    assert metrics_of(None) is None
    assert metrics_of({"id": "q", "batchId": 0, "observedMetrics": {}}) is None
    assert metrics_of(progress(0, other=[])) is None
    assert metrics_of(progress(0, punctuated=[])) is None


def test_a_progress_asked_for_over_connect_is_understood() -> None:
    schema = {"type": "struct", "fields": [{"name": "buckets"}]}
    observed = {"punctuated": Row(values=[[bucket(0, results=2)]], schema=schema)}
    found = metrics_of({"id": "q", "batchId": 0, "observedMetrics": observed})
    assert found is not None and found.total.results == 2


def test_the_joins_of_a_query_are_told_apart() -> None:
    both = progress(0, punctuated__A__B=[bucket(0, results=2)], punctuated=[bucket(0, results=5)])
    assert joins_in(both) == ["", "A B"]
    last, first = metrics_of(both), metrics_of(both, join="A B")
    assert last is not None and first is not None
    assert (last.total.results, first.total.results, first.join) == (5, 2, "A B")
    assert metrics_of(both, join="C D") is None
    odd = progress(0) | {"observedMetrics": {"punctuated  A B ": {"buckets": [bucket(0, results=3)]}}}
    assert joins_in(odd) == [" A B "]  # names are as they were given, spaces included
    spaced = metrics_of(odd)
    assert spaced is not None and spaced.total.results == 3
    only = metrics_of(progress(0, punctuated__A__B=[bucket(0, results=2)]))
    assert only == first
    out = io.StringIO()
    Lines(out).export(first)
    assert out.getvalue().startswith("batch 0 of A B: 0 rows")


def test_a_batch_that_ran_twice_is_counted_once() -> None:
    twice = metrics_of(progress(1, punctuated=[bucket(0, results=2), bucket(1, results=3), bucket(0, results=2)]))
    assert twice is not None
    assert (twice.buckets, twice.total.results, twice.in_batch) == (2, 5, None)


def test_the_watermark_is_the_one_that_all_buckets_have_reached() -> None:
    found = metrics_of(
        progress(
            0,
            punctuated=[
                bucket(0, watermark_left=7, watermark_right=FOREVER),
                bucket(1, watermark_left=NEVER, watermark_right=FOREVER),
            ],
        )
    )
    assert found is not None
    assert found.watermarks == {"left": None, "right": FOREVER}
    assert str(found).endswith("watermarks none, ended")
