"""The algebra of patterns against brute force on a small domain of integers."""

import math
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.model.pattern import (
    EMPTY,
    WILDCARD,
    Constant,
    OneOf,
    Pattern,
    Range,
    combine,
    interval,
    matches,
    one_of,
    subsumes,
)

SMALL = st.integers(0, 8)
# Every bound lies two inside the domain, so an infinite end shows.
DOMAIN: list[Any] = [*range(-2, 11), None]
INT_PATTERNS: st.SearchStrategy[Pattern] = st.one_of(
    st.just(WILDCARD),
    st.just(EMPTY),
    st.builds(Constant, SMALL),
    st.builds(one_of, st.lists(SMALL, max_size=5)),
    st.builds(Range, st.none() | SMALL, st.none() | SMALL, st.booleans(), st.booleans()),
)
FLOATS = st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 1.5, math.inf, math.nan])
FLOAT_PATTERNS: st.SearchStrategy[Pattern] = st.one_of(
    st.builds(Constant, FLOATS),
    st.builds(one_of, st.lists(FLOATS, max_size=4)),
    st.builds(Range, st.none() | FLOATS, st.none() | FLOATS, st.booleans(), st.booleans()),
)
FLOAT_DOMAIN: list[Any] = [-math.inf, -2.0, -1.0, -0.5, 0.0, 0.7, 1.5, 99.0, math.inf, math.nan, None]


def extent(pattern: Pattern, domain: list[Any]) -> list[bool]:
    return [matches(pattern, value) for value in domain]


@given(INT_PATTERNS, INT_PATTERNS)
def test_combine_matches_what_both_match(p: Pattern, q: Pattern) -> None:
    both = combine(p, q)
    assert extent(both, DOMAIN) == [a and b for a, b in zip(extent(p, DOMAIN), extent(q, DOMAIN), strict=True)]
    assert combine(q, p) == both


@given(INT_PATTERNS, INT_PATTERNS, INT_PATTERNS)
def test_combine_is_associative(p: Pattern, q: Pattern, r: Pattern) -> None:
    assert extent(combine(combine(p, q), r), DOMAIN) == extent(combine(p, combine(q, r)), DOMAIN)


@given(INT_PATTERNS, INT_PATTERNS)
def test_combine_says_empty_when_it_is(p: Pattern, q: Pattern) -> None:
    both = combine(p, q)
    assert (both == EMPTY) == (not any(extent(both, DOMAIN)))


@given(INT_PATTERNS, INT_PATTERNS)
def test_subsumes_equals_brute_force(wide: Pattern, narrow: Pattern) -> None:
    expected = all(w for w, n in zip(extent(wide, DOMAIN), extent(narrow, DOMAIN), strict=True) if n)
    assert subsumes(wide, narrow) == expected


@given(FLOAT_PATTERNS, FLOAT_PATTERNS)
def test_floats_with_nan_infinity_and_minus_zero(p: Pattern, q: Pattern) -> None:
    both, p_extent, q_extent = combine(p, q), extent(p, FLOAT_DOMAIN), extent(q, FLOAT_DOMAIN)
    assert extent(both, FLOAT_DOMAIN) == [a and b for a, b in zip(p_extent, q_extent, strict=True)]
    assert combine(q, p) == both
    if subsumes(p, q):
        assert all(a for a, b in zip(p_extent, q_extent, strict=True) if b)


@given(INT_PATTERNS)
def test_wildcard_and_empty_are_the_ends_of_the_order(p: Pattern) -> None:
    assert subsumes(WILDCARD, p)
    assert subsumes(p, EMPTY)
    assert subsumes(p, p)
    assert combine(p, EMPTY) == EMPTY
    assert extent(combine(p, WILDCARD), DOMAIN) == extent(p, DOMAIN)


@pytest.mark.parametrize("pattern", [Constant(1), Constant(None), OneOf((1, 2)), Range(), Range(high=3), EMPTY])
def test_null_matches_the_wildcard_only(pattern: Pattern) -> None:
    assert not matches(pattern, None)
    assert matches(WILDCARD, None)


def test_nan_equals_nan_and_is_greatest() -> None:
    nan = float("nan")
    assert matches(Constant(nan), -nan)
    assert matches(OneOf((1.0, nan)), nan)
    assert matches(Range(low=3.0), nan)
    assert not matches(Range(high=math.inf), nan)
    assert matches(Constant(0.0), -0.0)
    assert one_of([nan, 1.0, -nan]) == OneOf((1.0, math.nan))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((5, 5), Constant(5)),
        ((5, 5, True, False), EMPTY),
        ((5, 4), EMPTY),
        ((3, 4, False, False), EMPTY),
        ((3, 5, False, False), Range(3, 5, False, False)),
        ((None, 20, False, True), Range(high=20)),
        ((None, None, False, False), Range()),
        ((1.0, 2.0, False, False), Range(1.0, 2.0, False, False)),
        ((math.nan, None), Constant(math.nan)),
        ((False, None), OneOf((False, True))),
        ((False, True, False, True), Constant(True)),
        ((date(2003, 11, 10), date(2003, 11, 11), False, False), EMPTY),
        ((Decimal("1.0"), Decimal("1")), Constant(Decimal(1))),
        (("b", "a"), EMPTY),
    ],
)
def test_interval_is_normal(arguments: tuple[Any, ...], expected: Pattern) -> None:
    assert interval(*arguments) == expected


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        (OneOf((1, 2, 3)), Range(1, 3), True),
        (OneOf((1, 2, 3)), Range(0, 4, False, False), True),
        (OneOf((1, 2, 4)), Range(1, 4), False),
        (Constant(4), Range(3, 5, False, False), True),
        (OneOf((1, 2)), Range(low=1), False),
        (Range(1.0, 9.0), Range(0.0, 10.0, False, False), False),
        (Range("a", "c"), OneOf(("a", "b")), True),
        (OneOf((date(2003, 1, 1), date(2003, 1, 2))), Range(date(2003, 1, 1), date(2003, 1, 3), True, False), True),
        (Range(), WILDCARD, False),
        (OneOf((False, True)), Range(low=False), True),
    ],
)
def test_subsumes_examples(wide: Pattern, narrow: Pattern, expected: bool) -> None:
    assert subsumes(wide, narrow) is expected
