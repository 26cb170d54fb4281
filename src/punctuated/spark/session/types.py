"""Spark's types and Arrow's: the columns of a DataFrame as Arrow types, and back.

Strings are compared by their bytes here, so columns that Spark would compare by a collation are refused.
"""

from collections.abc import Iterable

import pyarrow as pa
from pyspark.errors import PySparkTypeError
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from punctuated.errors import ColumnError, PunctuatedError
from punctuated.spark.session.versions import arrow_types, spark_types

_MOST_DIGITS = 38


def arrow_schema(schema: StructType) -> pa.Schema:
    """The Arrow types in which a DataFrame's columns arrive in Python."""
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
    """The Spark type of each column, from `known` if an input has the column; raises if Spark has no such type."""
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
    """Whether a type holds decimals that only Arrow has."""
    return "decimal256" in str(dtype)


# Collations


def collation_in(dtype: DataType) -> str | None:
    """The collation of strings in a type; None if they are compared by their bytes."""
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
