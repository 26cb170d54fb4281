"""Columns of a DataFrame by number, because users may use any names.

Spark ignores case when it looks up a column by name, and takes a dot for a field of a struct. So columns get names by
their numbers before anything is looked up, and `mapInArrow` gives them their own names back.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import StructType

ArrowFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def with_numbers(frame: DataFrame) -> DataFrame:
    """The same columns, named by their numbers; see `column_at`."""
    return frame.toDF(*map(_name, range(len(frame.columns))))


def column_at(number: int) -> Column:
    """The column with this number, in a frame that `with_numbers` has made."""
    return col(_name(number))


def _name(number: int) -> str:
    return f"c{number}"


@dataclass(frozen=True)
class NamedColumns:
    """A function for `mapInArrow` that gets its columns under these names."""

    names: tuple[str, ...]
    function: ArrowFunction

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.function(batch.rename_columns(list(self.names)) for batch in batches)


def map_in_arrow(
    frame: DataFrame, names: Sequence[str], function: ArrowFunction, schema: StructType | str, *more: Column
) -> DataFrame:
    """`mapInArrow` over the columns of these names; the columns in `more` follow without a name."""
    known = frame.columns
    chosen = [column_at(known.index(name)) for name in names]
    behind = [column.alias(f"more{number}") for number, column in enumerate(more)]
    rows = with_numbers(frame).select(*chosen, *behind)
    return rows.mapInArrow(NamedColumns((*names, *[""] * len(more)), function), schema)
