"""Names of columns: those of users as they are, dots and backticks included, and the one that is ours."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import StructType

METRICS = "_metrics"  # a row that carries metrics has nothing else; it never reaches a sink
ArrowFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def quoted(name: str) -> Column:
    """A column by its very name."""
    return col(f"`{name.replace('`', '``')}`")


@dataclass(frozen=True)
class Named:
    """A function for `mapInArrow` that gets the columns by these names."""

    names: tuple[str, ...]
    function: ArrowFunction

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.function(batch.rename_columns(list(self.names)) for batch in batches)


def map_in_arrow(frame: DataFrame, function: ArrowFunction, schema: StructType | str) -> DataFrame:
    """`mapInArrow` for columns with any names: PySpark looks them up, and takes a dot for a field of a struct."""
    names = frame.columns
    numbered = frame.toDF(*(f"c{place}" for place in range(len(names))))
    return numbered.mapInArrow(Named(tuple(names), function), schema)
