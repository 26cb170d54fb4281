"""Bytes for the state store are what they were, whether or not they are sorted by their places in words."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from punctuated.spark.state.store import compress, decompress


@given(st.binary(max_size=200))
@example(b"")
@example(np.arange(1000).tobytes() + b"tail")
def test_what_is_compressed_comes_back(data: bytes) -> None:
    assert decompress(compress(data)) == data
    assert decompress(compress(pa.py_buffer(data))) == data


def test_numbers_take_less_if_their_bytes_are_sorted() -> None:
    numbers = np.random.default_rng(1).integers(0, 1 << 24, 100_000).tobytes()
    assert len(compress(numbers)) < 0.45 * len(numbers)
    assert decompress(compress(numbers)) == numbers


@pytest.mark.parametrize("text", [b"a text that says the same again and again, " * 999, bytes(4096)])
def test_other_bytes_stay_in_order(text: bytes) -> None:
    assert len(compress(text)) < len(text) / 50
    assert decompress(compress(text)) == text
