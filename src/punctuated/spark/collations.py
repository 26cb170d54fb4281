"""Collations: strings are compared by their bytes here, so columns that Spark would compare otherwise are refused."""

from collections.abc import Iterable

from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

from punctuated.errors import PunctuatedError


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
