"""Spark's types and Arrow's."""

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql.types import StructField, StructType

from punctuated.errors import ColumnError
from punctuated.spark.versions import arrow_types, spark_types


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
    """The Spark type of each column, `known` where it comes from an input as it is."""
    fields = [
        StructField(field.name, known[field.name].dataType)
        if field.name in known
        else StructField(field.name, spark_types(pa.schema([field])).fields[0].dataType)
        for field in schema
    ]
    return StructType(fields)
