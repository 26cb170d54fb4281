"""DataFusion's symmetric hash join on written inputs: two threads, CSV in, all results read batch by batch.

The files are declared as unbounded and ordered by time, so that DataFusion joins them as streams and forgets what no
later row can match. It runs in this process, without an engine and without durability. The results are counted and
summed up in a run before. Started as a program by `run.py`, in the environment `.bench/datafusion`: nothing but
datafusion, what it brings along and the standard library is imported.
"""

import argparse
import time
from importlib.metadata import version
from typing import Any

from benchmarks.peers.manifest import Manifest, Near, checksum_of, from_clause
from benchmarks.peers.outcome import Outcome, of_whole_run, run_program

THREADS = 2
KEY = '"key"'  # a word of SQL


def context(manifest: Manifest) -> Any:
    """The streams as tables that are read once, from their first row to their last."""
    from datafusion import SessionConfig, SessionContext  # type: ignore[import-not-found]  # only in .bench/datafusion

    found = SessionContext(SessionConfig().with_target_partitions(THREADS))
    for name in manifest.names:
        columns = ", ".join(f'"{column}" BIGINT' for column in manifest.columns_of(name))
        found.sql(
            f"CREATE UNBOUNDED EXTERNAL TABLE {name} ({columns}) STORED AS CSV "
            f"WITH ORDER (ts ASC) LOCATION '{manifest.path / name}.csv' OPTIONS ('format.has_header' 'false')"
        ).collect()
    return found


def condition(near: Near) -> str:
    """How near two tuples must be; as a comparison of two times, for that is what it prunes by."""
    ours, other = f"{near.ours}.ts", f"{near.other}.ts"
    within = f"{other} >= {ours} - {near.earlier_us} AND {other} <= {ours} + {near.later_us}"
    return f"{within} AND {other} <= {near.ours}.until" if near.expires else within


def joined(manifest: Manifest, columns: str) -> str:
    """The join as a query."""
    return f"SELECT {columns} {from_clause(manifest.windows_us, manifest.expiring, KEY, condition)}"


def all_columns(manifest: Manifest) -> str:
    """The key, and time and value of every stream."""
    return ", ".join(
        [f"a.{KEY}", *(f"{name}.{column} AS {name}_{column}" for name in manifest.names for column in ("ts", "val"))]
    )


def check(manifest: Manifest) -> tuple[int, int]:
    """Number and checksum of the results."""
    import pyarrow.compute as pc

    term = checksum_of(f"a.{KEY}", [f"{name}.val" for name in manifest.names])
    results = checksum = 0
    for batch in context(manifest).sql(joined(manifest, f"{term} AS term")).execute_stream():
        found = batch.to_pyarrow()
        results, checksum = results + found.num_rows, checksum + (pc.sum(found.column(0)).as_py() or 0)
    return results, checksum


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """Check, then time."""
    results, checksum = check(manifest)
    query, made = joined(manifest, all_columns(manifest)), context(manifest)
    start = time.perf_counter()
    read = sum(batch.to_pyarrow().num_rows for batch in made.sql(query).execute_stream())
    seconds = time.perf_counter() - start
    assert read == results, f"{read} results, {results} before"
    plan = made.sql(query).execution_plan().display_indent()
    return of_whole_run(
        options.system,
        manifest,
        seconds,
        (results, checksum),
        note="whole run in one process, nothing durable",
        durable="nothing",
        details={"datafusion": version("datafusion"), "threads": THREADS, "plan": plan},
    )


if __name__ == "__main__":
    run_program(measure, argparse.ArgumentParser(description=__doc__))
