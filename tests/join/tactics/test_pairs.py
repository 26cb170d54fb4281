"""Asymmetric window joins: every pair of structures, every predicate, equal to the oracle."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driver_harness import new_driver, run
from punctuated.model.algorithm import pair
from punctuated.model.batch import Row
from punctuated.model.expression import Expression, band, left, right
from punctuated.model.spec import JOINS_OF_TWO, JoinSpec, JoinType
from punctuated.operator.driver import JoinDriver
from punctuated.operator.windows.tactic import WindowState
from punctuated.snapshot.journal import Journal, restore
from punctuated.testing.checks import Observed, check_equals_oracle
from punctuated.testing.strategies import Batch, Case, window_cases

# Where a predicate is decided on pairs, tuples that a semi or anti join has settled go only by their window.
SETTLED_AT_ONCE = [how for how in JOINS_OF_TWO if how not in (JoinType.SEMI, JoinType.ANTI)]
Decide = Callable[[Any, Any], bool]
PAIRS = ["".join(each) for each in product("NHBT", repeat=2)]

# The expression, and the same in plain Python on the values v and w, neither of which is null there.
RANGES: dict[str, tuple[Expression, Decide]] = {
    "band": (band(("v", "w"), -1, 1), lambda v, w: -1 <= w - v <= 1),
    "one-sided band": (band(("v", "w"), 0, 2), lambda v, w: 0 <= w - v <= 2),
    "<": (left("v") < right("w"), lambda v, w: v < w),
    "<=": (left("v") <= right("w"), lambda v, w: v <= w),
    ">": (left("v") > right("w"), lambda v, w: v > w),
    ">=": (left("v") >= right("w"), lambda v, w: v >= w),
    "==": (left("v") == right("w"), lambda v, w: v == w),
    "shifted right": (right("w") + 1 >= left("v"), lambda v, w: w + 1 >= v),
    "shifted left": (right("w") < left("v") - 1, lambda v, w: w < v - 1),
}
OTHERS: dict[str, tuple[Expression, Decide]] = {
    "product": (left("v") * right("w") > 2, lambda v, w: v * w > 2),
    "!=": (left("v") != right("w"), lambda v, w: v != w),
}
MIXED: dict[str, tuple[Expression, Decide]] = {
    "band and more": (
        band(("v", "w"), -1, 1) & (left("v") * right("w") != 4),
        lambda v, w: abs(v - w) <= 1 and v * w != 4,
    )
}


def on_rows(decide: Decide) -> Callable[[Row, Row], bool]:
    """Null counts as false."""
    return lambda a, b: a.values[2] is not None and b.values[2] is not None and decide(a.values[2], b.values[2])


def made(spec: JoinSpec, expression: Expression | None) -> JoinDriver:
    return new_driver(spec, expression)


def operator(expression: Expression | None, **more: Any) -> Callable[[JoinSpec, Sequence[Batch]], list[Observed]]:
    return lambda spec, batches: run(spec, batches, made(spec, expression), **more)


FEWER = settings(max_examples=settings().max_examples // 3)  # each of many variants


@given(window_cases())
def test_equal_keys(case: Case) -> None:
    check_equals_oracle(operator(None), case.spec, case.batches)


@FEWER
@pytest.mark.parametrize("structures", PAIRS)
@given(data=st.data())
def test_every_pair(structures: str, data: st.DataObject) -> None:
    case = data.draw(window_cases(types=[JoinType.INNER]))
    check_equals_oracle(operator(None), replace(case.spec, algorithm=pair(structures)), case.batches)


@FEWER
@pytest.mark.parametrize("name", RANGES)
@given(data=st.data())
def test_ranges_without_a_key(name: str, data: st.DataObject) -> None:
    expression, decide = RANGES[name]
    case = data.draw(window_cases(keyed=False))
    check_equals_oracle(operator(expression), case.spec, case.batches, on_rows(decide))


@FEWER
@pytest.mark.parametrize("name", RANGES)
@given(data=st.data())
def test_ranges_beside_a_key(name: str, data: st.DataObject) -> None:
    expression, decide = RANGES[name]
    case = data.draw(window_cases())
    check_equals_oracle(operator(expression), case.spec, case.batches, on_rows(decide))


@FEWER
@pytest.mark.parametrize("name", [*MIXED, *OTHERS])
@given(data=st.data())
def test_predicates_that_are_decided_on_pairs(name: str, data: st.DataObject) -> None:
    expression, decide = (MIXED | OTHERS)[name]
    case = data.draw(window_cases(types=SETTLED_AT_ONCE))
    check_equals_oracle(operator(expression), case.spec, case.batches, on_rows(decide))


@FEWER
@pytest.mark.parametrize("name", [*MIXED, *OTHERS])
@given(data=st.data())
def test_any_predicate_by_nested_loops(name: str, data: st.DataObject) -> None:
    expression, decide = (MIXED | OTHERS)[name]
    case = data.draw(window_cases(keyed=False, types=SETTLED_AT_ONCE))
    check_equals_oracle(operator(expression), replace(case.spec, algorithm=pair("NN")), case.batches, on_rows(decide))


@given(window_cases(keyed=False), st.data())
def test_structures_change_and_states_are_restored_between_batches(case: Case, data: st.DataObject) -> None:
    expression, decide = RANGES["band"]

    def go_on(driver: JoinDriver) -> JoinDriver:
        if data.draw(st.booleans()):
            fresh = made(case.spec, expression)
            restore(fresh, [Journal().write(driver)])
            driver = fresh
        assert isinstance(driver.state, WindowState)
        driver.state.restructure((data.draw(st.sampled_from("NBT")), data.draw(st.sampled_from("NBT"))))
        return driver

    check_equals_oracle(operator(expression, between=go_on), case.spec, case.batches, on_rows(decide))
