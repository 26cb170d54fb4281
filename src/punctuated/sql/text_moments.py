"""Moments in text files: with an offset or without one, which then is UTC, as in the sessions of `punctuated run`."""

import pyarrow as pa
import pyarrow.compute as pc

_OFFSET = r"(Z|[+-]\d\d(:?\d\d)?)$"
_PLAIN = pa.timestamp("us")


def as_text(columns: pa.Schema) -> pa.Schema:
    """The columns as they are read: moments as text, for Arrow wants an offset in each of them or in none."""
    return pa.schema(pa.field(each.name, pa.string() if _is_instant(each.type) else each.type) for each in columns)


def with_moments(table: pa.Table, columns: pa.Schema) -> pa.Table:
    """What was read so, moments as such."""
    for place, field in enumerate(columns):
        if _is_instant(field.type) and pa.types.is_string(table.schema.field(place).type):
            table = table.set_column(place, field, _moments(table.column(place)).cast(field.type))
    return table


def _is_instant(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(dtype) and dtype.tz is not None)


def _moments(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    has_offset, nothing = pc.match_substring_regex(texts, _OFFSET), pa.scalar(None, pa.string())
    placed = pc.if_else(has_offset, texts, nothing).cast(pa.timestamp("us", "UTC"))
    plain = pc.if_else(has_offset, nothing, texts).cast(_PLAIN)
    return pc.coalesce(placed, pc.assume_timezone(plain, "UTC"))
