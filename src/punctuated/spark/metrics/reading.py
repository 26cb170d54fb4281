"""From a query's progress to metrics: what the buckets of its joins reported in a micro-batch.

The reports come with the progress, or they are in this process already (`add_source`). Every bucket reports once per
micro-batch; the figures of a batch are sums over the buckets. A query that joins the results of another join has
metrics of each join.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from punctuated.model.counters import STREAMS, columns_of, stream_labels
from punctuated.model.times import FOREVER, NEVER
from punctuated.spark.metrics.join_metrics import Counters, JoinMetrics

BatchKey = tuple[str, int]  # a query, and the number of its micro-batch
Reports = dict[BatchKey, dict[str, dict[int, str]]]  # by join and bucket, the report as JSON
STEP_STAGES = ("restore", "join", "emit", "save")
_OBSERVED = "punctuated"  # the name of the metrics in a progress
_SOURCES: list[Callable[[], Reports]] = []  # of reports that reach this process without a progress


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
        >>> now.total.state_left, now.total.results, now.in_batch.results, now.cache_hits, now.cache_misses
        (2, 12, 12, 1, 1)
    """
    reported = buckets_in(progress)
    found = sorted(reported)
    if progress is None or not found or join not in (None, *found):
        return None
    join = found[0] if join is None else join
    buckets = reported[join]
    if not buckets:
        return None
    names = buckets[0].get("streams", STREAMS)
    labels = stream_labels(len(names))
    total = Counters({each: _sum(buckets, each) for each in columns_of(len(names))})
    before = Counters() if progress["batchId"] == 0 else earlier.total if earlier is not None else None
    hits = _sum(buckets, "cache_hits")
    return JoinMetrics(
        query_id=str(progress["id"]),
        query_name=progress.get("name"),
        join=join,
        batch_id=int(progress["batchId"]),
        timestamp=str(progress.get("timestamp") or ""),
        input_rows=_input_rows(progress, reported),
        buckets=len(buckets),
        bytes=_sum(buckets, "bytes"),
        bytes_written=_sum(buckets, "bytes_written"),
        cache_hits=hits,
        cache_misses=len(buckets) - hits,
        watermarks={each: _watermark(buckets, f"watermark_{each}") for each in labels},
        stages_ms=_stage_times(progress, buckets),
        total=total,
        in_batch=None if before is None else total - before,
        streams=dict(zip(labels, names, strict=True)),
    )


def _stage_times(progress: Mapping[str, Any], buckets: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Spark's times of a batch, and the time of the slowest bucket for each stage of its step."""
    stages = {stage: int(ms) for stage, ms in (progress.get("durationMs") or {}).items()}
    ours = {stage: max(bucket.get(f"{stage}_us", 0) for bucket in buckets) // 1_000 for stage in STEP_STAGES}
    return stages | {f"step.{stage}": ms for stage, ms in ours.items()}


def joins_in(progress: Mapping[str, Any] | None) -> list[str]:
    """The names of the joins that a progress has metrics of, the last join first."""
    return sorted(buckets_in(progress))


def observed_as(join: str) -> str:
    """The name under which a progress has the metrics of a join."""
    return f"{_OBSERVED} {join}" if join else _OBSERVED


def buckets_in(progress: Mapping[str, Any] | None) -> dict[str, list[dict[str, Any]]]:
    """The report of each bucket of each join, from the progress or from what this process knows."""
    observed = (progress or {}).get("observedMetrics") or {}
    named = ((name, name.partition(" ")) for name in observed)
    texts = {join: _texts(observed[name]) for name, (prefix, _, join) in named if prefix == _OBSERVED}
    if progress is not None and not texts:
        texts = reported_in(progress)
    return {join: _buckets(each) for join, each in texts.items()}


def add_source(reports: Callable[[], Reports]) -> None:
    """Look for reports there as well, from now on."""
    _SOURCES.append(reports)


def reported_in(progress: Mapping[str, Any]) -> dict[str, list[str]]:
    """The reports by join that this process has of the micro-batch of a progress."""
    for reports in _SOURCES:
        found = reports().get((str(progress["id"]), int(progress["batchId"])))
        if found is not None:
            return {join: list(buckets.values()) for join, buckets in found.items()}
    return {}


def history(progresses: Iterable[Mapping[str, Any]], join: str | None = None) -> list[JoinMetrics]:
    """The metrics of consecutive batches, such as `query.recentProgress`; the first may lack `in_batch`."""
    found: list[JoinMetrics] = []
    for progress in progresses:
        metrics = metrics_of(progress, found[-1] if found else None, join)
        if metrics is not None:
            found.append(metrics)
    return found


def _texts(row: Any) -> list[str]:
    """The reports in a row of a progress; with Spark Connect, `lastProgress` has the row as `values` and `schema`."""
    observed = dict(row) if isinstance(row, Mapping) else row.asDict()
    if "schema" in observed:
        names = [each["name"] for each in observed["schema"]["fields"]]
        observed = dict(zip(names, observed["values"], strict=True))
    return list(observed["buckets"] or ())


def _buckets(texts: Iterable[str]) -> list[dict[str, Any]]:
    """The report of each bucket; the last one counts, because a batch that runs twice reports everything twice."""
    reports = [json.loads(text) for text in texts]
    return list({each["bucket"]: each for each in reports}.values())


def _input_rows(progress: Mapping[str, Any], reported: Mapping[str, list[dict[str, Any]]]) -> int:
    """Rows that have come to all joins from outside, as the joins report them: for listed files, Spark counts files.

    Without such reports, the rows of all sources; a progress that was not sent to a listener has only these.
    """
    counted = [bucket["input_rows"] for ours in reported.values() for bucket in ours if "input_rows" in bucket]
    if counted:
        return sum(counted)
    whole = progress.get("numInputRows")
    return sum(int(each["numInputRows"]) for each in progress.get("sources") or ()) if whole is None else int(whole)


def _sum(buckets: list[dict[str, Any]], name: str) -> int:
    return sum(bucket.get(name, 0) for bucket in buckets)


def _watermark(buckets: list[dict[str, Any]], name: str) -> int | None:
    """The watermark that all buckets have reached."""
    lowest = min(bucket.get(name, NEVER) for bucket in buckets)
    return None if lowest <= NEVER else min(lowest, FOREVER)
