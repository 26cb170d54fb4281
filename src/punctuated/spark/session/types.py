"""Spark's types and Arrow's."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from punctuated.errors import ColumnError, PunctuatedError
from punctuated.spark.session.versions import arrow_types, spark_types

_MOST_DIGITS = 38
ArrowFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def arrow_schema(schema: StructType) -> pa.Schema:
    """How a DataFrame's columns arrive in Python."""
    return pa.schema([_arrow_field(field) for field in schema])


def _arrow_field(field: StructField) -> pa.Field:
    try:
        return arrow_types(StructType([field])).field(0)
    except PySparkTypeError as error:
        raise ColumnError(
            f"column {field.name!r} is of type {field.dataType.simpleString()}, which Spark cannot pass to Python; "
            "cast it to another type, or leave it out"
        ) from error


def spark_schema(schema: pa.Schema, known: dict[str, StructField]) -> StructType:
    """The Spark type of each column, `known` where it comes from an input as it is; raises if Spark has none."""
    return StructType([StructField(field.name, _spark_type(field, known.get(field.name))) for field in schema])


def _spark_type(field: pa.Field, known: StructField | None) -> DataType:
    if known is not None and not _is_wide(field.type):
        return known.dataType
    if _is_wide(field.type):
        raise ColumnError(
            f"column {field.name!r} would be of type {field.type}, but Spark's decimals have {_MOST_DIGITS} digits at "
            "most; cast what it is made of to decimals with fewer digits, for a key to the same type in all streams"
        )
    return spark_types(pa.schema([field])).fields[0].dataType


def _is_wide(dtype: pa.DataType) -> bool:
    """Whether it holds decimals that only Arrow has."""
    return "decimal256" in str(dtype)


# Collations: strings are compared by their bytes here, so columns that Spark would compare otherwise are refused.


def collation_in(dtype: DataType) -> str | None:
    """The collation of strings of this type, or within it; none if they are compared by their bytes."""
    if isinstance(dtype, StringType):
        return None if dtype.isUTF8BinaryCollation() else dtype.collation
    return next((found for part in _parts(dtype) if (found := collation_in(part)) is not None), None)


def _parts(dtype: DataType) -> list[DataType]:
    if isinstance(dtype, StructType):
        return [field.dataType for field in dtype]
    if isinstance(dtype, MapType):
        return [dtype.keyType, dtype.valueType]
    return [dtype.elementType] if isinstance(dtype, ArrayType) else []


def refuse_collations(schema: StructType, names: Iterable[str], what: str, error: type[PunctuatedError]) -> None:
    """Raise if one of these columns has a collation; `what` says what the column is."""
    types = {field.name: field.dataType for field in schema}
    for name in names:
        collation = collation_in(types[name]) if name in types else None
        if collation is not None:
            raise error(
                f"{what} {name!r} has the collation {collation}, but strings are compared by their bytes here; "
                f"use an expression that is equal for equal strings, such as lower({name}), "
                f"or collate({name}, 'UTF8_BINARY') if bytes are meant"
            )


# Names of columns: users may use any names.
#
# Spark ignores case when it looks up columns by name, and takes a dot for a field of a struct. So nothing here is
# looked up by a user's name: columns are numbered first.


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
