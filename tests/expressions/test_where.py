"""Extra predicates against plain Python, whose integers have no limits."""

import operator
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punctuated as pt
from punctuated.errors import PredicateError
from punctuated.expressions.evaluate import where_predicate

LIMITS = [2**63 - 1, 2**63 - 2, -(2**63), 1 - 2**63, 2**62, -(2**32), 0, 1, -1, 7, None]
numbers = st.lists(st.tuples(st.sampled_from(LIMITS), st.sampled_from(LIMITS)), min_size=1, max_size=9)
EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + 5 <= b,
    "difference": lambda a, b: a - b > 3,
    "product": lambda a, b: a * b >= a,
    "literal first": lambda a, b: 2**62 - a < b,
    "many": lambda a, b: (a * b + a - b) * 3 < b * b + 1,
    "too much": lambda a, b: (a * a) * (b * b) + a > b,
    "or": lambda a, b: (a + 1 > b) | (b + 1 > a),
}


def truth(expression: Any, left: pa.Array, right: pa.Array) -> list[bool]:
    where = where_predicate(expression)
    found = where(pa.table({"a": left}), pa.table({"b": right}))
    return [bool(each) for each in found]


@pytest.mark.parametrize("name", EXPRESSIONS)
@given(pairs=numbers)
def test_integers_do_not_wrap_around(name: str, pairs: list[tuple[int | None, int | None]]) -> None:
    decide = EXPRESSIONS[name]
    left, right = (pa.array(side, pa.int64()) for side in zip(*pairs, strict=True))
    found = truth(decide(pt.left("a"), pt.right("b")), left, right)
    for (a, b), is_match in zip(pairs, found, strict=True):
        if a is None or b is None:
            assert not is_match
        elif name != "too much" or abs(a * a) < 2**63 > b * b:
            assert is_match is bool(decide(a, b))


def test_what_is_true_of_a_pair_does_not_depend_on_others() -> None:
    predicate = EXPRESSIONS["too much"](pt.left("a"), pt.right("b"))
    large, small = 2**63 - 1, [(3, 2), (1, 99)]
    alone = truth(predicate, pa.array([a for a, _ in small]), pa.array([b for _, b in small]))
    beside = truth(predicate, pa.array([3, large, 1]), pa.array([2, large, 99]))
    assert alone == [True, True] and beside == [True, False, True]


@pytest.mark.parametrize("dtype", [pa.int64(), pa.decimal128(9, 2)])
def test_a_division_by_zero_is_null(dtype: pa.DataType) -> None:
    column = pa.array([None, 0, 1, 4], pa.decimal128(21, 0)).cast(dtype)
    assert truth(4 / pt.left("a") >= pt.right("b"), column, column) == [False, False, True, False]
    assert truth(pt.left("a") / 0 == pt.right("b"), column, column) == [False] * 4
    least = pa.array([-(2**63), 6])
    assert truth(pt.left("a") / pt.right("b") < 0, least, pa.array([-1, -1])) == [False, True]


def test_times_and_decimals_beyond_their_types() -> None:
    moments = pa.array([2**63 - 1, 0], pa.timestamp("us"))
    assert truth(pt.left("a") + timedelta(seconds=1) > pt.right("b"), moments, moments) == [False, True]
    most = pa.array([Decimal(10**38 - 1), Decimal(1)], pa.decimal128(38, 0))
    assert truth(pt.left("a") + pt.right("b") > pt.left("a"), most, most) == [True, True]
    unsigned = pa.array([2**64 - 1, 1], pa.uint64())
    assert truth(pt.left("a") >= pt.right("b"), unsigned, pa.array([-1, 1])) == [True, True]
    assert truth(pt.left("a") + 1 > pt.right("b"), pa.array([127], pa.int8()), pa.array([127], pa.int8())) == [True]


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.ge, operator.add, operator.and_])
def test_a_comparison_with_none_is_refused_with_what_to_write(compare: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(PredicateError, match=r"right\.v .* None .*write \.is_null\(\) or \.is_not_null\(\)"):
        compare(pt.right("v"), None)


def test_nulls_can_be_asked_for() -> None:
    left, right = pa.array([1, None, 3, None]), pa.array([None, None, 3, 4])
    assert truth(pt.left("a").is_null(), left, right) == [False, True, False, True]
    assert truth(pt.left("a").is_not_null() & pt.right("b").is_null(), left, right) == [True, False, False, False]
    assert repr((pt.left("a") + 1).is_not_null()) == "~(left.a + 1).is_null()"
    assert [column.name for column in pt.left("a").is_null().columns()] == ["a"]


def test_what_arrow_cannot_compute_is_refused_when_it_is_built() -> None:
    text, number = pa.array([], pa.string()), pa.array([], pa.int64())
    for wrong in (~pt.left("a"), pt.left("a") == object(), pt.left("a") + pt.right("b") > 1, pt.right("b") > 2**70):
        with pytest.raises(PredicateError, match="cannot evaluate"):
            truth(wrong, text, number)
