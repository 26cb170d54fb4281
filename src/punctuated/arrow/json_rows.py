"""Rows as JSON, one column at a time: Arrow builds the texts, and no value becomes a Python object.

Values that JSON does not have become text: NaN and infinities, decimals, dates and times in ISO form (moments in UTC),
bytes as hexadecimal digits. A map is a list of pairs.
"""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.buffers import byte_data, byte_offsets, list_ends, with_nulls
from punctuated.arrow.types import decoded, is_bytes, is_text

_TEXT = pa.large_string()
_LARGEST = 32 << 20  # bytes of rows that are rendered at a time
_SPECIAL = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_ESCAPED = {chr(code): _SPECIAL.get(chr(code), f"\\u{code:04x}") for code in (*range(32), ord('"'))}
_NO_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_HEX_DIGITS = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), np.uint16)


def render_rows(table: pa.Table) -> pa.ChunkedArray:
    """Each row as the text of a JSON object.

    >>> render_rows(pa.table({"k": [1, None], "x": [float("nan"), 0.5]})).to_pylist()
    ['{"k": 1, "x": "NaN"}', '{"k": null, "x": 0.5}']
    """
    n_rows = max(1, len(table) * _LARGEST // max(1, table.nbytes))
    parts = [table.slice(start, n_rows) for start in range(0, len(table), n_rows)]
    return pa.chunked_array([_render_objects(part).cast(pa.string()) for part in parts], pa.string())


def _render_objects(table: pa.Table) -> pa.Array:
    columns = [column.combine_chunks() for column in table.columns]
    return _objects(table.column_names, columns, len(table))


def render_values(column: pa.Array) -> pa.Array:
    """Each value as JSON."""
    texts = _texts(column)
    return pc.fill_null(texts, "null") if texts.null_count else texts


def _texts(column: pa.Array) -> pa.Array:
    """Each value as JSON, null where it is null."""
    column = decoded(column)
    kind, dtype = pa.types, column.type
    if kind.is_null(dtype):
        return pa.nulls(len(column), _TEXT)
    if kind.is_boolean(dtype) or kind.is_integer(dtype):
        return column.cast(_TEXT)
    if kind.is_floating(dtype):
        return _numbers(column.cast(_TEXT))
    if is_text(dtype):
        return _quoted(_escaped(column.cast(_TEXT)))
    if kind.is_nested(dtype) and not kind.is_union(dtype):
        return _nested(column)
    return _quoted(_plain_text(column))


def _plain_text(column: pa.Array) -> pa.Array:
    """Each value of a type without text as a text without quotes."""
    kind, dtype = pa.types, column.type
    if is_bytes(dtype):
        return _hexadecimal(column if kind.is_large_binary(dtype) else column.cast(pa.binary()))
    if kind.is_timestamp(dtype):
        local = column.cast(pa.timestamp(dtype.unit)) if dtype.tz is not None else column
        iso = pc.replace_substring(_in_range(local.cast(_TEXT)), " ", "T")
        return _concatenated(iso, "+00:00") if dtype.tz is not None else iso
    if kind.is_date(dtype) or kind.is_time(dtype):
        return _in_range(column.cast(_TEXT))
    if kind.is_duration(dtype):
        return _concatenated(column.cast(pa.int64()).cast(_TEXT), f" {dtype.unit}")
    if kind.is_decimal(dtype):
        return column.cast(_TEXT)
    return _escaped(pa.array([None if value is None else str(value) for value in column.to_pylist()], _TEXT))


def _in_range(texts: pa.Array) -> pa.Array:
    """Times without fractions that are zero; for a time that no calendar has, Arrow gives its number."""
    whole = pc.replace_substring_regex(texts, r"\.0+$", "")
    return pc.replace_substring_regex(whole, r"^<value out of range: (-?[0-9]+)>$", r"\1")


def _numbers(texts: pa.Array) -> pa.Array:
    """Texts of numbers, those in quotes that are no numbers for JSON."""
    is_none = pc.is_in(texts, pa.array(list(_NO_NUMBERS), _TEXT))
    if not pc.any(is_none).as_py():
        return texts
    for found, name in _NO_NUMBERS.items():
        texts = pc.if_else(pc.equal(texts, found), pa.scalar(f'"{name}"', _TEXT), texts)
    return texts


def _escaped(texts: pa.Array) -> pa.Array:
    if not pc.any(pc.match_substring_regex(texts, r'[\x00-\x1f"\\]')).as_py():
        return texts
    texts = pc.replace_substring(texts, "\\", _SPECIAL["\\"])  # first, because all others add new ones
    for char, escape in _ESCAPED.items():
        if pc.any(pc.match_substring(texts, char)).as_py():
            texts = pc.replace_substring(texts, char, escape)
    return texts


def _quoted(texts: pa.Array) -> pa.Array:
    return _concatenated('"', texts, '"')


def _hexadecimal(column: pa.Array) -> pa.Array:
    """Bytes as texts of two digits for each byte."""
    wide = column.cast(pa.large_binary())
    offsets = byte_offsets(wide)
    digits = _HEX_DIGITS[byte_data(wide)[offsets[0] : offsets[-1]]]
    text_offsets = 2 * (offsets - offsets[0])
    texts = pa.Array.from_buffers(_TEXT, len(wide), [None, pa.py_buffer(text_offsets), pa.py_buffer(digits)])
    return with_nulls(texts, column)


def _nested(column: pa.Array) -> pa.Array:
    dtype = column.type
    if pa.types.is_struct(dtype):
        names = [dtype.field(i).name for i in range(dtype.num_fields)]
        return with_nulls(_objects(names, column.flatten(), len(column)), column)
    if pa.types.is_map(dtype):
        entry = pa.struct([("key", dtype.key_type), ("value", dtype.item_type)])
        column = column.cast(pa.large_list(entry))
        key, value = (render_values(part) for part in column.flatten().flatten())
        elements = _concatenated("[", key, ", ", value, "]")
    else:
        elements = render_values(column.flatten())
    lists = pa.LargeListArray.from_arrays(pa.array(list_ends(column)), elements)
    joined = pc.binary_join(lists, pa.scalar(", ", _TEXT))
    return with_nulls(_concatenated("[", joined, "]"), column)


def _objects(names: list[str], columns: list[pa.Array], n: int) -> pa.Array:
    if not names:
        return pa.array(["{}"], _TEXT).take(pa.array(np.zeros(n, np.int64)))
    pieces: list[Any] = []
    for name, column in zip(names, columns, strict=True):
        before = ", " if pieces else "{"
        pieces += [f"{before}{json.dumps(name, ensure_ascii=False)}: ", render_values(column)]
    return _concatenated(*pieces, "}")


def _concatenated(*pieces: Any) -> pa.Array:
    """Texts joined row by row, null where one of them is null."""
    texts = [pa.scalar(piece, _TEXT) if isinstance(piece, str) else piece for piece in pieces]
    return pc.binary_join_element_wise(*texts, pa.scalar("", _TEXT))
