"""Names of arrival patterns."""

import pytest

from punctuated.errors import StreamError
from punctuated.streams.arrival import SegmentedArrival, UniformArrival, parse_arrival


def test_names() -> None:
    assert parse_arrival("unique") == parse_arrival("unique-asc") == SegmentedArrival("asc", 1, None, fixed=True)
    assert parse_arrival("unique-random") == SegmentedArrival("random", 1, None, fixed=True)
    assert parse_arrival("cluster-desc-20") == SegmentedArrival("desc", 20, None)
    assert (
        parse_arrival("punct-asc-100-40") == parse_arrival("punctuation-asc-100-40") == SegmentedArrival("asc", 100, 40)
    )
    assert parse_arrival("uniform-9") == UniformArrival(9)


@pytest.mark.parametrize(
    "name", ["", "punct", "punct-up-1-2", "punct-asc-100", "cluster-asc", "unique-asc-3", "uniform", "punct-asc-1-2-3"]
)
def test_unknown_name_lists_the_forms(name: str) -> None:
    with pytest.raises(StreamError, match=r"unknown arrival pattern .*known: unique, .*cluster-\[order\]-\[size\]"):
        parse_arrival(name)


@pytest.mark.parametrize("name", ["cluster-asc-0", "punct-asc-0-40", "punct-asc-10-101", "uniform-0"])
def test_sizes_that_cannot_work(name: str) -> None:
    with pytest.raises(StreamError, match=f"arrival pattern '{name}'"):
        parse_arrival(name)
