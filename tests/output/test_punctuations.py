"""What the output is told stays as it was said, and its texts are those of `print_patterns`."""

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import punctuated as pt
from punctuated.model.pattern import Constant
from punctuated.model.pattern_text import print_patterns
from punctuated.output.punctuations import print_keys

TEXT = st.text(st.sampled_from('aZ09_ .:@/+-,<>[](){}"\\\n\r\té€*'), max_size=4)


@given(st.lists(st.tuples(TEXT, st.integers(-(2**63), 2**63 - 1)), min_size=1))
def test_keys_are_written_as_their_patterns_are(keys: list[tuple[str, int]]) -> None:
    texts, numbers = (list(column) for column in zip(*keys, strict=True))
    one, both = print_keys([pa.array(texts)]), print_keys([pa.array(texts), pa.array(numbers)])
    assert one.to_pylist() == [print_patterns([Constant(text)]) for text in texts]
    assert both.to_pylist() == [print_patterns([Constant(text), Constant(number)]) for text, number in keys]


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([True, False], pa.bool_(), ["<true>", "<false>"]),
        ([0.5, float("inf")], pa.float64(), ["<0.5>", "<inf>"]),
        ([date(2026, 1, 2)], pa.date32(), ["<2026-01-02>"]),
        ([Decimal("1.50")], pa.decimal128(5, 2), ["<1.50>"]),
        ([1], pa.timestamp("s", tz="UTC"), ["<1970-01-01T00:00:01Z>"]),
        ([1], pa.timestamp("ns"), ["<1970-01-01T00:00:00.000000001>"]),
    ],
)
def test_values_of_every_type(values: list[Any], dtype: pa.DataType, expected: list[str]) -> None:
    assert print_keys([pa.array(values, dtype)]).to_pylist() == expected


def test_a_single_punctuation_of_a_batch_outlives_the_next_one() -> None:
    """It lay in a buffer of the loop, which the next batch writes over."""
    opened = [pa.table({"k": [number], "ts": [10 * number]}) for number in range(3)]
    closed = [pa.table({"k": [number], "ts": [10 * number + 1], "last": [True]}) for number in range(3)]
    left = pt.stream(iter(opened), key="k", time="ts", punctuations=pt.unique())
    right = pt.stream(iter(closed), key="k", time="ts", punctuations=pt.when("last"))
    said = pt.join(left, right).punctuations
    assert said.select(["k", "ts", "pattern"]).to_pydict() == {
        "k": [0, 1, 2],
        "ts": [1, 11, 21],
        "pattern": ["<0>", "<1>", "<2>"],
    }
