"""Spark's types and Arrow's."""

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from punctuated.spark.query import METRICS


def arrow_schema(schema: StructType) -> pa.Schema:
    """How a DataFrame's columns arrive in Python."""
    return to_arrow_schema(schema, timezone="UTC")


def spark_schema(schema: pa.Schema, known: dict[str, StructField]) -> StructType:
    """The Spark type of each column, `known` where it comes from an input as it is; metrics beside them."""
    fields = [
        StructField(field.name, known[field.name].dataType)
        if field.name in known
        else StructField(field.name, from_arrow_schema(pa.schema([field])).fields[0].dataType)
        for field in schema
    ]
    return StructType([*fields, StructField(METRICS, StringType())])
