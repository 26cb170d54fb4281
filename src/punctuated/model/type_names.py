"""Types by name: those of Arrow, and those of SQL."""

import re

import pyarrow as pa

from punctuated.errors import PredicateError

_OF_SQL = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "float": pa.float32(),
    "double": pa.float64(),
    "text": pa.string(),
    "varchar": pa.string(),
    "char": pa.string(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "decimal": pa.decimal128(10, 0),
}
_DECIMAL = re.compile(r"(?:decimal|numeric)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")


def named_type(given: pa.DataType | str) -> pa.DataType:
    """A type of Arrow, or the one of this name.

    >>> named_type("bigint"), named_type("decimal(10, 2)"), named_type("timestamp[ms]")
    (DataType(int64), Decimal128Type(decimal128(10, 2)), TimestampType(timestamp[ms]))
    """
    if isinstance(given, pa.DataType):
        return given
    name = str(given).strip().lower()
    try:
        digits = _DECIMAL.fullmatch(name)
        if digits is not None:
            return pa.decimal128(int(digits[1]), int(digits[2] or 0))
        return _OF_SQL[name] if name in _OF_SQL else pa.type_for_alias(name)
    except ValueError:
        raise PredicateError(
            f"cast({given!r}): there is no such type; give one of Arrow's, or one of {', '.join(_OF_SQL)}"
        ) from None
