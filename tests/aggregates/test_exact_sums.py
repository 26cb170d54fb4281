"""Exact sums against fractions, on the hardest numbers there are: in any order, in any batches, saved and restored."""

import math
import random
import struct
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punctuated.aggregates.sums import ExactSums
from punctuated.kernels import exact_sums as kernel
from punctuated.testing.reference_groups import exact_quotient

LARGEST, SMALLEST, SMALLEST_NORMAL = 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308
ULP_OF_LARGEST = 2.0**971
EDGES = [0.0, -0.0, 1.0, 2.0**-53, 2.0**-54, 1 + 2.0**-52, 2.0**53, 0.1, LARGEST, ULP_OF_LARGEST / 2, SMALLEST]
EDGES += [SMALLEST_NORMAL, SMALLEST_NORMAL - SMALLEST, 2.0**1023, 1e308]
finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1, 1),
    st.builds(math.copysign, st.sampled_from(EDGES), st.sampled_from([1.0, -1.0])),
)
anything = st.one_of(finite, finite, finite, st.sampled_from([None, math.inf, -math.inf, math.nan]))
DIVISORS = st.one_of(st.integers(1, 12), st.integers(1, 2**47 - 1), st.sampled_from([2**31 - 1, 2**31, 2**31 + 1]))


def add(sums: ExactSums, groups: list[int], values: list[float | None], n_groups: int = 1) -> None:
    sums.add(np.array(groups, np.int64), n_groups, pa.table({"x": pa.array(values, pa.float64())}))


def sums_of(values: list[float | None]) -> ExactSums:
    sums = ExactSums("x")
    add(sums, [0] * len(values), values)
    return sums


def total(values: list[float | None], divisor: int = 1) -> float | None:
    found: float | None = sums_of(values).divide(np.ones(1, np.bool_), np.array([divisor]))[0].as_py()
    return found


def same(one: float | None, two: float | None) -> bool:
    return one == two or (one is not None and two is not None and math.isnan(one) and math.isnan(two))


def expected(values: list[float | None], divisor: int = 1) -> float | None:
    known = [value for value in values if value is not None]
    return exact_quotient(known, divisor) if known else None


@given(st.lists(anything, max_size=12), DIVISORS)
@example([LARGEST, ULP_OF_LARGEST / 2], 1)
@example([LARGEST, math.nextafter(ULP_OF_LARGEST / 2, 0)], 1)
@example([LARGEST, LARGEST], 2)
@example([SMALLEST], 2)
@example([SMALLEST, SMALLEST, SMALLEST], 2)
@example([SMALLEST], 2**47 - 1)
@example([1.0, 2.0**-53, SMALLEST], 1)
@example([1.0, 2.0**-53, -SMALLEST], 1)
def test_a_sum_over_a_number_is_rounded_once(values: list[float | None], divisor: int) -> None:
    assert same(total(values, divisor), expected(values, divisor))


@given(st.lists(anything, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_order_and_batches_do_not_matter(values: list[float | None], chance: random.Random) -> None:
    """Bit by bit, the sign of zero and the kind of NaN included."""
    before = struct.pack("d", total(values) or 0.0)
    chance.shuffle(values)
    sums, rest = ExactSums("x"), list(values)
    while rest:
        n = chance.randint(1, len(rest))
        add(sums, [0] * n, rest[:n])
        rest = rest[n:]
        if chance.random() < 0.3:
            saved, sums = sums.save(), ExactSums("x")
            sums.load(saved)
    assert struct.pack("d", sums.finish(np.ones(1, np.bool_))[0].as_py() or 0.0) == before


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), anything), max_size=8), max_size=6), st.data())
def test_groups_come_and_go(batches: list[list[tuple[int, float | None]]], data: st.DataObject) -> None:
    sums, members = ExactSums("x"), list[list[float | None]]()
    for batch in batches:
        numbers = []
        for group, value in batch:
            numbers.append(min(group, len(members)))
            members += [[]] if numbers[-1] == len(members) else []
            members[numbers[-1]].append(value)
        add(sums, numbers, [value for _, value in batch], len(members))
        final = np.array([data.draw(st.booleans()) for _ in members], np.bool_)
        found = sums.finish(final).to_pylist()
        wanted = [expected(values) for values, is_final in zip(members, final, strict=True) if is_final]
        assert all(map(same, found, wanted)) and len(found) == len(wanted)
        sums.keep(~final)
        members = [values for values, is_final in zip(members, final, strict=True) if not is_final]


@pytest.mark.parametrize(
    ("values", "sum_of_them"),
    [
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308], math.inf),
        ([-1e308, -1e308, -1e308, 1e308], -math.inf),
        ([1e100, 1.0, -1e100], 1.0),
        ([0.1] * 10, 1.0),
        ([math.inf, 1e308, 1e308], math.inf),
        ([-math.inf, 1.0], -math.inf),
        ([math.inf, 1.0, -math.inf], math.nan),
        ([math.nan, math.inf], math.nan),
        ([-0.0], 0.0),
        ([-0.0, -0.0, 0.0], 0.0),
        ([SMALLEST] * 3, 3 * SMALLEST),
        ([None, 1.5], 1.5),
        ([None, None], None),
        ([], None),
    ],
)
def test_sums_that_go_wrong_elsewhere(values: list[float | None], sum_of_them: float | None) -> None:
    for one in (values, values[::-1]):
        assert same(total(one), sum_of_them)
        assert math.copysign(1, total(one) or 0.0) == math.copysign(1, sum_of_them or 0.0)


def test_a_mean_is_there_where_the_sum_is_too_large() -> None:
    assert total([LARGEST] * 3, 3) == LARGEST
    assert total([LARGEST] * 3) == math.inf


@pytest.mark.parametrize("dtype", [pa.float16(), pa.float32()])
def test_narrow_floats_are_summed_as_doubles(dtype: pa.DataType) -> None:
    values = pa.array([np.float16(0.1), None, np.float16(1000), np.float16(0.001)] * 500, dtype)
    sums = ExactSums("x")
    sums.add(np.zeros(len(values), np.int64), 1, pa.table({"x": values}))
    wanted = math.fsum(value for value in values.to_pylist() if value is not None)
    assert sums.finish(np.ones(1, np.bool_)).to_pylist() == [wanted]
    assert sums.finish(np.ones(1, np.bool_)).type == pa.float64()


def test_digits_never_overflow() -> None:
    """Digits as large as the invariant allows, in either direction, still give the true sum after a carry."""
    most = kernel.MOST_VALUES * 2**33
    for sign in (1, -1):
        digits = np.array([sign * most, sign * most, sign * most, 0, 0], np.int64)
        before = kernel.DigitSums(np.zeros(1), np.array([0, 3]), np.array([-30]), digits[:3].copy())
        after = kernel.DigitSums(np.zeros(1), np.array([0, 5]), np.array([-30]), np.zeros(5, np.int64))
        kernel.carry_digits(before, after)
        wanted = sum(Fraction(int(digit)) * Fraction(2) ** (32 * (30 + i) - 1074) for i, digit in enumerate(digits))
        for sums in (before, after):
            out = np.empty(1)
            kernel.round_quotients(sums, np.ones(1, np.int64), np.empty(kernel.SCRATCH, np.int64), out)
            assert out[0] == float(wanted)
        assert all(0 <= digit < 2**32 for digit in after.digits[:-1].tolist())


def test_an_outlier_widens_its_own_group_only() -> None:
    sums = ExactSums("x")
    add(sums, [0, 1, 2], [1.0, 2.0, 3.0], 3)
    add(sums, [1], [1e-300], 3)
    widths = [len(digits) for digits in sums.save()["digits"].to_pylist()]
    assert widths[0] == widths[2] == 3
    assert widths[1] > 25


def test_kernels_are_compiled_once() -> None:
    """Wherever the arrays come from: with nulls or without, after a restart, of floats or doubles."""
    restored = sums_of([1.0])
    restored.load(restored.save())
    add(restored, [0], [None])
    restored.add(np.zeros(1, np.int64), 1, pa.table({"x": pa.array([1.0], pa.float32())}))
    assert restored.finish(np.ones(1, np.bool_)).to_pylist() == [2.0]
    compiled: list[Any] = [kernel.widen_spans, kernel.carry_digits, kernel.add_values, kernel.round_quotients]
    assert [len(each.signatures) for each in compiled] == [1] * 4
