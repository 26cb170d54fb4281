"""Which micro-batch a task works for."""

from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pyspark import Accumulator, SparkContext, TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from punctuated.spark.session.kind import is_connect

_QUERY_ID, _BATCH_ID = "sql.streaming.queryId", "streaming.sql.batchId"  # local properties of its tasks
Batch = tuple[str, int]  # a query, and its micro-batch
Said = dict[Batch, dict[str, dict[int, str]]]  # what the buckets of each join of it said, as JSON
_HEARD: list[Callable[[], Said]] = []
_MOST = 1_000  # micro-batches that are remembered
_OF_SESSIONS: WeakKeyDictionary[SparkContext, "Accumulator[Said]"] = WeakKeyDictionary()


def current_batch() -> Batch | None:
    """That of this task; None outside of tasks, and with Spark Connect, which does not say."""
    context = TaskContext.get()
    if context is None:
        return None
    query, batch = context.getLocalProperty(_QUERY_ID), context.getLocalProperty(_BATCH_ID)
    return None if query is None or batch is None else (query, int(batch))


def current_stage() -> int | None:
    """Spark's number of the stage of this task, which differs in each micro-batch; None outside of tasks."""
    context = TaskContext.get()
    return None if context is None else context.stageId()


# What this process knows of micro-batches, from all sources of reports (see `reports`).


def hear(reports: Callable[[], Said]) -> None:
    """From now on, look there as well."""
    _HEARD.append(reports)


def heard(progress: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the buckets of each join have reported in the micro-batch of this progress."""
    for reports in _HEARD:
        found = reports().get((str(progress["id"]), int(progress["batchId"])))
        if found is not None:
            return {join: list(buckets.values()) for join, buckets in found.items()}
    return {}


# How buckets report: by one of Spark's accumulators, which reaches the driver when a task has succeeded.
#
# Reports in the output would be rows that must be removed again, and looking for them costs a fifth of the time of a
# join whose rows leave it. A client of Spark Connect has no accumulators; there reports do come in the output, and
# then with the query's progress.


class _Reports(AccumulatorParam):  # type: ignore[type-arg]  # generic for type checkers only
    """Gathers reports; the last report of a bucket counts, because a batch that runs twice reports everything twice."""

    def zero(self, value: Said) -> Said:
        return {}

    def addInPlace(self, value1: Said, value2: Said) -> Said:  # noqa: N802, the name is Spark's
        for batch, joins in value2.items():
            known = value1.setdefault(batch, {})
            for join, buckets in joins.items():
                known.setdefault(join, {}).update(buckets)
        for batch in list(value1)[:-_MOST]:
            del value1[batch]
        return value1


def reports_of(spark: SparkSession) -> "Accumulator[Said] | None":
    """Where the buckets of all queries of a session report, if they can."""
    if is_connect(spark):
        return None
    context = spark.sparkContext
    if context not in _OF_SESSIONS:
        reports = _OF_SESSIONS[context] = context.accumulator({}, _Reports())
        hear(lambda: reports.value)
    return _OF_SESSIONS[context]


def report(reports: "Accumulator[Said]", join: str, bucket: int, said: str) -> None:
    """A bucket has done its part of a micro-batch."""
    assert TaskContext.get() is not None, "only tasks report"
    batch = current_batch()
    if batch is not None:
        reports.add({batch: {join: {bucket: said}}})
