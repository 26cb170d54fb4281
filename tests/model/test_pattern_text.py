"""Punctuations as text: round trips, and errors that name the position."""

import math
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from punctuated.errors import PatternError
from punctuated.model.pattern import EMPTY, WILDCARD, Constant, OneOf, Pattern, Range, canonical, interval, one_of
from punctuated.model.pattern_text import parse_punctuation, print_patterns

UTC_TIME = pa.timestamp("us", tz="UTC")
NINE_03_US = 1_068_454_980_000_000  # 2003-11-10 9:03:00 UTC
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint8(): st.integers(0, 255),
    pa.float64(): st.floats(),
    pa.float32(): st.floats(width=32),
    pa.string(): st.text(st.characters(exclude_categories=["Cs"])),
    pa.dictionary(pa.int32(), pa.string()): st.sampled_from(["", "*", "a,b", 'say "hi"', "back\\slash", " pad ", "{}"]),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.decimal128(12, 3): st.decimals(-(10**8), 10**8, places=3),
    UTC_TIME: st.integers(-(10**17), 10**18),
    pa.timestamp("us"): st.integers(-(10**15), 10**15),
}


@st.composite
def typed_patterns(draw: st.DrawFn) -> tuple[list[pa.DataType], list[Pattern]]:
    types = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    return types, [draw(_pattern(VALUES[dtype])) for dtype in types]


def _pattern(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Pattern]:
    return st.one_of(
        st.sampled_from([WILDCARD, EMPTY]),
        values.map(lambda value: Constant(canonical(value))),
        st.lists(values, max_size=4).map(one_of),
        st.builds(interval, st.none() | values, st.none() | values, st.booleans(), st.booleans()),
    )


@given(typed_patterns(), st.booleans())
def test_what_is_printed_is_read_back(case: tuple[list[pa.DataType], list[Pattern]], with_types: bool) -> None:
    types, patterns = case
    assert parse_punctuation(print_patterns(patterns, types if with_types else None), types) == tuple(patterns)


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        ("<180,*,*,*>", [pa.int64(), pa.string(), pa.float64(), UTC_TIME], (Constant(180), *[WILDCARD] * 3)),
        ("<[10,20),*>", [pa.int64(), pa.string()], (Range(10, 20, True, False), WILDCARD)),
        ("<{3,1,2,1},*>", [pa.int64(), pa.string()], (OneOf((1, 2, 3)), WILDCARD)),
        ("<(,20],[10,)>", [pa.int64(), pa.int64()], (Range(high=20), Range(low=10))),
        ("<{},{7},[4,4]>", [pa.int64()] * 3, (EMPTY, Constant(7), Constant(4))),
        (' < "a,b" , a b > ', [pa.string()] * 2, (Constant("a,b"), Constant("a b"))),
        (r'<"say \"hi\"\n\\">', [pa.string()], (Constant('say "hi"\n\\'),)),
        ('<"*",*x,"">', [pa.string()] * 3, (Constant("*"), Constant("*x"), Constant(""))),
        ("<true,FALSE>", [pa.bool_()] * 2, (Constant(True), Constant(False))),
        ("<2003-11-10>", [pa.date32()], (Constant(date(2003, 11, 10)),)),
        ("<19.99>", [pa.decimal128(9, 2)], (Constant(Decimal("19.99")),)),
        ("<-0.0,nan,0.1>", [pa.float64(), pa.float64(), pa.float32()], (0.0, math.nan, 0.10000000149011612)),
        ("<2003-11-10T09:03:00Z>", [UTC_TIME], (Constant(NINE_03_US),)),
        ("<2003-11-10 10:03:00+01:00>", [UTC_TIME], (Constant(NINE_03_US),)),
        ("<2003-11-10T09:03:00>", [pa.timestamp("ns")], (Constant(NINE_03_US),)),
        ("<(,1068454980000000]>", [UTC_TIME], (Range(high=NINE_03_US),)),
    ],
)
def test_reads(text: str, types: list[pa.DataType], expected: tuple[Any, ...]) -> None:
    patterns = tuple(Constant(each) if isinstance(each, float) else each for each in expected)
    assert parse_punctuation(text, types) == patterns


def test_prints() -> None:
    patterns: list[Pattern] = [Constant(NINE_03_US), Range(1, 2, False, True), OneOf(("a", "b c"))]
    patterns += [Range(), EMPTY, Constant(True)]
    types = [UTC_TIME, pa.int64(), pa.string(), pa.int64(), pa.int64(), pa.bool_()]
    assert print_patterns(patterns, types) == "<2003-11-10T09:03:00Z,(1,2],{a,b c},(,),{},true>"
    assert print_patterns(patterns[:1]) == "<1068454980000000>"
    assert print_patterns([Constant(2**62)], [UTC_TIME]) == "<4611686018427387904>"  # beyond the year 9999


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at position 0: expected '<', found the end of the text"),
        ("180,*>", "at position 0: expected '<', found '1'"),
        ("<180,*", "at position 6: expected ',' or '>', found the end of the text"),
        ("<180,*>>", "at position 7: expected the end of the text, found '>'"),
        ("<180>", "at position 4: 1 of 2 attributes given"),
        ("<180,*,*>", "at position 7: too many patterns: the stream has 2 attributes"),
        ("<>", "at position 1: expected a pattern, found '>'"),
        ("<1,>", "at position 3: expected a pattern, found '>'"),
        ("<x,*>", "at position 1: expected a value of type int64, found 'x'"),
        ("<1.5,*>", "at position 1: expected a value of type int64, found '1.5'"),
        ("<9223372036854775808,*>", "at position 1: expected a value of type int64, found '9223372036854775808'"),
        ("<1_0,*>", "at position 1: expected a value of type int64, found '1_0'"),
        ("<[1 2],*>", "at position 2: expected a value of type int64, found '1 2'"),
        ("<[1],*>", "at position 3: expected ',', found ']'"),
        ("<[1,2,*>", "at position 5: expected ']' or ')', found ','"),
        ("<{1,,2},*>", "at position 4: expected a value, found ','"),
        ("<{1,2>", "at position 5: expected ',' or '}', found '>'"),
        ('<1,"ab>', "at position 7: expected '\"' to end the text that begins at 3"),
        (r'<1,"a\q">', 'at position 6: expected one of \\ " n r t after a backslash'),
    ],
)
def test_malformed_text_names_the_position(text: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        parse_punctuation(text, [pa.int64(), pa.string()])
    assert str(caught.value).startswith(message)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ("300", pa.int8()),
        ("-1", pa.uint64()),
        ("1e39", pa.float32()),
        ("1_0", pa.float64()),
        ("1.005", pa.decimal128(9, 2)),
        ("NaN", pa.decimal128(9, 2)),
        ("1e999999999", pa.decimal128(9, 2)),
        ("1e-99999999", pa.decimal128(9, 2)),  # Arrow crashes
        ("1" * 100_000, pa.decimal128(9, 2)),
        ("abc", pa.decimal128(9, 2)),
        ("yes", pa.bool_()),
        ("2003-13-01", pa.date32()),
        ("9:03", UTC_TIME),
        ("9223372036854775808", UTC_TIME),
    ],
)
def test_value_that_does_not_fit_the_type(value: str, dtype: pa.DataType) -> None:
    with pytest.raises(PatternError, match=r"^at position 3: expected a value of type .*found"):
        parse_punctuation(f"<*,{value}>", [pa.int64(), dtype])


def test_types_without_a_text_form_take_only_the_wildcard() -> None:
    assert parse_punctuation("<*>", [pa.binary()]) == (WILDCARD,)
    with pytest.raises(PatternError, match=r"at position 1: expected '\*', the only pattern for type binary"):
        parse_punctuation("<a>", [pa.binary()])


@given(st.text('<>[](){},*"\\ 019a', max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    types = [pa.int64(), pa.string()]
    try:
        patterns = parse_punctuation(text, types)
    except PatternError:
        return
    assert parse_punctuation(print_patterns(patterns), types) == patterns
