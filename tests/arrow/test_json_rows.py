"""Rows as JSON: every text is valid, and says what plain Python says of the row."""

import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.arrow.json_rows import render_rows

COLUMNS: dict[str, tuple[pa.DataType, list[Any], list[Any]]] = {  # type, values, what JSON says of them
    "nothing": (pa.null(), [None], [None]),
    "bool": (pa.bool_(), [True, False, None], [True, False, None]),
    "int8": (pa.int8(), [-128, 127], [-128, 127]),
    "uint64": (pa.uint64(), [2**64 - 1, 0], [2**64 - 1, 0]),
    "double": (
        pa.float64(),
        [0.1, -0.0, 1e300, 5e-324, math.nan, math.inf, -math.inf, None],
        [0.1, -0.0, 1e300, 5e-324, "NaN", "Infinity", "-Infinity", None],
    ),
    "float": (pa.float32(), [0.5, math.nan], [0.5, "NaN"]),
    "half": (pa.float16(), [0.5, -math.inf], [0.5, "-Infinity"]),
    "text": (pa.string(), ["", 'say "hi"\\', "a\nb\t\x00\x1f\x7f", "ä😀", "nan"], None),  # type: ignore[dict-item]
    "large text": (pa.large_string(), ["a"], ["a"]),
    "text view": (pa.string_view(), ["a", None], ["a", None]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ['"', None], ['"', None]),
    "binary": (pa.binary(), [b"", b"\x00\xff", None, b"a"], ["", "00ff", None, "61"]),
    "fixed": (pa.binary(2), [b"\x00\xff", None], ["00ff", None]),
    "decimal": (pa.decimal128(20, 2), [Decimal("-1.10"), None], ["-1.10", None]),
    "date": (pa.date32(), [dt.date(2024, 2, 29)], ["2024-02-29"]),
    "time": (pa.time64("us"), [dt.time(1, 2, 3), dt.time(1, 2, 3, 4)], ["01:02:03", "01:02:03.000004"]),
    "local": (
        pa.timestamp("ms"),
        [dt.datetime(2024, 2, 29, 1, 2, 3, 456_000), dt.datetime(1960, 1, 1)],
        ["2024-02-29T01:02:03.456", "1960-01-01T00:00:00"],
    ),
    "moment": (
        pa.timestamp("us", "Europe/Berlin"),
        [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)],
        ["2024-01-01T00:00:00+00:00"],
    ),
    "no date": (pa.timestamp("us"), [2**62], ["4611686018427387904"]),
    "duration": (pa.duration("s"), [dt.timedelta(days=-1)], ["-86400 s"]),
    "interval": (pa.month_day_nano_interval(), [(1, 2, 3)], ["MonthDayNano(months=1, days=2, nanoseconds=3)"]),
    "list": (pa.list_(pa.float64()), [None, [], [None, math.nan], [0.5]], [None, [], [None, "NaN"], [0.5]]),
    "fixed list": (pa.list_(pa.string(), 1), [["]"], None], [["]"], None]),
    "list view": (pa.list_view(pa.int8()), [None, [1, 2]], [None, [1, 2]]),
    "struct": (
        pa.struct([('a"', pa.string()), ("b", pa.list_(pa.int8()))]),
        [None, {'a"': None, "b": [1]}],
        [None, {'a"': None, "b": [1]}],
    ),
    "empty struct": (pa.struct([]), [{}, None], [{}, None]),
    "map": (pa.map_(pa.string(), pa.int8()), [[("x", 1), ("y", None)], None, []], [[["x", 1], ["y", None]], None, []]),
}


def strict(text: str) -> Any:
    """JSON and nothing else."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("name", COLUMNS)
def test_values_of_every_type(name: str) -> None:
    dtype, values, wanted = COLUMNS[name]
    column = pa.array(values, dtype)
    table = pa.table({'the "x"': column, "n": range(len(values))})
    for rows in (table, pa.concat_tables([table.slice(0, 1), table.slice(1)]), table.slice(1)):
        first = len(table) - len(rows)
        expected = [{'the "x"': value, "n": n} for n, value in enumerate(wanted or values)]
        assert [strict(text) for text in render_rows(rows).to_pylist()] == expected[first:]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.lists(st.binary()), st.lists(st.floats()))
def test_any_text_bytes_and_numbers(texts: list[str], bits: list[bytes], numbers: list[float]) -> None:
    assert read_back(pa.array(texts, pa.string())) == texts
    assert [bytes.fromhex(each) for each in read_back(pa.array(bits, pa.binary()))] == bits
    np.testing.assert_array_equal([float(each) for each in read_back(pa.array(numbers, pa.float64()))], numbers)


def read_back(column: pa.Array) -> list[Any]:
    return [strict(text)["x"] for text in render_rows(pa.table({"x": column})).to_pylist()]


def test_no_rows() -> None:
    assert render_rows(pa.table({"x": pa.nulls(0, pa.binary())})).to_pylist() == []
