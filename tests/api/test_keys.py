"""Keys and payloads of every Arrow type give the same join as the plain numbers behind them."""

import datetime as dt
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
