"""Joins in stages: all pairs by the end, each once, whatever is on disk; and they go on from any save."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driver_harness import new_driver
from journaled import journaled
from punctuated.model.algorithm import STAGED_XJOIN
from punctuated.testing.strategies import Case
from staged_cases import PJOINS, check_stages, staged_cases

FEWER = settings(max_examples=max(1, settings().max_examples // 4))  # each goes through many files


@FEWER
@given(staged_cases([STAGED_XJOIN]))
def test_xjoin_finds_every_pair_once(case: Case) -> None:
    check_stages(case)


@FEWER
@pytest.mark.parametrize("algorithm", PJOINS, ids=lambda each: each.propagation.value)
@given(data=st.data())
def test_pjoin_finds_every_pair_once_and_says_what_is_over(algorithm: object, data: st.DataObject) -> None:
    check_stages(data.draw(staged_cases([algorithm])))  # type: ignore[list-item]


@FEWER
@given(staged_cases(), st.integers(1, 3))
def test_a_restored_join_goes_on_in_the_middle_of_its_stages(case: Case, every: int) -> None:
    check_stages(case, between=journaled(lambda: new_driver(case.spec), every))
