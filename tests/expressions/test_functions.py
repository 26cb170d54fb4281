"""Functions of expressions on small columns: what SQL says, nulls and values that cannot be included."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.errors import PredicateError
from punctuated.expressions.evaluate import column_of, result_type
from punctuated.expressions.functions import FUNCTIONS, SYNONYMS
from punctuated.expressions.nodes import Expression, Literal

MOMENT = datetime(2024, 2, 29, 13, 45, 7, 250_000)
TABLE = pa.table(
    {
        "i": pa.array([7, -7, 0, None], pa.int64()),
        "d": pa.array([2.5, -2.5, 0.0, None], pa.float64()),
        "s": pa.array(["Añb", " x ", "", None], pa.string()),
        "t": pa.array([MOMENT, datetime(1969, 12, 31), MOMENT, None], pa.timestamp("us")),
        "b": pa.array([True, False, True, None], pa.bool_()),
        "m": pa.array([3, 2, 0, 1], pa.int64()),
    }
)
i, d, s, t, b, m = (pt.column(name) for name in TABLE.column_names)


def values(expression: Expression, table: pa.Table = TABLE) -> list[Any]:
    found = column_of(expression, table, result_type(expression, table.schema))
    assert found.type == result_type(expression, table.schema)
    return list(found.to_pylist())


CASES: list[tuple[Expression, list[Any]]] = [
    (pt.call("abs", i), [7, 7, 0, None]),
    (pt.call("ceil", d), [3.0, -2.0, 0.0, None]),
    (pt.call("ceil", i), [7, -7, 0, None]),
    (pt.call("floor", d), [2.0, -3.0, 0.0, None]),
    (pt.call("round", d), [3.0, -3.0, 0.0, None]),
    (pt.call("round", d * 1.5, 1), [3.8, -3.8, 0.0, None]),
    (pt.call("round", d, None), [None] * 4),
    (pt.call("sqrt", m), [3**0.5, 2**0.5, 0.0, 1.0]),
    (pt.call("sqrt", i), [7**0.5, None, 0.0, None]),
    (pt.call("power", m, 2), [9.0, 4.0, 0.0, 1.0]),
    (pt.call("exp", d * 0), [1.0, 1.0, 1.0, None]),
    (pt.call("ln", m), [pytest.approx(1.0986122886681098), pytest.approx(0.6931471805599453), None, 0.0]),
    (pt.call("log10", m * 0 + 100), [2.0] * 4),
    (pt.call("sign", i), [1, -1, 0, None]),
    (pt.call("mod", i, m), [1, -1, None, None]),
    (pt.call("mod", d, 2), [0.5, -0.5, 0.0, None]),
    (pt.call("mod", i, None), [None] * 4),
    (pt.call("divide", i, m), [pytest.approx(7 / 3), -3.5, None, None]),
    (i / m, [2, -3, None, None]),
    (pt.call("greatest", i, m, None), [7, 2, 0, 1]),
    (pt.call("least", i, d), [2.5, -7.0, 0.0, None]),
    (pt.call("coalesce", None, i, m), [7, -7, 0, 1]),
    (pt.call("coalesce", None), [None] * 4),
    (pt.call("nullif", i, 0), [7, -7, None, None]),
    (pt.call("if", b, i, m), [7, 2, 0, 1]),
    (pt.call("in", i, 7, 0), [True, False, True, None]),
    (pt.call("in", i, *range(2000)), [True, False, True, None]),
    (pt.call("in", i, 7, None), [True, None, None, None]),
    (pt.call("in", i, m, 7.0), [True, False, True, None]),
    (pt.call("in", s, "x", ""), [False, False, True, None]),
    (pt.call("upper", s), ["AÑB", " X ", "", None]),
    (pt.call("lower", s), ["añb", " x ", "", None]),
    (pt.call("length", s), [3, 3, 0, None]),
    (pt.call("trim", s), ["Añb", "x", "", None]),
    (pt.call("ltrim", s), ["Añb", "x ", "", None]),
    (pt.call("rtrim", s, "b "), ["Añ", " x", "", None]),
    (pt.call("substring", s, 2), ["ñb", "x ", "", None]),
    (pt.call("substring", s, 2, 1), ["ñ", "x", "", None]),
    (pt.call("substring", s, 0, 2), ["A", " ", "", None]),
    (pt.call("substring", s, -2, 1), ["ñ", "x", "", None]),
    (pt.call("replace", s, "x", "yy"), ["Añb", " yy ", "", None]),
    (pt.call("replace", s, "", "yy"), ["Añb", " x ", "", None]),
    (pt.call("concat", s, "-", i), ["Añb-7", " x --7", "-0", None]),
    (pt.call("concat", s.cast(pa.large_string()), "-"), ["Añb-", " x -", "-", None]),
    (pt.call("starts_with", s, "A"), [True, False, False, None]),
    (pt.call("ends_with", s, "b"), [True, False, False, None]),
    (pt.call("like", s, "a%b"), [False, False, False, None]),
    (pt.call("ilike", s, "a%b"), [True, False, False, None]),
    (pt.call("like", s, None), [None] * 4),
    (pt.call("regexp_like", s, "^A.b$"), [True, False, False, None]),
    (pt.call("year", t), [2024, 1969, 2024, None]),
    (pt.call("quarter", t), [1, 4, 1, None]),
    (pt.call("month", t), [2, 12, 2, None]),
    (pt.call("day", t), [29, 31, 29, None]),
    (pt.call("hour", t), [13, 0, 13, None]),
    (pt.call("hour", t.cast("date")), [0, 0, 0, None]),
    (pt.call("minute", t), [45, 0, 45, None]),
    (pt.call("second", t), [7, 0, 7, None]),
    (pt.call("dayofweek", t), [5, 4, 5, None]),  # Thursday, Wednesday
    (
        pt.call("date_trunc", "HOUR", t),
        [datetime(2024, 2, 29, 13), datetime(1969, 12, 31), datetime(2024, 2, 29, 13), None],
    ),
    (pt.call("date", t), [date(2024, 2, 29), date(1969, 12, 31), date(2024, 2, 29), None]),
    (
        pt.call("epoch", t),
        [MOMENT.replace(tzinfo=UTC).timestamp(), -86_400.0, MOMENT.replace(tzinfo=UTC).timestamp(), None],
    ),
    (pt.case((i > 0, "up"), (i < 0, s)), ["up", " x ", None, None]),
    (pt.case((b, 1), otherwise=2.5), [1.0, 2.5, 1.0, 2.5]),
    (s.cast("double"), [None] * 4),
    (d.cast("bigint"), [2, -2, 0, None]),
    (Literal(None) == i, [None] * 4),
    (pt.column("b") & Literal(None), [None, False, None, None]),
    (~Literal(None) | b, [True, None, True, None]),
    (Literal(5), [5] * 4),
]


@pytest.mark.parametrize(
    ("expression", "expected"), CASES, ids=lambda each: repr(each) if isinstance(each, Expression) else ""
)
def test_what_a_function_gives(expression: Expression, expected: list[Any]) -> None:
    assert values(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"), CASES, ids=lambda each: repr(each) if isinstance(each, Expression) else ""
)
def test_a_row_does_not_depend_on_those_beside_it(expression: Expression, expected: list[Any]) -> None:
    alone = [values(expression, TABLE.slice(place, 1))[0] for place in range(len(TABLE))]
    assert alone == expected
    assert values(expression, TABLE.slice(0, 0)) == []


def test_every_name_is_a_function() -> None:
    assert all(callable(each.compute) for each in FUNCTIONS.values())
    assert all(FUNCTIONS[name].name == name and name not in SYNONYMS for name in FUNCTIONS)


def test_a_cast_is_null_where_a_value_does_not_fit() -> None:
    table = pa.table({"s": ["12", " 3 ", "x", "1e3", "2.5", None], "d": [1.9, float("nan"), 1e30, -1.9, 0.0, None]})
    assert values(pt.column("s").cast("bigint"), table) == [12, 3, None, None, None, None]
    assert values(pt.column("s").cast("double"), table) == [12.0, 3.0, None, 1000.0, 2.5, None]
    assert values(pt.column("d").cast(pa.int64()), table) == [1, None, None, -1, 0, None]
    moments = pa.table({"s": ["2024-02-29", " 2024-02-29 10:00:00", "nonsense"]})
    assert values(pt.column("s").cast("timestamp"), moments) == [datetime(2024, 2, 29), datetime(2024, 2, 29, 10), None]


def test_decimals_are_rounded_halves_away_from_zero() -> None:
    decimals = pa.array([Decimal("1.25"), Decimal("-2.25"), Decimal("99.95"), None], pa.decimal128(4, 2))
    table = pa.table({"c": decimals, "s": ["1.25", "-2.25", "99.95", None], "d": [1.25, -2.25, 99.95, None]})
    for name in table.column_names:
        rounded = values(pt.column(name).cast("decimal(4, 1)"), table)
        assert rounded == [Decimal("1.3"), Decimal("-2.3"), Decimal("100.0"), None]
    assert values(pt.column("c").cast("decimal(2, 0)"), table) == [1, -2, None, None]
    assert values(i.cast("decimal(3, 2)")) == [7, -7, 0, None]
    assert values((i * 10).cast("decimal(3, 2)")) == [None, None, 0, None]
    assert values(pt.call("round", pt.column("c")), table) == [1, -2, 100, None]
    assert values(pt.call("ceil", pt.column("c")), table) == [2, -2, 100, None]
    assert values(pt.call("floor", pt.column("c")), table) == [1, -3, 99, None]


def test_large_integers_beside_doubles_are_rounded() -> None:
    table = pa.table({"i": [2**62 + 1, 3], "d": [0.5, 0.5]})
    large, half = pt.column("i"), pt.column("d")
    assert values(large > half, table) == [True, True]
    assert values(large + half, table) == [2.0**62, 3.5]
    assert values(pt.call("divide", large, 2), table) == [2.0**61, 1.5]
    assert values(large.cast("double"), table) == [2.0**62, 3.0]
    for chosen in (
        pt.call("greatest", large, half),
        pt.call("coalesce", large, half),
        pt.call("if", True, large, half),
    ):
        assert values(chosen, table) == [2.0**62, 3.0]
    assert values(pt.case((half > 0, large), otherwise=half), table) == [2.0**62, 3.0]


def test_fields_of_structs() -> None:
    table = pa.table({"p": [{"x": 1, "y": "a"}, {"x": None, "y": "b"}, None]})
    assert values(pt.call("field", pt.column("p"), "x"), table) == [1, None, None]
    assert values(pt.call("field", pt.column("p"), "y"), table) == ["a", "b", None]
    with pytest.raises(PredicateError, match="there is no field 'z'; there are: x, y"):
        result_type(pt.call("field", pt.column("p"), "z"), table.schema)


def test_a_sum_beyond_its_type_is_null_in_a_column_but_exact_in_a_comparison() -> None:
    table = pa.table({"i": [2**63 - 1, 1]})
    assert values(pt.column("i") + 1, table) == [None, 2]
    assert values(pt.column("i") + 1 > 2**62, table) == [True, False]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("uper", ["x"], "no function 'uper'; did you mean 'upper'"),
        ("xyzzy", ["x"], "known: abs, "),
        ("abs", [], "abs takes 1 argument, not 0"),
        ("round", [1, 2, 3], "takes 1 to 2"),
        ("in", [1], "takes 2 or more"),
        ("upper", [i], r"cannot evaluate upper\(i\)"),
        ("substring", [s, i], "give the first place as a value"),
        ("substring", [s, 1.5], "give a whole number"),
        ("substring", [s, 1, -1], "give 0 or more"),
        ("like", [s, s], "give the pattern as a value"),
        ("like", [s, 1], "give a text"),
        ("date_trunc", ["fortnight", t], "give one of year, "),
        ("year", [i], r"cannot evaluate year\(i\)"),
        ("if", [i, 1, 2], "cannot evaluate if"),
        ("field", [i, "x"], "has no fields"),
        ("concat", [s.cast("binary"), s], "bytes are no text"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_built(function: str, arguments: list[Any], message: str) -> None:
    with pytest.raises(PredicateError, match=message):
        result_type(pt.call(function, *arguments), TABLE.schema)


def test_other_bad_spellings() -> None:
    spelled: list[tuple[Callable[[], object], str]] = [
        (lambda: i.cast("whatever"), "there is no such type"),
        (lambda: pt.case(), "at least one condition"),
        (lambda: pt.case(i > 1), "pairs of a condition and a value"),  # type: ignore[arg-type]
        (lambda: pt.column(3), "as text"),  # type: ignore[arg-type]
    ]
    for wrong, message in spelled:
        with pytest.raises(PredicateError, match=message):
            wrong()


def test_expressions_tell_their_columns_and_can_have_others() -> None:
    whole = pt.case((pt.call("abs", i) > 1, d.cast("float")), otherwise=m)
    assert [column.name for column in whole.columns()] == ["i", "d", "m"]
    assert repr(whole) == "case(((abs(i) > 1), d.cast(float)), otherwise=m)"
    assert repr(whole.with_columns(lambda column: pt.left(column.name))) == (
        "case(((abs(left.i) > 1), left.d.cast(float)), otherwise=left.m)"
    )


def test_a_join_asks_of_which_stream_a_column_is() -> None:
    a = pt.stream(pa.table({"k": [1], "ts": [0]}), name="A", key="k", time="ts", window=1)
    c = pt.stream(pa.table({"k": [1], "at": [0]}), name="B", key="k", time="at", window=1)
    with pytest.raises(PredicateError, match=r"not of which stream: write pt.left"):
        pt.join(a, c, where=pt.column("ts") > 1)
