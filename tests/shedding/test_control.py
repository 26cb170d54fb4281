"""Shares follow what earlier batches told, and how long they took."""

import pytest

from punctuated.shedding.control import Pace


def test_nothing_is_limited_before_a_batch_was_slow() -> None:
    pace = Pace(1_000_000)
    for second in range(3):
        pace.begin(second * 1_000_000)
        pace.probes = 500
    assert pace.limit is None


def test_a_slow_batch_tells_what_can_be_done() -> None:
    pace = Pace(1_000_000)
    pace.begin(0)
    pace.probes = 1_000
    pace.begin(4_000_000)
    assert pace.limit == 250


def test_the_limit_is_lifted_while_batches_are_fast() -> None:
    pace = Pace(1_000_000)
    pace.load([100.0, 100, 0])
    pace.begin(1_000_000)
    assert pace.limit == 125


def test_a_pace_goes_on_from_what_was_saved() -> None:
    pace, same = Pace(1_000_000), Pace(1_000_000)
    pace.begin(0)
    pace.probes = 300
    same.load(pace.save())
    for each in (pace, same):
        each.begin(3_000_000)
    assert pace.limit == same.limit == pytest.approx(100)
