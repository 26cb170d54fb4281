"""Variances against fractions, on the hardest numbers there are: in any order, in any batches, saved and restored."""

import math
import random
import statistics
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punctuated.aggregates.strategies import Aggregates
from punctuated.model.aggregate import Aggregate
from punctuated.testing.reference_groups import exact_deviation

LARGEST, SMALLEST, SMALLEST_NORMAL = 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308
EDGES = [0.0, 1.0, 2.0**-53, 1 + 2.0**-52, 0.1, LARGEST, 1e154, 2.0**479, 2.0**480, 2.0**-480, 2.0**-481]
EDGES += [SMALLEST, 3 * SMALLEST, SMALLEST_NORMAL, SMALLEST_NORMAL - SMALLEST]
floats = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1, 1),
    st.floats(1e9, 1e9 + 1e-3),
    st.builds(math.copysign, st.sampled_from(EDGES), st.sampled_from([1.0, -1.0])),
    st.none(),
)
endless = st.sampled_from([math.inf, -math.inf, math.nan])
TYPES = {
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "decimal": (pa.decimal128(38, 5), st.decimals(-(10**33) + 1, 10**33 - 1, places=5)),
    "long decimal": (pa.decimal256(76, 0), st.integers(-(10**76) + 1, 10**76 - 1).map(Decimal)),
}
Found = list[tuple[float | None, float | None]]


def deviations(column: pa.Array, groups: list[int], n_groups: int, chance: random.Random | None = None) -> Found:
    """The variance and the standard deviation of each group; with `chance`, in parts that are saved and restored."""
    schema = pa.schema([("x", column.type)])
    asked = {"v": Aggregate("variance", "x"), "d": Aggregate("stddev", "x")}
    kept, begin = Aggregates(schema, asked), 0
    while begin < len(column) or n_groups == 0:
        n = len(column) if chance is None else chance.randint(1, len(column) - begin)
        kept.add(np.array(groups[begin : begin + n]), n_groups, pa.table({"x": column.slice(begin, n)}))
        begin += n
        if chance is not None:
            saved, kept = kept.save(), Aggregates(schema, asked)
            kept.load(saved)
    found = kept.finish(np.ones(n_groups, np.bool_))
    return list(zip(found["v"].to_pylist(), found["d"].to_pylist(), strict=True))


def expected(values: Sequence[Any]) -> tuple[float | None, float | None]:
    known = [value for value in values if value is not None]
    return exact_deviation(known, is_squared=True), exact_deviation(known, is_squared=False)


@given(st.lists(floats, min_size=1, max_size=12))
@example([LARGEST, -LARGEST])
@example([LARGEST, -LARGEST, 0.0])
@example([SMALLEST, 0.0])
@example([SMALLEST, SMALLEST])
@example([1e16, 1e16 + 2])
@example([LARGEST, SMALLEST, 1.0])
@example([1.5, 1.5])
@example([0.0, 2.0])
@example([None, 1.0])
def test_a_variance_is_rounded_once(values: list[float | None]) -> None:
    assert deviations(pa.array(values, pa.float64()), [0] * len(values), 1) == [expected(values)]


@pytest.mark.parametrize("name", TYPES)
@given(data=st.data())
def test_a_variance_of_whole_numbers_is_rounded_once(name: str, data: st.DataObject) -> None:
    dtype, numbers = TYPES[name]
    values = data.draw(st.lists(numbers | st.none(), min_size=1, max_size=8))
    assert deviations(pa.array(values, dtype), [0] * len(values), 1) == [expected(values)]


@given(st.lists(st.tuples(st.integers(0, 2), floats), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_order_and_batches_do_not_matter(members: list[tuple[int, float | None]], chance: random.Random) -> None:
    wanted = [expected([value for group, value in members if group == wanted]) for wanted in range(3)]
    chance.shuffle(members)
    groups, values = map(list, zip(*members, strict=True))
    assert deviations(pa.array(values, pa.float64()), groups, 3, chance) == wanted


@given(st.lists(floats, max_size=5), st.lists(endless, min_size=1, max_size=3))
def test_nan_and_infinities_make_nan(values: list[float | None], more: list[float | None]) -> None:
    values = values + more
    (found,) = deviations(pa.array(values, pa.float64()), [0] * len(values), 1)
    n_known = sum(value is not None for value in values)
    assert [each is None or math.isnan(each) for each in found] == [True, True]
    assert (found[0] is None) == (n_known < 2)


def test_groups_that_leave_make_room() -> None:
    schema, asked = pa.schema([("x", pa.float64())]), {"v": Aggregate("variance", "x")}
    kept = Aggregates(schema, asked)
    kept.add(np.array([0, 1, 2, 0, 1, 2]), 3, pa.table({"x": [1e200, 1.0, 1e-200, 3e200, 2.0, 3e-200]}))
    kept.keep(np.array([False, True, True]))
    kept.add(np.array([0, 2, 2]), 3, pa.table({"x": [3.0, 7.0, 9.0]}))
    assert kept.finish(np.ones(3, np.bool_))["v"].to_pylist() == [1.0, 0.0, 2.0]


def test_the_oracle_knows_what_textbooks_say() -> None:
    values = [2, 4, 4, 4, 5, 5, 7, 9]
    assert expected(values) == (statistics.variance(values), statistics.stdev(values)) == (32 / 7, math.sqrt(32 / 7))
    assert expected([3.0]) == expected([]) == (None, None)
    assert expected([Decimal("0.5"), Decimal("0.5")]) == (0.0, 0.0)
