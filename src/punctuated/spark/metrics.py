"""Metrics: what a join on Spark says about itself in the progress of its query, and where to send it.

Every bucket reports once per micro-batch; the figures of a batch are their sums. Counters run from the start of the
query and survive restarts with its state, so what one batch did is the difference to an earlier one. A query that
joins the results of a join has metrics of each.

    spark.streams.addListener(MetricsListener(Lines(), JsonLines("join.jsonl"), Prometheus("join.prom")))

Only the public interface of PySpark is used: the listener works in a classic session and over Spark Connect, where its
methods run in the client.
"""

import json
import logging
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

from pyspark.sql import Row
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from punctuated.kernels.layout import FOREVER, NEVER

OBSERVED = "punctuated"  # the name under which a join observes its metrics
_LOG = logging.getLogger(__name__)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Counters:
    """What has happened, all buckets together. Each is named as in the metrics of a join over tables."""

    tuples_left: int = 0  # that came in
    tuples_right: int = 0
    punctuations_left: int = 0  # that came in, ranges once and not once per bucket; `pt.unique()` brings none
    punctuations_right: int = 0
    results: int = 0
    unmatched: int = 0  # rows of an outer or anti join
    punctuations_out: int = 0
    purged: int = 0  # forgotten because of a punctuation
    invalidated: int = 0  # forgotten because of a window
    evicted: int = 0  # forgotten because of a count window
    discarded: int = 0  # joined, but not stored: a punctuation was there first
    dropped: int = 0  # not even joined: their value was over in the output
    rejected: int = 0  # late, too far ahead, corrupt, or after a promise; each in the join that rejected it
    null_keys: int = 0
    unprobed_left: int = 0  # did not probe, because the join sheds
    unprobed_right: int = 0
    unstored_left: int = 0  # were not stored, because the join sheds
    unstored_right: int = 0
    punctuations_forgotten: int = 0  # beyond the cap of the memory of punctuations, which every bucket has for itself

    def __sub__(self, earlier: "Counters") -> "Counters":
        return Counters(**{name: getattr(self, name) - getattr(earlier, name) for name in COUNTERS})


STEP_STAGES = ("restore", "join", "emit", "save")
COUNTERS = tuple(each.name for each in fields(Counters))


@dataclass(frozen=True)
class JoinMetrics:
    """A join after a micro-batch."""

    query_id: str
    query_name: str | None
    join: str  # the names of its streams if its results go into another join; of the last join, nothing
    batch_id: int
    timestamp: str  # when the batch began, as Spark writes it
    input_rows: int
    buckets: int
    state_left: int  # tuples that are remembered
    state_right: int
    bytes: int  # memory of the state
    bytes_written: int  # to the state store, in this batch
    cache_hits: int  # buckets that were found in a worker's memory
    cache_misses: int  # buckets that were read from the state store
    watermark_left: int | None  # microseconds; None: nothing came yet; FOREVER: the stream has ended
    watermark_right: int | None
    stages_ms: dict[str, int] = field(default_factory=dict)  # see `_stage_times`; `triggerExecution` is the whole batch
    total: Counters = field(default_factory=Counters)
    in_batch: Counters | None = None  # since the earlier metrics; None if they are not known

    @property
    def batch_ms(self) -> int:
        """How long the whole batch took."""
        return self.stages_ms.get("triggerExecution", 0)

    def __str__(self) -> str:
        done = self.total if self.in_batch is None else self.in_batch
        counted = [f"{'' if self.in_batch is None else '+'}{getattr(done, name):,} {name}" for name in _SHOWN]
        more = [f"{getattr(done, name):,} {name}" for name in _SHOWN_IF_ANY if getattr(done, name)]
        whose = f" of {self.join}" if self.join else ""
        return (
            f"batch {self.batch_id}{whose}: {self.input_rows:,} rows in {self.batch_ms:,} ms; "
            f"state {self.state_left:,} + {self.state_right:,} tuples, {_size(self.bytes)}, "
            f"{_size(self.bytes_written)} written; {', '.join([*counted, *more])}; "
            f"cache {self.cache_hits} of {self.buckets}; "
            f"watermarks {_shown_time(self.watermark_left)}, {_shown_time(self.watermark_right)}"
        )


_SHOWN = ("results", "punctuations_out", "purged", "invalidated", "discarded")
_SHED = ("unprobed_left", "unprobed_right", "unstored_left", "unstored_right")
_SHOWN_IF_ANY = ("unmatched", "evicted", "dropped", "rejected", "null_keys", *_SHED, "punctuations_forgotten")


def metrics_of(
    progress: Mapping[str, Any] | None, earlier: JoinMetrics | None = None, join: str | None = None
) -> JoinMetrics | None:
    """The metrics in a query's progress; None if it has none: it belongs to another query, or no object came.

    Args:
        progress: `query.lastProgress`, one of `query.recentProgress`, `event.progress` of a listener, or its JSON.
        earlier: Metrics of an earlier batch of the same query, for `in_batch`.
        join: Which of several joins is meant, see `joins_in`; by default the last.

    Example:
        >>> buckets = ['{"bucket": 0, "state_left": 2, "results": 5, "cache_hits": 1}', '{"bucket": 1, "results": 7}']
        >>> progress = {"id": "q", "batchId": 0, "observedMetrics": {"punctuated": {"buckets": buckets}}}
        >>> now = metrics_of(progress)
        >>> now.state_left, now.total.results, now.in_batch.results, now.cache_hits, now.cache_misses
        (2, 12, 12, 1, 1)
    """
    found = joins_in(progress)
    if progress is None or not found or join not in (None, *found):
        return None
    join = found[0] if join is None else join
    buckets = _buckets(progress["observedMetrics"][f"{OBSERVED} {join}".strip()])
    if not buckets:
        return None
    total = Counters(**{each: _sum(buckets, each) for each in COUNTERS})
    before = Counters() if progress["batchId"] == 0 else earlier.total if earlier is not None else None
    hits = _sum(buckets, "cache_hits")
    return JoinMetrics(
        query_id=str(progress["id"]),
        query_name=progress.get("name"),
        join=join,
        batch_id=int(progress["batchId"]),
        timestamp=str(progress.get("timestamp") or ""),
        input_rows=_input_rows(progress),
        buckets=len(buckets),
        state_left=_sum(buckets, "state_left"),
        state_right=_sum(buckets, "state_right"),
        bytes=_sum(buckets, "bytes"),
        bytes_written=_sum(buckets, "bytes_written"),
        cache_hits=hits,
        cache_misses=len(buckets) - hits,
        watermark_left=_watermark(buckets, "watermark_left"),
        watermark_right=_watermark(buckets, "watermark_right"),
        stages_ms=_stage_times(progress, buckets),
        total=total,
        in_batch=None if before is None else total - before,
    )


def _stage_times(progress: Mapping[str, Any], buckets: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Spark's times of a batch, and how long the slowest bucket took for each stage of its step."""
    stages = {stage: int(ms) for stage, ms in (progress.get("durationMs") or {}).items()}
    ours = {stage: max(bucket.get(f"{stage}_us", 0) for bucket in buckets) // 1_000 for stage in STEP_STAGES}
    return stages | {f"step.{stage}": ms for stage, ms in ours.items()}


def joins_in(progress: Mapping[str, Any] | None) -> list[str]:
    """The joins that a progress has metrics of, the last one first."""
    observed = (progress or {}).get("observedMetrics") or {}
    return sorted(name.removeprefix(OBSERVED).strip() for name in observed if name.split(" ")[0] == OBSERVED)


def history(progresses: Iterable[Mapping[str, Any]], join: str | None = None) -> list[JoinMetrics]:
    """The metrics of consecutive batches, such as `query.recentProgress`; the first may lack `in_batch`."""
    found: list[JoinMetrics] = []
    for progress in progresses:
        metrics = metrics_of(progress, found[-1] if found else None, join)
        if metrics is not None:
            found.append(metrics)
    return found


def _buckets(row: Any) -> list[dict[str, int]]:
    """What each bucket said; the last word counts, for a batch that runs twice says everything twice.

    A progress that is asked for over Spark Connect has the row as `values` and `schema`.
    """
    observed = row.asDict() if isinstance(row, Row) else dict(row)
    if "schema" in observed:
        names = [each["name"] for each in observed["schema"]["fields"]]
        observed = dict(zip(names, observed["values"], strict=True))
    said = [json.loads(text) for text in observed["buckets"] or ()]
    return list({each["bucket"]: each for each in said}.values())


def _input_rows(progress: Mapping[str, Any]) -> int:
    """Rows of all sources; a progress that was asked for, and not sent to a listener, has only theirs."""
    whole = progress.get("numInputRows")
    return sum(int(each["numInputRows"]) for each in progress.get("sources") or ()) if whole is None else int(whole)


def _sum(buckets: list[dict[str, int]], name: str) -> int:
    return sum(bucket.get(name, 0) for bucket in buckets)


def _watermark(buckets: list[dict[str, int]], name: str) -> int | None:
    """The one that all buckets have reached."""
    lowest = min(bucket.get(name, NEVER) for bucket in buckets)
    return None if lowest <= NEVER else min(lowest, FOREVER)


def _size(n: float) -> str:
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"


def _shown_time(watermark: int | None) -> str:
    if watermark is None:
        return "none"
    if watermark >= FOREVER:
        return "ended"
    try:
        return (_EPOCH + timedelta(microseconds=watermark)).isoformat(timespec="milliseconds")
    except OverflowError:  # times that are mere numbers
        return f"{watermark} us"


# Where metrics go


class Exporter:
    """Something that takes metrics: a subclass says what to do with them."""

    def export(self, metrics: JoinMetrics) -> None:
        """A batch is done."""
        raise NotImplementedError

    def ended(self, query_id: str) -> None:
        """A query is over, by itself, stopped or failed."""


class Call(Exporter):
    """Calls a function with the metrics, and another one with the id of a query that is over."""

    def __init__(self, function: Callable[[JoinMetrics], None], ended: Callable[[str], None] | None = None) -> None:
        self._function, self._ended = function, ended

    def export(self, metrics: JoinMetrics) -> None:
        """Call the first."""
        self._function(metrics)

    def ended(self, query_id: str) -> None:
        """Call the second."""
        if self._ended is not None:
            self._ended(query_id)


class Lines(Exporter):
    """One line per batch, to standard output or another file that is open."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file

    def export(self, metrics: JoinMetrics) -> None:
        """Print the line."""
        print(metrics, file=self._file or sys.stdout, flush=True)


class Log(Exporter):
    """One record per batch, through `logging`; the metrics themselves are in its attribute `metrics`."""

    def __init__(self, logger: logging.Logger = _LOG, level: int = logging.INFO) -> None:
        self._logger, self._level = logger, level

    def export(self, metrics: JoinMetrics) -> None:
        """Log the line."""
        self._logger.log(self._level, "%s", metrics, extra={"metrics": metrics})


class JsonLines(Exporter):
    """One JSON object per batch and line, at the end of a file; the file may be moved away at any time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def export(self, metrics: JoinMetrics) -> None:
        """Append the line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(metrics)) + "\n")


class Prometheus(Exporter):
    """The newest figures of every query in Prometheus' text format, for the textfile collector of its node exporter.

    The file is written aside and renamed, so that nobody reads half of it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._latest: dict[tuple[str, str], JoinMetrics] = {}
        self._active: set[str] = set()

    def export(self, metrics: JoinMetrics) -> None:
        """Replace the file."""
        self._latest[metrics.query_id, metrics.join] = metrics
        self._active.add(metrics.query_id)
        self._write()

    def ended(self, query_id: str) -> None:
        """Keep the last figures, but say that the query is over."""
        self._active.discard(query_id)
        if any(query_id == known for known, _ in self._latest):
            self._write()

    def _write(self) -> None:
        aside = self._path.with_name(f".{self._path.name}.{os.getpid()}.aside")
        text = prometheus_text(self._latest.values(), self._active)
        aside.write_text(text, encoding="utf-8")
        os.replace(aside, self._path)


@dataclass(frozen=True)
class _Family:
    """A metric of Prometheus: its samples for one query are labels and values."""

    name: str
    kind: str
    what: str
    samples: Callable[[JoinMetrics], Iterable[tuple[dict[str, str], float]]]


def _one(name: str) -> Callable[[JoinMetrics], Iterator[tuple[dict[str, str], float]]]:
    def samples(metrics: JoinMetrics) -> Iterator[tuple[dict[str, str], float]]:
        yield {}, getattr(metrics.total if name in COUNTERS else metrics, name)

    return samples


def _both(name: str, unit: float = 1) -> Callable[[JoinMetrics], Iterator[tuple[dict[str, str], float]]]:
    def samples(metrics: JoinMetrics) -> Iterator[tuple[dict[str, str], float]]:
        for side in ("left", "right"):
            whole = f"{name}_{side}"
            value = getattr(metrics.total if whole in COUNTERS else metrics, whole)
            if value is not None:
                yield {"stream": side}, math.inf if value >= FOREVER else value / unit if unit != 1 else value

    return samples


def _stages(metrics: JoinMetrics) -> Iterator[tuple[dict[str, str], float]]:
    for stage, ms in sorted(metrics.stages_ms.items()):
        yield {"stage": stage}, ms / 1000


_FAMILIES = (
    _Family("batch_id", "gauge", "The newest micro-batch.", _one("batch_id")),
    _Family("input_rows", "gauge", "Rows of the newest micro-batch.", _one("input_rows")),
    _Family("stage_seconds", "gauge", "Times of the newest micro-batch; triggerExecution is all of it.", _stages),
    _Family("state_tuples", "gauge", "Tuples that are remembered.", _both("state")),
    _Family("state_bytes", "gauge", "Memory of the state.", _one("bytes")),
    _Family("written_bytes", "gauge", "Written to the state store in the newest micro-batch.", _one("bytes_written")),
    _Family("cache_hits", "gauge", "Buckets found in a worker's memory.", _one("cache_hits")),
    _Family("cache_misses", "gauge", "Buckets read from the state store.", _one("cache_misses")),
    _Family("watermark_seconds", "gauge", "Watermark, in seconds of event time.", _both("watermark", 1e6)),
    _Family("tuples_total", "counter", "Tuples that came in.", _both("tuples")),
    _Family("punctuations_in_total", "counter", "Punctuations that came in.", _both("punctuations")),
    _Family("results_total", "counter", "Joined rows.", _one("results")),
    _Family("unmatched_total", "counter", "Unmatched rows.", _one("unmatched")),
    _Family("punctuations_out_total", "counter", "Punctuations of the output.", _one("punctuations_out")),
    _Family("purged_total", "counter", "Tuples forgotten because of a punctuation.", _one("purged")),
    _Family("invalidated_total", "counter", "Tuples forgotten because of a window.", _one("invalidated")),
    _Family("evicted_total", "counter", "Tuples forgotten because of a count window.", _one("evicted")),
    _Family("discarded_total", "counter", "Tuples joined and never stored.", _one("discarded")),
    _Family("dropped_total", "counter", "Tuples whose value was over in the output.", _one("dropped")),
    _Family("rejected_total", "counter", "Rows that were late, ahead, corrupt or broke a promise.", _one("rejected")),
    _Family("null_keys_total", "counter", "Tuples without a key.", _one("null_keys")),
    _Family(
        "punctuations_forgotten_total",
        "counter",
        "Punctuations beyond the cap of their memory.",
        _one("punctuations_forgotten"),
    ),
)


def prometheus_text(latest: Iterable[JoinMetrics], active: Iterable[str] = ()) -> str:
    """Metrics of several queries in Prometheus' text format; `active` are the ids of those that run."""
    queries, running = list(latest), set(active)
    alive = _Family("active", "gauge", "1 while the query runs.", lambda m: [({}, int(m.query_id in running))])
    lines: list[str] = []
    for family in (alive, *_FAMILIES):
        name = f"punctuated_{family.name}"
        samples = [(m, labels, value) for m in queries for labels, value in family.samples(m)]
        if samples:
            lines += [f"# HELP {name} {family.what}", f"# TYPE {name} {family.kind}"]
            lines += [f"{name}{{{_labels(m, labels)}}} {_number(value)}" for m, labels, value in samples]
    return "\n".join([*lines, ""])


def _labels(metrics: JoinMetrics, more: Mapping[str, str]) -> str:
    labels = {"query": metrics.query_name or "", "query_id": metrics.query_id, "join": metrics.join} | dict(more)
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return "+Inf" if value == math.inf else repr(value)


class MetricsListener(StreamingQueryListener):
    """Hands the metrics of every join of a session to exporters; to `Lines` if none is given.

    Add it with `spark.streams.addListener`. An exporter that fails is reported through `logging`; the others and the
    query go on.
    """

    def __init__(self, *exporters: Exporter) -> None:
        self._exporters = exporters or (Lines(),)
        self._earlier: dict[tuple[str, str], JoinMetrics] = {}

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802, the name is Spark's
        """Nothing is known yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """A batch is done."""
        for join in joins_in(event.progress):
            known = str(event.progress.id), join
            metrics = metrics_of(event.progress, self._earlier.get(known), join)
            if metrics is not None:
                self._earlier[known] = metrics
                for exporter in self._exporters:
                    with _failures_logged(exporter):
                        exporter.export(metrics)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Nothing came."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """A query is over."""
        for exporter in self._exporters:
            with _failures_logged(exporter):
                exporter.ended(str(event.id))


@contextmanager
def _failures_logged(exporter: Exporter) -> Iterator[None]:
    try:
        yield
    except Exception:
        _LOG.warning("metrics could not be exported by %s", type(exporter).__name__, exc_info=True)
