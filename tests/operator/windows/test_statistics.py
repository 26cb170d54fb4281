"""What a running join knows of its streams."""

import json

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from punctuated.kernels.layout import NO_PROBE, NO_STORE, NULL_KEY, Objects
from punctuated.model.algorithm import pair
from punctuated.model.batch import BucketId, StreamBatch
from punctuated.model.load import Chooser, Observation, Sides
from punctuated.model.shed import Shed
from punctuated.model.spec import RIGHT, JoinSpec, StreamSpec
from punctuated.model.window import CountWindow
from punctuated.operator.driver import JoinDriver
from punctuated.operator.windows.tactic import WindowStatistics
from punctuated.snapshot.journal import Journal, restore
from punctuated.state.setup import DriverSetup

SCHEMA = pa.schema([("k", pa.int64()), ("ts", pa.int64())])
N_VALUES = 50


def driver_of(note: Chooser, shed: Shed | None = None) -> JoinDriver:
    left, right = (
        StreamSpec(name=name, columns=("k", "ts"), key=("k",), time="ts", window=CountWindow(n))
        for name, n in (("A", 100), ("B", 400))
    )
    spec = JoinSpec((left, right), algorithm=pair("HH"), shed=shed)

    def half_of_the_left(rates: Sides, windows: Sides, limit: float | None) -> tuple[Sides, Sides]:
        return (rates[0] / 2, 0), (windows[0], windows[1] / 4)

    allocate = None if shed is None else half_of_the_left
    return JoinDriver(DriverSetup(spec, (SCHEMA, SCHEMA), (pa.int64(),), chooser=note, allocate=allocate))


def second_of(second: int, counts: tuple[int, int]) -> tuple[StreamBatch, StreamBatch]:
    rng = np.random.default_rng(second)
    left, right = (
        pa.table(
            [rng.integers(0, N_VALUES, n), np.linspace(second * 10**6, (second + 1) * 10**6 - 1, n).astype(int)],
            schema=SCHEMA,
        )
        for n in counts
    )
    return StreamBatch(left), StreamBatch(right)


def observed(rates: list[tuple[int, int]], shed: Shed | None = None) -> list[Observation]:
    """What the optimizer gets to see after each second of two streams at these rates."""
    seen: list[Observation] = []

    def note(what: Observation, structures: tuple[str, str]) -> tuple[str, str]:
        seen.append(what)
        return structures

    driver = driver_of(note, shed)
    for second, counts in enumerate(rates):
        driver.process(*second_of(second, counts))
    return seen


def test_rates_windows_and_matches_are_those_of_the_streams() -> None:
    *_, last = observed([(1000, 500)] * 8)
    assert last.rates == last.probing == last.storing == pytest.approx((1000, 500), rel=0.01)
    assert last.windows == (100, 400)
    assert last.matches == pytest.approx((100 / N_VALUES, 400 / N_VALUES), rel=0.1)


def test_a_shift_of_the_rates_shows_within_a_few_batches() -> None:
    seen = observed([(1000, 500)] * 4 + [(100, 5000)] * 4)
    assert seen[2].rates == pytest.approx((1000, 500), rel=0.01)
    assert seen[-1].rates == pytest.approx((100, 5000), rel=0.6)


def test_one_batch_tells_no_rates() -> None:
    assert observed([(1000, 500)]) == []


def test_what_is_shed_neither_probes_nor_is_stored() -> None:
    """KN-38."""
    *_, last = observed([(1000, 500)] * 8, Shed(rate=1))
    assert last.rates == pytest.approx((1000, 500), rel=0.01)
    assert last.probing == pytest.approx((500, 0), rel=0.1)
    assert last.storing == pytest.approx((1000, 125), rel=0.15)
    assert last.matches[1] == pytest.approx(last.windows[1] / N_VALUES, rel=0.15)


def test_a_bucket_sees_the_tuples_that_another_one_counts() -> None:
    """A side that goes to all buckets is counted in one of them, and is work in each."""
    seen: list[Observation] = []

    def note(what: Observation, structures: tuple[str, str]) -> tuple[str, str]:
        seen.append(what)
        return structures

    left, right = (
        StreamSpec(name=name, columns=("k", "ts"), key=(), time="ts", window=CountWindow(100)) for name in "AB"
    )
    spec = JoinSpec((left, right), algorithm=pair("NN"))
    assert spec.everywhere == (RIGHT,)
    driver = JoinDriver(DriverSetup(spec, (SCHEMA, SCHEMA), (), chooser=note, place=BucketId(1, 2)))
    for second in range(3):
        driver.process(*second_of(second, (1000, 500)))
    assert seen[-1].rates == pytest.approx((1000, 500), rel=0.01)


def test_null_keys_meet_nobody() -> None:
    statistics = WindowStatistics()
    status = np.array([0, NULL_KEY, NO_PROBE, NO_STORE, NO_PROBE | NO_STORE], np.uint8)
    statistics.count([objects_with(status), objects_with(status[:2])])
    counted, *_ = json.loads(statistics.save().plain["observed"])
    assert counted == [[5, 2], [2, 1], [2, 1]]


def objects_with(status: npt.NDArray[np.uint8]) -> Objects:
    ints, bytes_ = np.empty(0, np.int64), np.empty(0, np.uint8)
    return Objects(ints, ints, status, ints, ints, ints, bytes_, ints, ints, ints)


def test_statistics_that_were_saved_go_on_as_if_nothing_had_been() -> None:
    """One driver goes on; the other is restored after every batch, as by a worker that has not seen it."""
    seen: dict[str, list[Observation]] = {"kept": [], "saved": []}

    def noting(name: str) -> Chooser:
        def note(what: Observation, structures: tuple[str, str]) -> tuple[str, str]:
            seen[name].append(what)
            return structures

        return note

    kept, saved = driver_of(noting("kept")), driver_of(noting("saved"))
    for second in range(6):
        rates = (1000, 500) if second < 3 else (100, 900)
        for driver in (kept, saved):
            driver.process(*second_of(second, rates))
        written, saved = Journal().write(saved), driver_of(noting("saved"))
        restore(saved, [written])
    assert seen["saved"] == seen["kept"] and len(seen["kept"]) == 5
