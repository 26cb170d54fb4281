"""Texts and timestamps that are compared with columns of times, with a time zone and without."""

from datetime import datetime

import pyarrow as pa
import pytest

import punctuated as pt

MOMENTS = [datetime(2024, 5, 1, hour) for hour in (9, 12, 15)]


def ask(predicate: str, zone: str | None = None) -> list[int]:
    times = pa.array(MOMENTS, pa.timestamp("us")).cast(pa.timestamp("us", zone))
    events = pt.stream(pa.table({"id": [1, 2, 3], "at": times}), key="id", time="at")
    found: list[int] = pt.sql(f"SELECT id FROM events WHERE {predicate}", events=events).results["id"].to_pylist()
    return found


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("moment", ["'2024-05-01 12:00:00'", "TIMESTAMP '2024-05-01 12:00:00'", "'2024-05-01T12:00'"])
def test_a_moment_is_one_of_the_column(zone: str | None, moment: str) -> None:
    assert ask(f"at >= {moment}", zone) == [2, 3]
    assert ask(f"at BETWEEN '2024-05-01 10:00:00' AND {moment}", zone) == [2]
    assert ask(f"at IN ({moment}, '2024-05-01 09:00:00')", zone) == [1, 2]
    assert ask(f"CASE WHEN at < {moment} THEN TRUE ELSE FALSE END", zone) == [1]


def test_an_offset_counts_where_there_is_a_time_zone() -> None:
    assert ask("at > '2024-05-01 12:00:00+02:00'", "UTC") == [2, 3]
    with pytest.raises(pt.SqlError, match="leave the offset out"):
        ask("at > '2024-05-01 12:00:00+02:00'")


def test_what_is_no_moment_is_an_error() -> None:
    with pytest.raises(pt.SqlError, match="'noon' is not a time"):
        ask("at > 'noon'")
