"""How buckets report to the driver: by one of Spark's accumulators, or else as rows of the output.

An accumulator reaches the driver when a task has succeeded. A client of Spark Connect has none; there each bucket puts
a row with its report, and nothing else, into the output. Spark observes these rows, so that they come with the query's
progress, and leaves them out before the sink. Looking for such rows costs a fifth of the time of a join whose rows
leave it, so a classic session does without them.
"""

from collections.abc import Iterable, Iterator
from weakref import WeakKeyDictionary

import pandas as pd
import pyarrow as pa
from pyspark import Accumulator, SparkContext, TaskContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, collect_list
from pyspark.sql.types import StringType, StructField, StructType

from punctuated.model.arguments import free_names
from punctuated.spark.metrics.reading import Reports, add_source, observed_as
from punctuated.spark.session.connect import is_connect
from punctuated.spark.session.task import current_batch

REPORT_COLUMN = "_metrics"
_MOST = 1_000  # micro-batches that are remembered
_BY_CONTEXT: WeakKeyDictionary[SparkContext, "Accumulator[Reports]"] = WeakKeyDictionary()


# By an accumulator


class _MergedReports(AccumulatorParam):  # type: ignore[type-arg]  # generic for type checkers only
    """Merges reports; the last report of a bucket counts, because a batch that runs twice reports everything twice."""

    def zero(self, value: Reports) -> Reports:
        return {}

    def addInPlace(self, value1: Reports, value2: Reports) -> Reports:  # noqa: N802, the name is Spark's
        for batch, joins in value2.items():
            known = value1.setdefault(batch, {})
            for join, buckets in joins.items():
                known.setdefault(join, {}).update(buckets)
        for batch in list(value1)[:-_MOST]:
            del value1[batch]
        return value1


def reports_of(spark: SparkSession) -> "Accumulator[Reports] | None":
    """The accumulator for the buckets of all queries of a session; None with Spark Connect."""
    if is_connect(spark):
        return None
    context = spark.sparkContext
    if context not in _BY_CONTEXT:
        reports = _BY_CONTEXT[context] = context.accumulator({}, _MergedReports())
        add_source(lambda: reports.value)
    return _BY_CONTEXT[context]


def report(reports: "Accumulator[Reports]", join: str, bucket: int, text: str) -> None:
    """Add the report of a bucket that has done its part of a micro-batch."""
    assert TaskContext.get() is not None, "only tasks report"
    batch = current_batch()
    if batch is not None:
        reports.add({batch: {join: {bucket: text}}})


# In the output


def with_report_column(leaving: StructType) -> StructType:
    """The columns that leave a step, and a column of reports."""
    return StructType([*leaving, StructField(free_names([REPORT_COLUMN], leaving.names)[0], StringType())])


def with_empty_reports(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """The frames with a column of reports that is empty."""
    for frame in frames:
        none = pd.Series(pa.nulls(len(frame), pa.string()), dtype=pd.ArrowDtype(pa.string()))
        yield frame.assign(**{free_names([REPORT_COLUMN], frame.columns)[0]: none})


def report_frame(leaving: pa.Schema, text: str) -> pd.DataFrame:
    """A row with a report, and nulls in the columns that leave the step."""
    nothing = pa.table([pa.nulls(1, each.type) for each in leaving], schema=leaving)
    row = nothing.append_column(free_names([REPORT_COLUMN], leaving.names)[0], pa.array([text]))
    frame: pd.DataFrame = row.to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def observe_reports(stepped: DataFrame, join: str) -> DataFrame:
    """The output without the column of reports, which goes to the query's progress."""
    reports = stepped.columns[-1]
    measured = stepped.observe(observed_as(join), collect_list(reports).alias("buckets"))
    return measured.where(col(reports).isNull()).drop(reports)
