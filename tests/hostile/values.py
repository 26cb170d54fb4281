"""Columns of every type with hostile values, in every encoding."""

import math
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_WORDS = [
    "",
    "a",
    "A",
    "ab",
    " a",
    "a ",
    "é",
    "e\u0301",
    "\U0001f600",
    "a,b",
    '"',
    "\\",
    "*",
    "<1,*>",
    "null",
    "\n",
    "x" * 300,
]
_FLOATS = [0.0, -0.0, 1.0, -1.5, math.nan, math.inf, -math.inf, 5e-324, 1.7e308, 0.1, 2.0**53]
_SMALL_FLOATS = [0.0, -0.0, 1.0, -1.5, math.nan, math.inf, -math.inf, 0.5]


def _integers(dtype: pa.DataType) -> list[int]:
    bits = dtype.bit_width
    if pa.types.is_signed_integer(dtype):
        return [0, 1, 2, 3, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 2]
    return [0, 1, 2, 3, 2**bits - 1, 2**bits - 2, 2 ** (bits - 1)]


_POOLS: dict[pa.DataType, list[Any]] = {
    **{dtype: _integers(dtype) for dtype in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{dtype: _integers(dtype) for dtype in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    pa.float64(): _FLOATS,
    pa.float32(): [*_SMALL_FLOATS, 3.4028234663852886e38],
    pa.float16(): _SMALL_FLOATS,
    pa.bool_(): [True, False],
    pa.string(): _WORDS,
    pa.large_string(): _WORDS,
    pa.binary(): [word.encode() for word in _WORDS] + [b"\xff\x00"],
    pa.large_binary(): [b"", b"\x00", b"\xff"],
    pa.binary(3): [b"abc", b"\x00\x00\x00", b"\xff\xff\xff"],
    pa.date32(): [date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)],
    pa.date64(): [date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31)],
    pa.time32("s"): [0, 1, 86399],
    pa.time32("ms"): [0, 1, 86_399_999],
    pa.time64("us"): [0, 1, 86_399_999_999],
    pa.time64("ns"): [0, 1, 86_399_999_999_999],
    pa.timestamp("s"): [0, 1, -1, 253402300799],
    pa.timestamp("ms"): [0, 1, -1, 1_000],
    pa.timestamp("us"): [0, 1, -1, 1_000_000, 2**60, -(2**60)],
    pa.timestamp("ns"): [0, 1_000, -1_000, 2**62],
    pa.timestamp("us", "UTC"): [0, 1, -1, 1_000_000],
    pa.timestamp("us", "Europe/Berlin"): [0, 1, -1],
    pa.duration("us"): [0, 1, -1, 2**62],
    pa.duration("s"): [timedelta(0), timedelta(seconds=-1), timedelta(days=9999)],
    pa.decimal128(5, 2): [Decimal("0.00"), Decimal("-1.50"), Decimal("999.99"), Decimal("-999.99")],
    pa.decimal128(38, 0): [Decimal("9" * 38), Decimal(0), Decimal("-" + "9" * 38)],
    pa.decimal256(60, 3): [Decimal("1.500"), Decimal(10) ** 50, Decimal(0)],
    pa.null(): [None],
    pa.struct([("a", pa.int64()), ("b", pa.string())]): [{"a": 1, "b": "x"}, {"a": 2, "b": ""}, {"a": 1, "b": "y"}],
    pa.struct([]): [{}],
    pa.list_(pa.int32()): [[], [1], [1, 2], [2, 1]],
    pa.large_list(pa.string()): [[], [""], ["a", "b"], ["a,b"]],
    pa.list_(pa.int8(), 2): [[0, 1], [1, 0]],
    pa.map_(pa.string(), pa.int64()): [[], [("a", 1)], [("a", 2)]],
    pa.month_day_nano_interval(): [(0, 0, 0), (1, 2, 3)],
}
TYPES = list(_POOLS)
KEY_TYPES = [pa.int64(), pa.string(), *TYPES]
TIME_TYPES = [pa.int64(), pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ms"), pa.int32()]
TIME_TYPES += [pa.timestamp("s"), pa.timestamp("ns"), pa.uint8(), pa.int8(), pa.uint64()]


def draw_pool(random: Random, dtype: pa.DataType) -> list[Any]:
    """A few values of a type."""
    return random.sample(_POOLS[dtype], min(len(_POOLS[dtype]), random.choice([1, 2, 2, 4, 4, 20])))


def draw_values(random: Random, dtype: pa.DataType, n: int, pool: list[Any] | None = None) -> pa.Array:
    """Values of a type, few different ones."""
    chosen = pool or draw_pool(random, dtype)
    share = random.choice([0.0, 0.0, 0.0, 0.1, 0.3] + [1.0] * (pool is None))
    return pa.array([None if random.random() < share else random.choice(chosen) for _ in range(n)], dtype)


def encoded(random: Random, values: pa.Array) -> pa.Array | pa.ChunkedArray:
    """The same values, packed in another way."""
    how = random.choice(["plain", "plain", "chunks", "slice", "dictionary", "runs", "view", "large"])
    dtype = values.type
    try:
        if how == "chunks":
            cut = random.randint(0, len(values))
            return pa.chunked_array([values.slice(0, cut), values.slice(0, 0), values.slice(cut)], dtype)
        if how == "slice":
            return pa.concat_arrays([values, values]).slice(len(values), len(values))
        if how == "dictionary":
            return values.dictionary_encode()
        if how == "runs":
            return pc.run_end_encode(values)
        if how == "view" and dtype in (pa.string(), pa.binary()):
            return values.cast(pa.string_view() if dtype == pa.string() else pa.binary_view())
        if how == "large" and dtype in (pa.string(), pa.binary()):
            return values.cast(pa.large_string() if dtype == pa.string() else pa.large_binary())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return values  # Arrow does not have this encoding for this type
    return values
