"""Every aggregate of every type against plain Python: groups grow batch by batch, some finish, all are restored."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from punctuated.join.output.aggregates.accumulator import TIME
from punctuated.join.output.aggregates.strategies import Aggregates
from punctuated.model.aggregate import Aggregate

COLUMNS = {
    "int8": pa.array([-128, 127, None, 5, 0], pa.int8()),
    "int32": pa.array([-(2**31), 2**31 - 1, None, 7], pa.int32()),
    "int64": pa.array([-(2**50), 2**50 - 1, None, 1, 2], pa.int64()),
    "uint8": pa.array([0, 255, None, 3], pa.uint8()),
    "uint64": pa.array([2**50, 0, None, 9], pa.uint64()),
    "float16": pa.array([0.5, -2.0, None], pa.float16()),
    "float32": pa.array([0.5, -2.25, None, 1e10], pa.float32()),
    "float64": pa.array([0.1, 0.2, None, 1e17, -1e17], pa.float64()),
    "decimal": pa.array([Decimal("0.25"), None, Decimal("-12345678.50")], pa.decimal128(10, 2)),
    "bool": pa.array([True, None, False]),
    "text": pa.array(["b", None, "", "äa"]),
    "date": pa.array([datetime.date(2020, 1, 1), None, datetime.date(1960, 5, 5)]),
    "time": pa.array([datetime.datetime(2020, 1, 1), None, datetime.datetime(1960, 5, 5)], pa.timestamp("us")),
    "nothing": pa.array([None, None], pa.float64()),
    "nested": pa.array([{"a": 1}, None, {"a": 2}]),
}
NUMBERS = ("int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "decimal", "nothing")
PLAIN: dict[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "sum": lambda known: sum(known[1:], known[0]) if known else None,
    "min": lambda known: min(known, default=None),
    "max": lambda known: max(known, default=None),
    "mean": lambda known: float(sum(map(Fraction, known)) / len(known)) if known else None,
}


def functions_of(name: str) -> list[str]:
    if name == "nested":
        return ["count", "first", "last"]
    return [*(("sum", "mean") if name in NUMBERS else ()), "count", "min", "max", "first", "last"]


def plain(function: str, values: list[Any]) -> Any:
    if function in ("first", "last"):
        return values[0 if function == "first" else -1]
    known = [value for value in values if value is not None]
    if function == "sum" and known and isinstance(known[0], float):
        return float(sum(map(Fraction, known)))
    return PLAIN[function](known)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_aggregate_of_a_type_equals_plain_python(name: str) -> None:
    column, random = COLUMNS[name], np.random.default_rng(3)
    asked = {function: Aggregate(function, "x") for function in functions_of(name)}  # type: ignore[arg-type]
    schema = pa.schema([("x", column.type)])
    kept, members, clock = Aggregates(schema, asked), list[list[Any]](), 0
    for _ in range(12):
        values = column.take(pa.array(random.integers(0, len(column), 7)))
        numbers = []
        for value in values.to_pylist():
            numbers.append(min(int(random.integers(0, 6)), len(members)))
            members += [[]] if numbers[-1] == len(members) else []
            members[numbers[-1]].append(value)
        kept.add(np.array(numbers), len(members), pa.table({"x": values, TIME: np.arange(clock, clock + 7)}))
        clock += 7
        saved, kept = kept.save(), Aggregates(schema, asked)
        kept.load(saved)
        final = random.random(len(members)) < 0.3
        found = {function: pa.array(values).to_pylist() for function, values in kept.finish(final).items()}
        wanted = [rows for rows, is_final in zip(members, final, strict=True) if is_final]
        assert found == {function: [plain(function, rows) for rows in wanted] for function in asked}
        kept.keep(~final)
        members = [rows for rows, is_final in zip(members, final, strict=True) if not is_final]


def test_types_of_totals() -> None:
    types = {"int8": pa.int64(), "uint8": pa.uint64(), "float16": pa.float64(), "float32": pa.float64()}
    for name, dtype in types.items():
        schema = pa.schema([("x", COLUMNS[name].type)])
        asked = {"s": Aggregate("sum", "x"), "l": Aggregate("max", "x"), "m": Aggregate("mean", "x")}
        columns = Aggregates(schema, asked).finish(np.zeros(0, np.bool_))
        assert [columns[each].type for each in "slm"] == [dtype, COLUMNS[name].type, pa.float64()]


def test_nan_is_an_extreme_only_where_there_is_nothing_else() -> None:
    asked = {"low": Aggregate("min", "x"), "high": Aggregate("max", "x")}
    kept = Aggregates(pa.schema([("x", pa.float64())]), asked)
    values = pa.array([float("nan"), 1.0, float("nan"), -1.0, float("nan")])
    kept.add(np.array([0, 0, 0, 0, 1]), 2, pa.table({"x": values}))
    columns = kept.finish(np.ones(2, np.bool_))
    assert [columns[name][0].as_py() for name in asked] == [-1.0, 1.0]
    assert all(np.isnan(columns[name][1].as_py()) for name in asked)


def test_a_sum_and_a_mean_keep_one_sum() -> None:
    asked = {"s": Aggregate("sum", "x"), "m": Aggregate("mean", "x"), "n": Aggregate("count", "x")}
    assert set(Aggregates(pa.schema([("x", pa.float64())]), asked).save()) == {"sum of x", "count of x"}
