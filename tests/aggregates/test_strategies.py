"""Every aggregate of every type against plain Python: groups grow batch by batch, some finish, all are restored."""

import datetime
import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from punctuated.aggregates.accumulator import TIME
from punctuated.aggregates.strategies import STRATEGIES, Aggregates
from punctuated.aggregates.sums import WholeSums
from punctuated.errors import AggregateError
from punctuated.model.aggregate import AGGREGATES, SQL_NAMES, Aggregate, Takes
from punctuated.testing.reference_groups import FUNCTIONS, aggregate_of

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
    "mean": lambda known: mean(known) if known else None,
}


def mean(known: list[Any]) -> Any:
    exact = sum(map(Fraction, known), Fraction(0)) / len(known)
    return exact_decimal(exact, 6) if isinstance(known[0], Decimal) else float(exact)


def exact_decimal(number: Fraction, places: int) -> Decimal:
    """With so many places, rounded half up."""
    units = math.floor(abs(number) * 10**places + Fraction(1, 2))
    return Decimal(-units if number < 0 else units).scaleb(-places, Context(prec=100))


def functions_of(name: str) -> list[str]:
    taken = {Takes.ANYTHING: True, Takes.COMPARABLE: name != "nested", Takes.NUMBERS: name in NUMBERS}
    return [function for function, each in AGGREGATES.items() if taken[each.takes]]


def plain(function: str, values: list[Any]) -> Any:
    if function in ("first", "last"):
        return values[0 if function == "first" else -1]
    known = [value for value in values if value is not None]
    if function == "sum" and known and isinstance(known[0], float):
        return float(sum(map(Fraction, known)))
    return PLAIN[function](known) if function in PLAIN else aggregate_of(function, values)


def test_every_aggregate_of_the_table_is_known_everywhere() -> None:
    import punctuated as pt

    assert set(STRATEGIES) == set(FUNCTIONS) == set(AGGREGATES)
    for name, each in AGGREGATES.items():
        assert each.name == name and name in pt.__all__
        assert getattr(pt, name)("x") == Aggregate(name, "x")
        assert {SQL_NAMES[name], *(SQL_NAMES[synonym] for synonym in each.synonyms)} == {name}


def test_an_unknown_aggregate_is_refused() -> None:
    with pytest.raises(AggregateError, match="unknown aggregate 'mode_of'; known: count, sum, min"):
        Aggregate("mode_of", "x")
    with pytest.raises(AggregateError, match="sum needs a column of the results"):
        Aggregate("sum")


@pytest.mark.parametrize("name", COLUMNS)
def test_every_aggregate_of_a_type_equals_plain_python(name: str) -> None:
    column, random = COLUMNS[name], np.random.default_rng(3)
    asked = {function: Aggregate(function, "x") for function in functions_of(name)}
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
    d = pa.decimal128
    types = [  # of a column, its sum and its mean: those of Spark
        (pa.int8(), pa.int64(), pa.float64()),
        (pa.int64(), pa.int64(), pa.float64()),
        (pa.uint8(), pa.uint64(), pa.float64()),
        (pa.float16(), pa.float64(), pa.float64()),
        (pa.float32(), pa.float64(), pa.float64()),
        (d(10, 2), d(20, 2), d(14, 6)),
        (d(38, 2), d(38, 2), d(38, 6)),
        (d(36, 30), d(38, 30), d(38, 34)),
        (d(38, 38), d(38, 38), d(38, 38)),
        (pa.decimal32(7, 2), d(17, 2), d(11, 6)),
        (pa.decimal256(70, 2), pa.decimal256(76, 2), pa.decimal256(74, 6)),
    ]
    asked = {"s": Aggregate("sum", "x"), "m": Aggregate("mean", "x"), "n": Aggregate("count", "x")}
    for dtype, of_sum, of_mean in types:
        columns = Aggregates(pa.schema([("x", dtype)]), asked).finish(np.zeros(0, np.bool_))
        assert [columns["s"].type, columns["m"].type] == [of_sum, of_mean]


def of_one_group(column: pa.Array, *functions: str, parts: int = 1) -> list[Any]:
    """Aggregates of all values, which come in some parts."""
    asked = {function: Aggregate(function, "x") for function in functions}
    kept = Aggregates(pa.schema([("x", column.type)]), asked)
    for part in np.array_split(np.arange(len(column)), parts):
        kept.add(np.zeros(part.size, np.int64), 1, pa.table({"x": column.take(pa.array(part))}))
    return [values[0].as_py() for values in kept.finish(np.ones(1, np.bool_)).values()]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(
    ("dtype", "values", "total"),
    [
        (pa.int64(), [2**63 - 1, 2**63 - 1, -(2**63)], 2**63 - 2),
        (pa.int64(), [2**63 - 1, 0, 1], None),
        (pa.int64(), [-(2**63), 0, -1], None),
        (pa.int64(), [-(2**63), 1, -1], -(2**63)),
        (pa.uint64(), [2**64 - 1, 0, 0], 2**64 - 1),
        (pa.uint64(), [2**64 - 1, 0, 1], None),
        (pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1), Decimal(-1)], Decimal(10**38 - 1)),
        (pa.decimal128(38, 0), [Decimal(10**38 - 1), Decimal(1), Decimal(0)], None),
        (pa.decimal128(38, 0), [Decimal(1 - 10**38)] * 3, None),
        (pa.decimal128(3, 1), [Decimal("99.9")] * 3, Decimal("299.7")),
        (pa.decimal256(76, 0), [Decimal(10**76 - 1)] * 3, None),
        (pa.decimal256(76, 0), [Decimal(10**76 - 1), Decimal(1 - 10**76), Decimal(-7)], Decimal(-7)),
    ],
)
def test_a_sum_is_exact_or_null(dtype: pa.DataType, values: list[Any], total: Any, parts: int) -> None:
    column = pa.array(values, dtype)
    exact = sum(map(Fraction, values), Fraction(0)) / len(values)
    found_sum, found_mean = of_one_group(column, "sum", "mean", parts=parts)
    assert found_sum == total
    if pa.types.is_integer(dtype):
        assert found_mean == float(exact)
    elif abs(exact) < 10**30:
        assert found_mean == exact_decimal(exact, dtype.scale + 4)
    else:
        assert found_mean is None  # the type of the mean has less room before the point


def test_means_are_those_of_the_true_sum() -> None:
    microseconds = [1_700_000_000_000_000 + i for i in range(6)]
    assert of_one_group(pa.array(microseconds), "mean") == [1_700_000_000_000_002.5]
    assert of_one_group(pa.array([2**53 + 1, -(2**53), 1]), "mean") == [2 / 3]
    assert of_one_group(pa.array([Decimal("-0.01"), Decimal("-0.02"), Decimal("-0.02")]), "mean") == [
        Decimal("-0.016667")
    ]
    halves = pa.array([Decimal("0.0001"), Decimal(0)] + [Decimal(0)] * 14, pa.decimal128(38, 35))
    assert of_one_group(halves, "mean") == [Decimal("0.00000625")]


def test_more_values_than_a_word_counts() -> None:
    """A remainder of a division by so many does not fit beside the next limb."""
    sums = WholeSums("x", pa.decimal128(20, 0))
    sums.add(np.zeros(1, np.int64), 1, pa.table({"x": pa.array([Decimal(10**19)], pa.decimal128(20, 0))}))
    found = sums.divide(np.ones(1, np.bool_), np.array([3 * 2**32])).to_pylist()
    assert found == [exact_decimal(Fraction(10**19, 3 * 2**32), 4)]


def test_nan_is_above_all_numbers_and_both_zeros_are_one() -> None:
    nan = float("nan")
    low, high = of_one_group(pa.array([nan, 1.0, -np.inf, nan]), "min", "max")
    assert low == -np.inf and np.isnan(high)
    assert all(map(np.isnan, of_one_group(pa.array([nan, None, nan], pa.float32()), "min", "max")))
    assert of_one_group(pa.array([-np.inf, None]), "min", "max") == [-np.inf, -np.inf]
    assert list(map(repr, of_one_group(pa.array([-0.0, 0.0]), "min", "max"))) == ["0.0", "0.0"]
    assert list(map(repr, of_one_group(pa.array([0.0, -0.0]), "min", "max", parts=2))) == ["0.0", "0.0"]


def test_a_sum_and_a_mean_keep_one_sum() -> None:
    asked = {"s": Aggregate("sum", "x"), "m": Aggregate("mean", "x"), "n": Aggregate("count", "x")}
    assert set(Aggregates(pa.schema([("x", pa.float64())]), asked).save()) == {"sum of x", "count of x"}
    asked |= {"v": Aggregate("variance", "x"), "d": Aggregate("stddev", "x")}
    assert set(Aggregates(pa.schema([("x", pa.int8())]), asked).save()) == {"sum of x", "count of x", "squares of x"}
