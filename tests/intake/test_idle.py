"""An idle stream holds the other's state, until `idle_after` releases it."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from driver_harness import new_driver
from punctuated.exchange.spread import spread
from punctuated.intake.idle import IdleStreams
from punctuated.kernels.layout import SIDE
from punctuated.model.batch import Row, StreamBatch
from punctuated.model.punctuation import time_floor
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, JoinType, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.testing.strategies import COLUMNS
from punctuated.testing.tables import as_batch

MINUTE = 60_000_000
LEFT_SPEC = StreamSpec("A", COLUMNS[LEFT], ("k",), "ts", TimeWindow(10))
RIGHT_SPEC = StreamSpec("B", COLUMNS[RIGHT], ("k",), "ts", TimeWindow(10), idle_after_us=5 * MINUTE)


def share(stream: StreamSpec, *rows: tuple[int, int]) -> StreamBatch:
    batch = as_batch(stream, [Row((key, ts, 0, False)) for key, ts in rows])
    return spread(stream, batch, [pa.int64()], 1)[0]


def nothing(stream: StreamSpec) -> StreamBatch:
    return as_batch(stream, [])


@pytest.mark.parametrize(("minutes", "is_released"), [(4, False), (5, True), (9, True)])
def test_a_silent_stream_is_released_after_a_while(minutes: int, is_released: bool) -> None:
    driver = new_driver(JoinSpec((LEFT_SPEC, RIGHT_SPEC), how=JoinType.LEFT))
    driver.process(share(LEFT_SPEC, (1, 0)), share(RIGHT_SPEC, (2, 0)), now_us=MINUTE)
    later = (share(LEFT_SPEC, (3, 100)), nothing(RIGHT_SPEC))
    batch = driver.process(*later, now_us=(1 + minutes) * MINUTE)
    unmatched = [row["k"] for table in batch.results for row in table.to_pylist()]
    assert unmatched == ([1] if is_released else [])
    assert int(driver.state.sides["watermark"][1]) == (100 if is_released else 0)


def test_without_idle_after_nothing_is_released() -> None:
    driver = new_driver(JoinSpec((LEFT_SPEC, replace(RIGHT_SPEC, idle_after_us=None))))
    driver.process(share(LEFT_SPEC, (1, 0)), share(RIGHT_SPEC, (2, 0)), now_us=MINUTE)
    driver.process(share(LEFT_SPEC, (3, 100)), nothing(RIGHT_SPEC), now_us=99 * MINUTE)
    assert driver.state.sides["live"].tolist() == [2, 0]  # B's tuple has left its window by A's time, A's none


def test_what_an_idle_stream_brings_too_late_is_rejected() -> None:
    driver = new_driver(JoinSpec((LEFT_SPEC, RIGHT_SPEC)))
    driver.process(share(LEFT_SPEC, (1, 0)), share(RIGHT_SPEC, (2, 0)), now_us=MINUTE)
    driver.process(share(LEFT_SPEC, (3, 100)), nothing(RIGHT_SPEC), now_us=9 * MINUTE)
    batch = driver.process(nothing(LEFT_SPEC), share(RIGHT_SPEC, (3, 99)), now_us=10 * MINUTE)
    assert [rejected.table["reason"].to_pylist() for rejected in batch.rejected] == [["late"]]


@pytest.mark.parametrize(
    ("silent", "expected"),
    [
        ((True, False, False), [100, 70, 20]),  # the least of those that are not silent is behind already
        ((False, True, False), [100, 70, 20]),
        ((False, False, True), [100, 70, 70]),
        ((False, True, True), [100, 100, 100]),
        ((True, False, True), [100, 70, 70]),
        ((True, True, True), [100, 100, 100]),
    ],
)
def test_a_silent_stream_follows_the_least_of_those_that_are_not(silent: tuple[bool, ...], expected: list[int]) -> None:
    streams = [
        replace(LEFT_SPEC, name=name, idle_after_us=MINUTE if is_silent else None)
        for name, is_silent in zip("ABC", silent, strict=True)
    ]
    idle, sides = IdleStreams(streams), np.zeros(3, SIDE)
    sides["newest"] = sides["watermark"] = [100, 70, 20]
    batches = [nothing(stream) for stream in streams]
    assert [each.punctuations for each in idle.release(batches, sides, 0)] == [(), (), ()]
    reached = sides["watermark"].tolist()
    for side, batch in enumerate(idle.release(batches, sides, MINUTE)):
        for told in batch.punctuations:
            reached[side] = time_floor(told.patterns[1])
    assert reached == expected
