"""The oracle's own lines on patterns, against the values that they mean."""

from hypothesis import example, given
from hypothesis import strategies as st

from punctuated.model.pattern import WILDCARD, Pattern, Range
from punctuated.testing.reference_patterns import covers, intersect, is_empty, matches
from punctuated.testing.strategies import key_patterns

DOMAIN = range(-20, 40)
"""Wide enough that an open end shows, for the strategies draw a handful of small integers."""

ANY = key_patterns() | st.just(WILDCARD)


def meant(pattern: Pattern) -> set[int]:
    return {value for value in DOMAIN if matches(pattern, value)}


@given(ANY, ANY)
@example(WILDCARD, Range(0, None, low_closed=False))
def test_a_pattern_covers_another_if_it_means_all_its_values(wide: Pattern, narrow: Pattern) -> None:
    assert covers((wide,), (narrow,)) == (meant(narrow) <= meant(wide))


@given(ANY, ANY)
def test_what_both_mean_is_what_the_intersection_means(one: Pattern, two: Pattern) -> None:
    both = intersect(one, two)

    assert meant(both) == meant(one) & meant(two)
    assert is_empty(both) == (not meant(both))
