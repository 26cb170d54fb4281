"""Metrics in Prometheus' text format; the counters come from the table of counters."""

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from punctuated.model.counters import COUNTERS, Counter
from punctuated.model.times import FOREVER
from punctuated.spark.metrics.exporters import Exporter
from punctuated.spark.metrics.join_metrics import JoinMetrics

Samples = Iterable[tuple[dict[str, str], float]]  # labels beside those of the join, and values


class Prometheus(Exporter):
    """The newest figures of every query in Prometheus' text format, for the textfile collector of its node exporter.

    The file is written under another name and then renamed, so that nobody reads half of it.
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
class _MetricFamily:
    """A metric family of Prometheus: name, kind, help, and its samples of a join."""

    name: str
    kind: str
    what: str
    samples: Callable[[JoinMetrics], Samples]


def _counted(counter: Counter) -> _MetricFamily:
    def samples(metrics: JoinMetrics) -> Samples:
        labels: list[dict[str, str]] = [{"stream": each} for each in metrics.streams] if counter.per_stream else [{}]
        return zip(labels, (metrics.total[name] for name in counter.columns_of(len(metrics.streams))), strict=True)

    return _MetricFamily(counter.exported, "gauge" if counter.is_gauge else "counter", counter.what, samples)


def _measured(name: str, what: str, figure: Callable[[JoinMetrics], float]) -> _MetricFamily:
    return _MetricFamily(name, "gauge", what, lambda metrics: [({}, figure(metrics))])


def _stages(metrics: JoinMetrics) -> Samples:
    for stage, ms in sorted(metrics.stages_ms.items()):
        yield {"stage": stage}, ms / 1000


def _watermarks(metrics: JoinMetrics) -> Samples:
    for stream, time in metrics.watermarks.items():
        if time is not None:
            yield {"stream": stream}, math.inf if time >= FOREVER else time / 1e6


_FAMILIES = (
    _measured("batch_id", "The newest micro-batch.", lambda metrics: metrics.batch_id),
    _measured("input_rows", "Rows of the newest micro-batch.", lambda metrics: metrics.input_rows),
    _MetricFamily("stage_seconds", "gauge", "Times of the newest micro-batch; triggerExecution is all of it.", _stages),
    _measured("state_bytes", "Memory of the state.", lambda metrics: metrics.bytes),
    _measured(
        "written_bytes", "Written to the state store in the newest micro-batch.", lambda metrics: metrics.bytes_written
    ),
    _measured("cache_hits", "Buckets found in a worker's memory.", lambda metrics: metrics.cache_hits),
    _measured("cache_misses", "Buckets read from the state store.", lambda metrics: metrics.cache_misses),
    _MetricFamily("watermark_seconds", "gauge", "Watermark, in seconds of event time.", _watermarks),
    *map(_counted, COUNTERS),
)


def prometheus_text(latest: Iterable[JoinMetrics], active: Iterable[str] = ()) -> str:
    """Metrics of several queries in Prometheus' text format; `active` are the ids of those that run."""
    queries, running = list(latest), set(active)
    alive = _MetricFamily("active", "gauge", "1 while the query runs.", lambda m: [({}, int(m.query_id in running))])
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
