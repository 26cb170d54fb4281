"""Pathway's interval join on written inputs: two threads, CSV in, all results to the null sink.

The streams are read in Pathway's static mode: everything is one batch, and nothing is forgotten. The rate is that of
the whole run. The results are counted and summed up in a run before. Started as a program by `run.py`, in the
environment `.bench/pathway`: nothing but pathway and the standard library is imported.
"""

import argparse
import os
import time
from importlib.metadata import version
from typing import Any

from benchmarks.peers.manifest import Manifest
from benchmarks.peers.outcome import Outcome, run_program

THREADS = "2"


def joined(pw: Any, manifest: Manifest) -> Any:
    """All pairs, with the columns of both sides."""
    schema = pw.schema_from_types(key=int, ts=int, val=int)
    left, right = (
        pw.io.csv.read(manifest.path / "named" / f"{name}.csv", schema=schema, mode="static")
        for name in ("left", "right")
    )
    interval = pw.temporal.interval(-manifest.right_window_us, manifest.left_window_us)
    pairs = pw.temporal.interval_join_inner(left, right, left.ts, right.ts, interval, left.key == right.key)
    return pairs.select(key=left.key, left_ts=left.ts, left_val=left.val, right_ts=right.ts, right_val=right.val)


def summed(pw: Any, results: Any) -> Any:
    """One row; the checksum is `manifest.CHECKSUM` as Pathway writes it."""
    term = (results.key * 131 + results.left_val * 8191 + results.right_val) % 1000003
    return results.select(term=term).reduce(n=pw.reducers.count(), checksum=pw.reducers.sum(pw.this.term))


def run(pw: Any) -> float:
    """Seconds of what has been declared, which is then forgotten."""
    start = time.perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    seconds = time.perf_counter() - start
    pw.internals.parse_graph.G.clear()
    return seconds


def check(pw: Any, manifest: Manifest) -> tuple[int, int]:
    """Number and checksum of the results."""
    found = [(0, 0)]

    def keep(key: object, row: dict[str, int], time: int, is_addition: bool) -> None:
        if is_addition:
            found.append((row["n"], row["checksum"]))

    pw.io.subscribe(summed(pw, joined(pw, manifest)), on_change=keep)
    run(pw)
    return found[-1]


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """Check, then time."""
    os.environ["PATHWAY_THREADS"] = THREADS
    import pathway as pw  # type: ignore[import-not-found]  # only in .bench/pathway; reads the variable above

    results, checksum = check(pw, manifest)
    pw.io.null.write(joined(pw, manifest))
    seconds = run(pw)
    return Outcome(
        options.system,
        note="whole run as one batch, forgets nothing",
        rows=manifest.rows,
        seconds=seconds,
        rows_per_s=manifest.rows / seconds,
        results=results,
        checksum=checksum,
        details={"pathway": version("pathway"), "threads": THREADS},
    )


if __name__ == "__main__":
    run_program(measure, argparse.ArgumentParser(description=__doc__))
