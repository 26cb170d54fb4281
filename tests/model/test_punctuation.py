"""What a punctuation ends, by the attributes it restricts."""

import pytest

from punctuated.errors import PatternError
from punctuated.model.pattern import EMPTY, Constant, OneOf, Pattern, Range
from punctuated.model.pattern import WILDCARD as ANY
from punctuated.model.punctuation import PunctuationKind, check_named, classify, named_values, time_floor

COLUMNS = ("a", "b", "ts", "val")


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ((ANY, ANY, ANY, ANY), PunctuationKind.END),
        ((ANY, ANY, ANY, EMPTY), PunctuationKind.NOTHING),
        ((Constant(1), EMPTY, ANY, ANY), PunctuationKind.NOTHING),
        ((ANY, ANY, Range(high=9), ANY), PunctuationKind.TIME),
        ((ANY, ANY, Range(high=9, high_closed=False), ANY), PunctuationKind.TIME),
        ((ANY, ANY, Range(1, 9), ANY), PunctuationKind.PROMISE),
        ((ANY, ANY, Range(), ANY), PunctuationKind.PROMISE),
        ((ANY, ANY, Constant(9), ANY), PunctuationKind.PROMISE),
        ((Constant(1), Constant("x"), ANY, ANY), PunctuationKind.VALUES),
        ((Constant(1), OneOf(("x", "y")), ANY, ANY), PunctuationKind.VALUES),
        ((Constant(1), ANY, ANY, ANY), PunctuationKind.RANGE),
        ((Constant(1), Range("x", "y"), ANY, ANY), PunctuationKind.RANGE),
        ((Constant(1), Constant("x"), Range(high=9), ANY), PunctuationKind.PROMISE),
        ((Constant(1), Constant("x"), ANY, Constant(0)), PunctuationKind.PROMISE),
        ((ANY, ANY, ANY, Range(low=3)), PunctuationKind.PROMISE),
    ],
)
def test_classify(patterns: tuple[Pattern, ...], expected: PunctuationKind) -> None:
    assert classify(patterns, COLUMNS, ("a", "b"), "ts") is expected


def test_classify_with_a_single_key() -> None:
    assert classify((Range(1, 5), ANY, ANY, ANY), COLUMNS, ("a",), "ts") is PunctuationKind.RANGE
    assert classify((OneOf((1, 5)), ANY, ANY, ANY), COLUMNS, ("a",), "ts") is PunctuationKind.VALUES
    assert classify((Constant(1), Constant("x"), ANY, ANY), COLUMNS, ("a",), "ts") is PunctuationKind.PROMISE


def test_lists_that_multiply_to_too_many_values_are_refused() -> None:
    many = OneOf(tuple(range(400)))
    for look in (named_values, check_named):
        with pytest.raises(PatternError, match="400 × 400 values name 160000 keys, and a punctuation may name 100000"):
            look((many, many, ANY, ANY), COLUMNS, ("a", "b"))
    check_named((many, many, ANY, ANY), COLUMNS, ("a",))
    check_named((many, many, Range(high=9), ANY), COLUMNS, ("a", "b"))  # a promise is not multiplied, nor is a range
    check_named((many, Range(1, 2), ANY, ANY), COLUMNS, ("a", "b"))
    one = OneOf(tuple(range(100_001)))
    assert len(named_values((one, Constant("x"), ANY, ANY), COLUMNS, ("a", "b"))) == 100_001  # as long as its text


def test_named_values_are_ascending_and_follow_the_key() -> None:
    patterns = (OneOf((1, 2)), OneOf(("x", "y")), ANY, ANY)
    assert named_values(patterns, COLUMNS, ("a", "b")) == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]
    assert named_values(patterns, COLUMNS, ("b", "a")) == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]
    assert named_values((Constant(7), ANY, ANY, ANY), COLUMNS, ("a",)) == [(7,)]
    with pytest.raises(PatternError, match="names no single values"):
        named_values((Range(1, 2), ANY, ANY, ANY), COLUMNS, ("a",))


def test_time_floor() -> None:
    assert time_floor(Range(high=9)) == 10
    assert time_floor(Range(high=9, high_closed=False)) == 9
    with pytest.raises(PatternError, match="without a lower end"):
        time_floor(Range(1, 9))
