"""How buckets report: by one of Spark's accumulators, which reaches the driver when a task has succeeded.

Reports in the output would be rows that must be removed again, and looking for them costs a fifth of the time of a join
whose rows leave it. A client of Spark Connect has no accumulators; there reports do come in the output, and then with
the query's progress.
"""

from weakref import WeakKeyDictionary

from pyspark import Accumulator, SparkContext, TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from punctuated.spark.metrics.heard import Said, hear
from punctuated.spark.micro_batch import current_batch
from punctuated.spark.which_session import is_connect

_MOST = 1_000  # micro-batches that are remembered
_OF_SESSIONS: WeakKeyDictionary[SparkContext, "Accumulator[Said]"] = WeakKeyDictionary()


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
