"""Trips with missing END events: how far does each taxi go? Windows and punctuations together.

python examples/trips.py            on tables, in this process
python examples/trips.py --spark    on a local Spark, from files to files; it prints the same

A taxi reports its start, then the kilometres since the last report. The last report says END, and the trip is complete
at that moment. But reports get lost, and with them the END. Such a trip ends by its window: no trip takes longer than
three hours, so after that nothing can be added to it.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import punctuated as pt
from local_spark import print_answer, session, write_files

WHY = {"both": "END came", "early": "three hours were over"}
SHOWN = 3  # of each kind


class Taxis(NamedTuple):
    """Two streams, in the order of time."""

    starts: pa.Table  # trip, started_at
    reports: pa.Table  # trip, at, km, end


def generate(n: int = 400, seed: int = 3) -> Taxis:
    """A day of trips, with a report every five minutes, of which one in twenty is lost; so is one END in twenty."""
    random = np.random.default_rng(seed)
    started = np.sort(random.integers(0, 20 * 3600, n))
    n_reports = random.integers(2, 20, n)
    trip = np.repeat(np.arange(n), n_reports)
    number = np.concatenate([np.arange(1, count + 1) for count in n_reports])
    at = started[trip] + 300 * number
    reports = pa.table(
        {"trip": trip, "at": times(at), "km": random.integers(1, 50, trip.size) / 10, "end": number == n_reports[trip]}
    )
    heard = np.flatnonzero(random.random(trip.size) >= 0.05)
    in_time = heard[np.argsort(at[heard], kind="stable")]
    return Taxis(pa.table({"trip": np.arange(n), "started_at": times(started)}), reports.take(pa.array(in_time)))


def times(seconds: Any) -> pa.Array:
    """Seconds of the first of January 1970 as times."""
    return pa.array(seconds * 1_000_000).cast(pa.timestamp("us", "UTC"))


TAXIS = generate()


def query(starts: Any, reports: Any) -> Any:
    """Each trip with its reports; tables give tables, files and DataFrames a streaming query."""
    once = pt.unique()  # a trip starts once: no report is stored
    trips = pt.stream(starts, name="starts", key="trip", time="started_at", window="3 hours", punctuations=once)
    heard = pt.stream(reports, name="reports", key="trip", time="at", punctuations=pt.when("end"))
    return pt.join(trips, heard)


def lengths(joined: Any) -> Any:
    """A row per trip, when it is over."""
    return joined.group_by("trip").agg(reports=pt.count(), km=pt.sum("km"))


def on_tables() -> list[str]:
    """The answer, in this process."""
    joined = query(*TAXIS)
    return answer(lengths(joined), joined.punctuations)


def on_spark(folder: Path) -> list[str]:
    """The answer by way of Spark: files, one for each six hours, and two tables of what came out."""
    six_hours = timedelta(hours=6)
    with session() as spark:
        starts, reports = (
            pt.files(spark, write_files(folder / name, table, time, every=six_hours), max_files=1)
            for name, table, time in (("starts", TAXIS.starts, "started_at"), ("reports", TAXIS.reports, "at"))
        )
        running = pt.write_to(
            lengths(query(starts, reports)),
            groups=str(folder / "trips"),
            punctuations=str(folder / "over"),
            checkpoint=str(folder / "checkpoint"),
            trigger="availableNow",
            finish=True,
        )
        running.awaitTermination()
    return answer(pq.read_table(folder / "trips"), pq.read_table(folder / "over"))


def answer(trips: pa.Table, over: pa.Table) -> list[str]:
    """What was asked for, line by line: a trip's punctuation says when it was over, and by which proof."""
    rows = trips.join(over.select(["trip", "ts", "reason"]), "trip").sort_by("trip").to_pylist()
    starts = TAXIS.starts["started_at"].to_pylist()
    found = Counter(row["reason"] for row in rows)
    return [
        f"{TAXIS.starts.num_rows} trips, {TAXIS.reports.num_rows:,} reports",
        "",
        *(f"  {found[reason]:>3} trips ended because {why}" for reason, why in WHY.items()),
        "",
        "  trip  start  reports    km   over   because",
        *(
            f"  {row['trip']:>4}  {starts[row['trip']]:%H:%M}  {row['reports']:>7}  {row['km']:>4.1f}"
            f"  {row['ts']:%H:%M}  {WHY[reason]}"
            for reason in WHY
            for row in [row for row in rows if row["reason"] == reason][:SHOWN]
        ),
    ]


def main(arguments: Sequence[str] = ()) -> None:
    """Print the answer."""
    print_answer(arguments, on_tables, on_spark)


if __name__ == "__main__":
    main(sys.argv[1:])
