"""Names of columns: users may use any names.

Spark ignores case when it looks up columns by name, and takes a dot for a field of a struct. So nothing here is looked
up by a user's name: columns are numbered first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import StructType

ArrowFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def with_numbers(frame: DataFrame) -> DataFrame:
    """The same columns under names that are their places; see `column_at`."""
    return frame.toDF(*map(_number, range(len(frame.columns))))


def column_at(place: int) -> Column:
    """A column of a frame with numbers."""
    return col(_number(place))


def _number(place: int) -> str:
    return f"c{place}"


@dataclass(frozen=True)
class Named:
    """A function for `mapInArrow` that gets the columns by these names."""

    names: tuple[str, ...]
    function: ArrowFunction

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.function(batch.rename_columns(list(self.names)) for batch in batches)


def map_in_arrow(
    frame: DataFrame, names: Sequence[str], function: ArrowFunction, schema: StructType | str, *more: Column
) -> DataFrame:
    """`mapInArrow` over the columns of these names; `more` follow them without a name."""
    known = frame.columns
    chosen = [column_at(known.index(name)) for name in names]
    behind = [column.alias(f"more{place}") for place, column in enumerate(more)]
    rows = with_numbers(frame).select(*chosen, *behind)
    return rows.mapInArrow(Named((*names, *[""] * len(more)), function), schema)
