"""The order of a batch's objects, against sorting them one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from punctuated.intake.prepare import merge_many, merge_order
from punctuated.kernels.layout import Objects
from punctuated.kernels.order import pack, unpack, unpack_object

TIMES = st.lists(st.integers(-3, 9), max_size=8).map(sorted)


def objects(ts: list[int], punctuation_ts: list[int]) -> Objects:
    times, told = np.array(ts, np.int64), np.array(punctuation_ts, np.int64)
    nothing, kinds = np.empty(0, np.int64), np.zeros(told.size, np.uint8)
    return Objects(times, times, np.zeros(times.size, np.uint8), nothing, told, told, kinds, nothing, nothing, nothing)


@given(st.lists(st.tuples(TIMES, TIMES), min_size=2, max_size=8))
def test_objects_come_by_time_and_kind_and_stream(drawn: list[tuple[list[int], list[int]]]) -> None:
    inputs = [objects(*each) for each in drawn]
    wanted = sorted(
        (ts, kind, side, place)
        for side, each in enumerate(drawn)
        for kind, times in enumerate(each)
        for place, ts in enumerate(times)
    )
    for order in (merge_order(inputs), merge_many(inputs)):
        found = [unpack_object(each) for each in order.tolist()]
        assert found == [(place, kind, side) for _, kind, side, place in wanted]


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 7)), max_size=9))
def test_numbers_and_sides_go_into_one_number(drawn: list[tuple[int, int]]) -> None:
    assert [unpack(pack(*each)) for each in drawn] == drawn
    numbers, sides = np.array(drawn, np.int64).reshape(-1, 2).T
    assert np.stack(unpack(pack(numbers, sides))).tolist() == [numbers.tolist(), sides.tolist()]
