"""Reports of buckets in the output, if Spark has no other way for them: rows that hold nothing else.

They never reach a sink: Spark observes them, so that they come with the query's progress, and they are left out.
"""

from collections.abc import Iterable, Iterator

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, collect_list
from pyspark.sql.types import StringType, StructField, StructType

from punctuated.model.arguments import free_names
from punctuated.spark.metrics.reading import observed_as

METRICS = "_metrics"


def with_metrics(leaving: StructType) -> StructType:
    """What leaves a step, with a column of reports."""
    return StructType([*leaving, StructField(free_names([METRICS], leaving.names)[0], StringType())])


def beside(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """The same frames with that column, empty."""
    for frame in frames:
        none = pd.Series(pa.nulls(len(frame), pa.string()), dtype=pd.ArrowDtype(pa.string()))
        yield frame.assign(**{free_names([METRICS], frame.columns)[0]: none})


def metrics_frame(leaving: pa.Schema, said: str) -> pd.DataFrame:
    """The row with a report, beside columns of these types."""
    nothing = pa.table([pa.nulls(1, each.type) for each in leaving], schema=leaving)
    row = nothing.append_column(free_names([METRICS], leaving.names)[0], pa.array([said]))
    frame: pd.DataFrame = row.to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def observed(stepped: DataFrame, join: str) -> DataFrame:
    """The output without that column, which goes to the query's progress."""
    metrics = stepped.columns[-1]
    measured = stepped.observe(observed_as(join), collect_list(metrics).alias("buckets"))
    return measured.where(col(metrics).isNull()).drop(metrics)
