"""Windows and durations."""

from datetime import timedelta
from typing import Any

import pytest

from punctuated.errors import WindowError
from punctuated.model.window import CountWindow, TimeWindow, as_window, between, parse_duration, rows


@pytest.mark.parametrize(
    ("duration", "expected_us"),
    [
        ("12 hours", 43_200_000_000),
        ("1 min 30 s", 90_000_000),
        ("1 minute, 30 seconds", 90_000_000),
        ("500ms", 500_000),
        ("1.5 s", 1_500_000),
        ("2 DAYS", 172_800_000_000),
        ("1 week", 604_800_000_000),
        ("7 µs", 7),
        ("0 seconds", 0),
        ("-1 s", -1_000_000),
        ("1h30m", 5_400_000_000),
        ("1 s , 2 ms", 1_002_000),
        ("123456789012345679 us", 123_456_789_012_345_679),  # more than a float tells apart
        (42, 42),
        (timedelta(milliseconds=3), 3_000),
    ],
)
def test_durations(duration: Any, expected_us: int) -> None:
    assert parse_duration(duration) == expected_us


@pytest.mark.parametrize(
    ("duration", "message"),
    [
        ("", "cannot read the duration"),
        ("soon", "cannot read the duration"),
        ("12", "cannot read the duration"),
        ("12 hours and a bit", "cannot read the duration"),
        ("1" * 100_000, "cannot read the duration"),
        ("1" * 400 + " s", "cannot read the duration"),
        ("1" + " " * 100_000, "cannot read the duration"),
        ("1 s" + " ," * 50_000 + "!", "cannot read the duration"),
        ("3 fortnights", "unknown unit 'fortnights'"),
        (True, "is not a duration"),
        (1.5, "is not a duration"),
        (None, "is not a duration"),
        (2**61, "leave the window out"),
        ("100000 weeks 1000000 weeks 1000000 weeks", "leave the window out"),
    ],
)
def test_durations_that_cannot_be_read(duration: Any, message: str) -> None:
    with pytest.raises(WindowError, match=message):
        parse_duration(duration)


def test_time_window_bounds_are_closed() -> None:
    window = between("1 s", "2 s")
    assert window == TimeWindow(span_us=2_000_000, offset_us=1_000_000)
    distances = (999_999, 1_000_000, 2_000_000, 2_000_001)
    assert [window.admits(distance) for distance in distances] == [False, True, True, False]
    assert TimeWindow(0).admits(0)


def test_windows_that_cannot_work() -> None:
    with pytest.raises(WindowError, match="cannot be negative"):
        as_window("-1 s")
    with pytest.raises(WindowError, match="cannot be negative"):
        between("-1 s", "1 s")
    with pytest.raises(WindowError, match="exceeds its upper bound"):
        between("2 s", "1 s")
    with pytest.raises(WindowError, match="holds no tuple"):
        rows(0)
    with pytest.raises(WindowError, match="must be an integer"):
        rows(True)
    with pytest.raises(WindowError, match="use per='key'"):
        rows(3, per="value")


def test_as_window() -> None:
    assert as_window(None) is None
    assert as_window("5 s") == TimeWindow(5_000_000)
    assert as_window(rows(3, per="key")) == CountWindow(3, per_key=True)
