"""Spark's types and Arrow's."""

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql.types import DataType, StructField, StructType

from punctuated.errors import ColumnError
from punctuated.spark.versions import arrow_types, spark_types

_MOST_DIGITS = 38


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
