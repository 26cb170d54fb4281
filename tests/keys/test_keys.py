"""Keys and payloads of every Arrow type give the same join as the plain numbers behind them."""

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import punctuated as pt

SCHEMES: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "int8": (pa.int8(), lambda i: i - 10),
    "uint64": (pa.uint64(), lambda i: 2**63 + i),
    "float64": (pa.float64(), lambda i: i / 3 - 2),
    "float32": (pa.float32(), lambda i: float(i)),
    "bool": (pa.bool_(), lambda i: i % 2 == 0),
    "date32": (pa.date32(), lambda i: dt.date(2024, 1, 1) + dt.timedelta(days=i)),
    "timestamp": (
        pa.timestamp("ms", "UTC"),
        lambda i: dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=i),
    ),
    "time": (pa.time64("us"), lambda i: dt.time(1, i)),
    "string": (pa.string(), lambda i: f"key {i}"),
    "large string": (pa.large_string(), lambda i: "x" * i),
    "binary": (pa.binary(), lambda i: bytes([i, 0, i])),
    "decimal": (pa.decimal128(20, 2), lambda i: Decimal(i) / 4),
    "fixed": (pa.binary(3), lambda i: bytes([i, 0, i])),
    "list": (pa.list_(pa.int64()), lambda i: [i] * (i % 3)),
    "struct": (pa.struct([("a", pa.int64()), ("b", pa.string())]), lambda i: {"a": i // 2, "b": f"{i % 2}"}),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), lambda i: f"key {i}"),
}


def numbers(seed: int, n: int = 300) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    random = np.random.default_rng(seed)
    return random.integers(0, 20, n), np.sort(random.integers(0, 2_000, n)), random.random(n) < 0.02


def tables(dtype: pa.DataType, make: Callable[[int], Any], seed: int) -> pa.Table:
    keys, ts, last = numbers(seed)
    made = [None if key == 19 else make(int(key)) for key in keys]
    values = pa.array(made, dtype.value_type if pa.types.is_dictionary(dtype) else dtype)
    column = values.dictionary_encode() if pa.types.is_dictionary(dtype) else values
    return pa.table({"k": column, "ts": ts, "row": np.arange(len(ts)), "last": last, "again": column})


def join(dtype: pa.DataType, make: Callable[[int], Any], how: str) -> pt.Join:
    streams = [
        pt.stream(tables(dtype, make, seed), name=name, key="k", time="ts", window=60, punctuations=pt.when("last"))
        for seed, name in ((1, "A"), (2, "B"))
    ]
    joined: pt.Join = pt.join(streams[0], streams[1], how=how)
    return joined


@pytest.mark.parametrize("how", ["inner", "full"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_key_type_joins_as_its_numbers_do(scheme: str, how: str) -> None:
    dtype, make = SCHEMES[scheme]
    same = [make(i) for i in range(20)]
    plain = join(pa.int64(), lambda i: same.index(make(i)), how)
    typed = join(dtype, make, how)

    def rows(joined: pt.Join) -> list[tuple[Any, ...]]:
        pairs = zip(joined.results["row_left"].to_pylist(), joined.results["row_right"].to_pylist(), strict=True)
        return sorted(pairs, key=repr)

    assert rows(typed) == rows(plain)
    assert sorted(typed.punctuations["ts"].to_pylist()) == sorted(plain.punctuations["ts"].to_pylist())
    assert len(typed.rejected) == len(plain.rejected)
    said = zip(typed.punctuations["k"].to_pylist(), typed.punctuations["ts"].to_pylist(), strict=True)
    expected = zip(plain.punctuations["k"].to_pylist(), plain.punctuations["ts"].to_pylist(), strict=True)
    assert sorted(said, key=repr) == sorted(((same[key], ts) for key, ts in expected), key=repr)


def test_composite_keys_keep_their_parts_apart() -> None:
    left = pa.table({"a": ["x", "xy", "x"], "b": ["yz", "z", None], "ts": [0, 0, 0], "l": [1, 2, 3]})
    right = pa.table({"c": ["xy", "x", "x"], "d": ["z", "yz", None], "at": [1, 1, 1], "r": [1, 2, 3]})
    joined = pt.join(
        pt.stream(left, name="A", key=["a", "b"], time="ts", window=5),
        pt.stream(right, name="B", key=["c", "d"], time="at", window=5),
    )
    assert sorted(zip(joined.results["l"].to_pylist(), joined.results["r"].to_pylist(), strict=True)) == [
        (1, 2),
        (2, 1),
    ]
    assert joined.results.column_names == ["a", "b", "ts", "l", "at", "r"]


def test_zeros_are_equal_and_nan_equals_nan() -> None:
    left = pa.table({"k": [0.0, float("nan"), 1.0], "ts": [0, 0, 0]})
    right = pa.table({"k": [-0.0, float("nan"), 2.0], "at": [0, 0, 0]})
    joined = pt.join(pt.stream(left, key="k", time="ts", window=0), pt.stream(right, key="k", time="at", window=0))
    assert len(joined.results) == 2


def test_keys_are_widened_as_spark_would() -> None:
    left = pa.table({"k": pa.array([1, 2], pa.int32()), "ts": [0, 0]})
    right = pa.table({"id": pa.array([2.0, 3.0]), "at": [0, 0]})
    joined = pt.join(pt.stream(left, key="k", time="ts", window=0), pt.stream(right, key="id", time="at", window=0))
    assert joined.results.to_pydict() == {"k": [2.0], "ts": [0], "at": [0]}


@pytest.mark.parametrize(
    ("pattern", "ended"),
    [
        ("<[b,d),*>", ["b", "c"]),
        ("<(,b],*>", ["a", "b"]),
        ("<(b,),*>", ["c", "d"]),
        ("<{a,d},*>", ["a", "d"]),
        ("<{},*>", []),
    ],
)
def test_ranges_and_lists_of_text_end_their_values(pattern: str, ended: list[str]) -> None:
    """The tuples of ended values come out unmatched at the punctuation, the others at the window's end."""
    waiting = pa.table({"k": ["a", "b", "c", "d"], "ts": [0, 0, 0, 0]})
    said = pa.table({"k": pa.array([None, "z"]), "at": [3, 50], "said": [pattern, None]})
    joined = pt.join(
        pt.stream(waiting, name="A", key="k", time="ts", window=10),
        pt.stream(said, name="B", key="k", time="at", window=10, punctuations=pt.rows_with("said")),
        how="left",
    )
    by_time = {
        row["k"]: row["_ts"] for row in joined.all.to_pylist() if row["_kind"] == "result" and row["ts"] is not None
    }
    assert sorted(key for key, ts in by_time.items() if ts == 3) == ended
    assert all(ts == 10 for key, ts in by_time.items() if key not in ended)


STRUCT = pa.struct([("a", pa.int64()), ("b", pa.int64())])
NESTED: dict[str, tuple[pa.DataType, list[Any]]] = {
    "struct": (
        STRUCT,
        [None, {"a": None, "b": None}, {"a": 1, "b": None}, {"a": 2, "b": None}, {"a": None, "b": 1}, {"a": 1, "b": 1}],
    ),
    "struct of struct": (
        pa.struct([("s", STRUCT), ("c", pa.int64())]),
        [{"s": None, "c": 1}, {"s": {"a": None, "b": None}, "c": 1}, {"s": {"a": 1, "b": None}, "c": None}],
    ),
    "struct of text": (
        pa.struct([("a", pa.string()), ("b", pa.string())]),
        [{"a": "", "b": None}, {"a": None, "b": ""}, {"a": "xy", "b": "z"}, {"a": "x", "b": "yz"}],
    ),
    "struct without fields": (pa.struct([]), [{}, None]),
    "list": (pa.list_(pa.int64()), [None, [], [None], [None, None], [0], [1, None], [None, 1], [1]]),
    "list of text": (
        pa.list_(pa.string()),
        [["a", "b"], ["ab"], ["a", "b", ""], ['a", "b'], ["a", None, "b"], ["1"], ["null"], [None]],
    ),
    "list of lists": (pa.list_(pa.list_(pa.int8())), [[], [None], [[]], [[], []], [[1], [2]], [[1, 2]], [[None]]]),
    "list of structs": (pa.list_(STRUCT), [[None], [{"a": None, "b": None}], [{"a": 1, "b": None}], []]),
    "fixed list": (pa.list_(pa.int32(), 2), [None, [1, 2], [1, None], [None, 2]]),
    "list view": (pa.list_view(pa.int32()), [None, [1, 2], [1], []]),
    "floats": (pa.list_(pa.float64()), [[0.0], [math.nan], [1.0], [math.inf], [None]]),
    "float struct": (pa.struct([("x", pa.float32())]), [{"x": 0.0}, {"x": math.nan}, {"x": None}]),
    "decimals": (pa.list_(pa.decimal128(9, 2)), [[Decimal("1.10")], [Decimal("1.11")], [None]]),
    "map": (
        pa.map_(pa.string(), pa.float64()),
        [None, [], [("a", None)], [("a", 0.0)], [("a", 1.0), ("b", 2.0)], [("a", 2.0), ("b", 1.0)], [("ab", 2.0)]],
    ),
}
OTHER_FORMS: dict[str, list[Any]] = {
    "floats": [[-0.0], [np.uint64(0xFFF8_0000_0000_0001).view(np.float64)]],
    "float struct": [{"x": -0.0}],
    "map": [[("b", 2.0), ("a", 1.0)], [("a", -0.0)]],
}


def keyed(dtype: pa.DataType, keys: list[Any], number: str) -> pa.Table:
    return pa.table({"k": pa.array(keys, dtype), "ts": [0] * len(keys), number: range(len(keys))})


@pytest.mark.parametrize("shape", NESTED)
@pytest.mark.parametrize("with_second", [False, True])
def test_a_nested_key_is_one_value_and_only_a_null_key_is_null(shape: str, with_second: bool) -> None:
    dtype, keys = NESTED[shape]
    left, right = keyed(dtype, keys, "l"), keyed(dtype, keys[::-1], "r")
    key = ["k"]
    if with_second:
        key = ["k", "same"]
        left, right = (table.append_column("same", pa.array(["x"] * len(keys))) for table in (left, right))
    streams = [pt.stream(table, name=n, key=key, time="ts", window=9) for table, n in ((left, "A"), (right, "B"))]
    results = pt.join(*streams).results
    pairs = sorted(zip(results["l"].to_pylist(), results["r"].to_pylist(), strict=True))
    assert pairs == [(i, len(keys) - 1 - i) for i, value in enumerate(keys) if value is not None]


@pytest.mark.parametrize("shape", OTHER_FORMS)
def test_equal_nested_values_of_another_form_are_one_key(shape: str) -> None:
    dtype, keys = NESTED[shape]
    others = OTHER_FORMS[shape]
    streams = [
        pt.stream(keyed(dtype, values, n), name=n, key="k", time="ts", window=9)
        for values, n in ((keys, "l"), (others, "r"))
    ]
    assert sorted(pt.join(*streams).results["r"].to_pylist()) == list(range(len(others)))


def test_what_is_declared_of_nulls_inside_a_key_does_not_count() -> None:
    repeated = pa.dictionary(pa.int8(), pa.string())
    strict = pa.struct([pa.field("a", pa.int64(), nullable=False), pa.field("b", repeated)])
    loose = pa.struct([("a", pa.int64()), ("b", pa.string())])
    keys = [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    streams = [
        pt.stream(keyed(dtype, keys, n), name=n, key="k", time="ts", window=9)
        for dtype, n in ((strict, "l"), (loose, "r"))
    ]
    assert sorted(pt.join(*streams).results["r"].to_pylist()) == [0, 1]


FAR = 3_000_000  # days: beyond the year 9999, with which Python's calendar ends
FAR_US = FAR * 86_400_000_000


@pytest.mark.parametrize(
    "column",
    [
        pa.array([0, FAR], pa.int32()).cast(pa.date32()),
        pa.array([0, FAR_US]).cast(pa.timestamp("us")),
        pa.StructArray.from_arrays([pa.array([0, FAR_US]).cast(pa.timestamp("us", "UTC"))], ["t"]),
    ],
    ids=lambda column: str(column.type),
)
def test_dates_beyond_the_calendar_of_python(column: pa.Array) -> None:
    tables = [pa.table({"k": column, name: [0, 0], "v": column}) for name in ("ts", "at")]
    late = [tables[0], tables[0].set_column(1, "ts", pa.array([-9, -8]))]
    joined = pt.join(
        pt.stream(late, name="A", key="k", time="ts", window=9, punctuations=pt.unique()),
        pt.stream(tables[1], name="B", key="k", time="at", window=9, punctuations=pt.unique()),
    )
    assert len(joined.results) == len(joined.punctuations) == len(joined.rejected) == 2
    assert len(joined.all) == 6
