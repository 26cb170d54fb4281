"""Types of columns as a script writes them, in Arrow's terms: those of Spark's SQL and their common other names."""

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from punctuated.errors import ColumnError

_T = exp.DataType.Type
_INSTANT = pa.timestamp("us", tz="UTC")
_PLAIN = {
    _T.BOOLEAN: pa.bool_(),
    _T.TINYINT: pa.int8(),
    _T.SMALLINT: pa.int16(),
    _T.INT: pa.int32(),
    _T.BIGINT: pa.int64(),
    _T.FLOAT: pa.float32(),
    _T.DOUBLE: pa.float64(),
    _T.TEXT: pa.string(),
    _T.VARCHAR: pa.string(),
    _T.CHAR: pa.string(),
    _T.BINARY: pa.binary(),
    _T.DATE: pa.date32(),
    _T.TIMESTAMP: _INSTANT,
    _T.TIMESTAMPTZ: _INSTANT,
    _T.TIMESTAMPLTZ: _INSTANT,
    _T.TIMESTAMPNTZ: pa.timestamp("us"),
}
_PRECISION, _SCALE = 10, 0  # of a decimal that says nothing, as in Spark


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a type of SQL.

    >>> arrow_type("BIGINT"), arrow_type("decimal(12, 2)"), arrow_type("array<string>")
    (DataType(int64), Decimal128Type(decimal128(12, 2)), ListType(list<item: string>))
    """
    try:
        return _arrow_type(exp.DataType.build(text, dialect="spark"))
    except (SqlglotError, KeyError, ValueError) as error:
        raise ColumnError(
            f"{text} is no type of a column; types are BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, "
            "DECIMAL(p, s), STRING, BINARY, DATE, TIMESTAMP, TIMESTAMP_NTZ, ARRAY<…>, MAP<…, …> and STRUCT<name: …>"
        ) from error


def schema_of(columns: tuple[tuple[str, str], ...]) -> pa.Schema:
    """The columns of a stream, by their names and types."""
    return pa.schema([(name, arrow_type(text)) for name, text in columns])


def _arrow_type(tree: exp.DataType) -> pa.DataType:
    inner = tree.expressions
    if tree.this is _T.DECIMAL:
        sizes = [int(each.name) for each in inner]
        return pa.decimal128(*(sizes + [_PRECISION, _SCALE][len(sizes) :]))
    if tree.this is _T.ARRAY:
        return pa.list_(_arrow_type(inner[0]))
    if tree.this is _T.MAP:
        return pa.map_(*map(_arrow_type, inner))
    if tree.this is _T.STRUCT:
        return pa.struct([(each.name, _arrow_type(each.args["kind"])) for each in inner])
    return _PLAIN[tree.this]
