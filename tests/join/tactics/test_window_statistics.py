"""What a running join knows of its streams."""

import numpy as np
import pyarrow as pa
import pytest

from punctuated.join.driver import JoinDriver
from punctuated.join.setup import DriverSetup
from punctuated.join.tactics.window_statistics import Observation
from punctuated.model.algorithm import pair
from punctuated.model.batch import StreamBatch
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import CountWindow

SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
N_VALUES = 50


def observed(rates: list[tuple[int, int]]) -> list[Observation]:
    """What the optimizer gets to see after each second of two streams at these rates."""
    left, right = (
        StreamSpec(name=name, columns=("k", "ts"), key=("k",), time="ts", window=CountWindow(n))
        for name, n in (("A", 100), ("B", 400))
    )
    seen: list[Observation] = []

    def note(what: Observation, structures: tuple[str, str]) -> tuple[str, str]:
        seen.append(what)
        return structures

    spec = JoinSpec((left, right), algorithm=pair("HH"))
    driver = JoinDriver(DriverSetup(spec, (SCHEMA, SCHEMA), (pa.int64(),), chooser=note))
    rng = np.random.default_rng(4)
    for second, counts in enumerate(rates):
        one, two = (
            pa.table(
                [rng.integers(0, N_VALUES, n), np.linspace(second * 10**6, (second + 1) * 10**6 - 1, n).astype(int)],
                schema=SCHEMA,
            )
            for n in counts
        )
        driver.process(StreamBatch(one), StreamBatch(two))
    return seen


def test_rates_windows_and_matches_are_those_of_the_streams() -> None:
    *_, last = observed([(1000, 500)] * 8)
    assert last.rates == pytest.approx((1000, 500), rel=0.01)
    assert last.windows == (100, 400)
    assert last.matches == pytest.approx((100 / N_VALUES, 400 / N_VALUES), rel=0.1)


def test_a_shift_of_the_rates_shows_within_a_few_batches() -> None:
    seen = observed([(1000, 500)] * 4 + [(100, 5000)] * 4)
    assert seen[2].rates == pytest.approx((1000, 500), rel=0.01)
    assert seen[-1].rates == pytest.approx((100, 5000), rel=0.6)


def test_one_batch_tells_no_rates() -> None:
    assert observed([(1000, 500)]) == []
