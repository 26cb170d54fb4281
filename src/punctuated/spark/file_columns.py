"""The columns of files that are read without Spark's rows: those that Spark's own reader would give."""

import warnings
from collections.abc import Mapping
from typing import TypeAlias

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from punctuated.errors import ColumnError, FileError, MissingColumnsWarning, StreamError
from punctuated.model.nearest import hint_of
from punctuated.spark.causes import cause_of
from punctuated.spark.versions import spark_types

PARQUET = "parquet"
Schema: TypeAlias = StructType | pa.Schema | str


def columns_of(spark: SparkSession, path: str, schema: Schema | None, options: Mapping[str, str]) -> StructType:
    """The columns that are given, or found in the files, and those in the paths; warns of given ones without a file."""
    reader = spark.read.options(**options)
    if schema is not None:
        reader = reader.schema(_spark_types(schema))
    try:
        columns = reader.format(PARQUET).load(path).schema
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            raise StreamError(f"there is nothing at {path!r}, not even an empty folder") from error
        raise ColumnError(
            f"the columns of {path!r} are not known: {error}. Give pt.files schema=, with TIMESTAMP_NTZ or TIMESTAMP "
            "for times in nanoseconds, or files whose types Spark has"
        ) from error
    except Exception as error:  # of Py4J or of Connect: a footer could not be read
        raise FileError(
            f"the columns of {path!r} are not known, for it does not hold only files of Parquet: {cause_of(error)}"
        ) from error
    if schema is not None:
        _warn_of_missing(spark, path, columns, options)
    return columns


def _warn_of_missing(spark: SparkSession, path: str, columns: StructType, options: Mapping[str, str]) -> None:
    """Warn of columns that the existing files do not have: they are read as nulls, which is seldom what was meant."""
    try:
        found = spark.read.options(**options).format(PARQUET).load(path).schema.names
    except Exception:  # no file yet, or none that Spark can read: then nothing is known of them
        return
    there = {name.lower() for name in found}
    for name in columns.names:
        if name.lower() not in there:
            message = (
                f"pt.files({path!r}): Spark finds no column {name!r} in the files that are there now; it is null in "
                f"each row of a file without it; {hint_of(name, found, 'they have')}"
            )
            warnings.warn(message, MissingColumnsWarning, stacklevel=5)  # where pt.files was called


def _spark_types(schema: Schema) -> StructType | str:
    if not isinstance(schema, pa.Schema):
        return schema
    types = []
    for each in schema:
        try:
            types += spark_types(pa.schema([each])).fields
        except Exception as error:
            raise ColumnError(
                f"schema=: column {each.name!r} is of type {each.type}, which Spark does not have; give the type to "
                "read it as: of unsigned numbers the next wider one"
            ) from error
    return StructType(types)
