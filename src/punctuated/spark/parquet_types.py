"""Which types of a Parquet file a column of a stream takes: those whose every value it can hold unchanged.

Spark's own reader sets the rule, so that both ways give the same rows: whole numbers go into wider ones,
unsigned ones into the next wider signed type (64 bits into DECIMAL(20,0)), decimals into those with room for their
digits. Moments stay moments and local times local times; the old INT96 are moments. Nanoseconds, which Spark's reader
refuses, go into timestamps if all are whole microseconds, and into BIGINT as a number.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

_OLD_MOMENT = "INT96"
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}  # of whole numbers with this many bits
_UNSIGNED_DIGITS = 20  # of 64 bits without a sign


def file_types(file: pq.ParquetFile) -> pa.Schema:
    """The columns of a file as Arrow reads them, old moments with their time zone."""
    leaves = iter([file.schema.column(place).physical_type for place in range(len(file.schema))])
    return pa.schema([pa.field(field.name, _with_moments(field.type, leaves)) for field in file.schema_arrow])


def _with_moments(dtype: pa.DataType, leaves: Iterator[str]) -> pa.DataType:
    """A type with new types of its leaves, which Parquet numbers in order."""
    plain = _plain(dtype)
    if pa.types.is_struct(plain):
        return pa.struct([pa.field(field.name, _with_moments(field.type, leaves)) for field in plain])
    if pa.types.is_map(plain):
        return pa.map_(_with_moments(plain.key_type, leaves), _with_moments(plain.item_type, leaves))
    if pa.types.is_list(plain):
        return pa.list_(_with_moments(plain.value_type, leaves))
    return pa.timestamp("us", "UTC") if next(leaves) == _OLD_MOMENT else plain


def takes(wanted: pa.DataType, found: pa.DataType) -> bool:
    """Whether a column of one type can hold every value of another one.

    >>> takes(pa.int64(), pa.uint32()), takes(pa.int64(), pa.uint64())
    (True, False)
    """
    found = _plain(found)
    if wanted == found or pa.types.is_null(found):
        return True
    if pa.types.is_nested(wanted):
        return _takes_nested(wanted, found)
    if pa.types.is_integer(found):
        return _takes_integer(wanted, found)
    if pa.types.is_decimal(wanted) and pa.types.is_decimal(found):
        room = (wanted.precision - wanted.scale) - (found.precision - found.scale)
        return bool(room >= 0 and wanted.scale >= found.scale)
    if pa.types.is_timestamp(found):
        is_number = wanted == pa.int64() and found.unit == "ns"
        return is_number or (pa.types.is_timestamp(wanted) and (wanted.tz is None) == (found.tz is None))
    return any(wanted_is(wanted) and found_is(found) for wanted_is, found_is in _ALIKE)


_ALIKE = (
    (pa.types.is_floating, lambda found: pa.types.is_float16(found) or pa.types.is_float32(found)),
    (pa.types.is_date, pa.types.is_date),
    (pa.types.is_time, pa.types.is_time),
    (lambda wanted: wanted == pa.int64(), pa.types.is_duration),  # the file holds a number
    (lambda wanted: wanted in (pa.string(), pa.binary()), lambda found: found in (pa.string(), pa.binary())),
)


def _takes_integer(wanted: pa.DataType, found: pa.DataType) -> bool:
    is_unsigned, bits = pa.types.is_unsigned_integer(found), found.bit_width
    if pa.types.is_integer(wanted):
        return bool(wanted.bit_width >= bits + is_unsigned)
    if pa.types.is_decimal(wanted):
        digits = _UNSIGNED_DIGITS if is_unsigned and bits == 64 else _DIGITS[bits]
        return bool(wanted.precision - wanted.scale >= digits)
    return bool(wanted == pa.duration("us") and found == pa.int64())  # how Spark writes intervals


def _takes_nested(wanted: pa.DataType, found: pa.DataType) -> bool:
    if pa.types.is_struct(wanted) and pa.types.is_struct(found):
        there = {field.name: field.type for field in found}
        if any(not field.nullable for field in wanted) and len(there) != len(list(wanted)):
            return False  # a variant that was shredded: its values are in fields that only Spark's reader puts together
        return all(_takes_field(field, there) for field in wanted)
    if pa.types.is_map(wanted) and pa.types.is_map(found):
        return takes(wanted.key_type, found.key_type) and takes(wanted.item_type, found.item_type)
    return bool(pa.types.is_list(wanted) and pa.types.is_list(found) and takes(wanted.value_type, found.value_type))


def _takes_field(wanted: pa.Field, there: dict[str, pa.DataType]) -> bool:
    """A missing field is null, but not if it is only spelled differently."""
    if wanted.name in there:
        return takes(wanted.type, there[wanted.name])
    return wanted.name.lower() not in {name.lower() for name in there}


def nullable(dtype: pa.DataType) -> pa.DataType:
    """A type whose parts may be null, as those of a null struct are for Arrow's cast."""
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(field.name, nullable(field.type)) for field in dtype])
    if pa.types.is_map(dtype):
        return pa.map_(nullable(dtype.key_type), nullable(dtype.item_type))
    return pa.list_(nullable(dtype.value_type)) if pa.types.is_list(dtype) else dtype


def _plain(dtype: pa.DataType) -> pa.DataType:
    """A type without its encoding, which readers may choose and a column of a stream does not have."""
    if isinstance(dtype, pa.BaseExtensionType):
        return _plain(dtype.storage_type)
    if pa.types.is_dictionary(dtype):
        return _plain(dtype.value_type)
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        return pa.string()
    if pa.types.is_large_binary(dtype) or pa.types.is_binary_view(dtype) or pa.types.is_fixed_size_binary(dtype):
        return pa.binary()
    if pa.types.is_large_list(dtype) or pa.types.is_fixed_size_list(dtype):
        return pa.list_(dtype.value_type)
    return dtype
