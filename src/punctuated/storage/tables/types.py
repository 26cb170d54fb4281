"""The types in which columns are stored: types that Spark, Delta and every reader of Parquet have.

Fields of nested columns may be null, as everything that is read from files may: where a struct is null, Arrow lets
fields be null that are declared otherwise, and Parquet does not.

Unsigned integers become signed ones of twice the width (64 bits: a decimal), half floats become floats, times and
timestamps in nanoseconds become microseconds, which fails if a value is not a whole microsecond. All other types are
stored as they are.
"""

import pyarrow as pa
import pyarrow.types as kind

from punctuated.errors import SinkError

_UNSIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
_OTHERS = {
    pa.float16(): pa.float32(),
    pa.time64("ns"): pa.time64("us"),
    pa.duration("ns"): pa.duration("us"),
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
}


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns as they are stored.

    >>> stored_schema(pa.schema([("n", pa.uint8()), ("at", pa.list_(pa.timestamp("ns")))])).types
    [DataType(int16), ListType(list<item: timestamp[us]>)]
    """
    return pa.schema([_stored_field(field) for field in schema])


def check_delta_types(schema: pa.Schema, what: str) -> None:
    """Raise if a column has a type that Delta tables do not have."""
    for field in schema:
        if (found := _unknown_to_delta(field.type)) is not None:
            raise SinkError(
                f"the column {field.name!r} of {what} has the type {found}, which Delta tables do not have: leave it "
                "out with select=, cast it before the join, or write pt.parquet(…)"
            )


def _stored_field(field: pa.Field) -> pa.Field:
    return field.with_type(_stored(field.type)).with_nullable(True)


def _stored(dtype: pa.DataType) -> pa.DataType:
    known = (_UNSIGNED | _OTHERS).get(dtype)
    if known is not None:
        return known
    if kind.is_timestamp(dtype) and dtype.unit == "ns":
        return pa.timestamp("us", dtype.tz)
    if kind.is_struct(dtype):
        return pa.struct([_stored_field(field) for field in dtype])
    if kind.is_large_list(dtype):
        return pa.large_list(_stored_field(dtype.value_field))
    if kind.is_list(dtype):
        return pa.list_(_stored_field(dtype.value_field))
    if kind.is_map(dtype):
        return pa.map_(_stored_field(dtype.key_field).with_nullable(False), _stored_field(dtype.item_field))
    return dtype


def _unknown_to_delta(dtype: pa.DataType) -> pa.DataType | None:
    if kind.is_time(dtype) or kind.is_duration(dtype) or kind.is_interval(dtype) or kind.is_null(dtype):
        return dtype
    inner = [dtype.field(index).type for index in range(dtype.num_fields)] if kind.is_nested(dtype) else []
    return next((found for each in inner if (found := _unknown_to_delta(each)) is not None), None)
