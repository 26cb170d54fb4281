"""Pathway's interval joins on written inputs: two threads, CSV in, all results to the null sink.

The streams are read in Pathway's static mode: everything is one batch, and nothing is forgotten. The rate is that of
the whole run. The results are counted and summed up in a run before. Started as a program by `run.py`, in the
environment `.bench/pathway`: nothing but pathway and the standard library is imported.
"""

import argparse
import os
import time
from functools import reduce
from importlib.metadata import version
from typing import Any

from benchmarks.peers.manifest import Manifest, Near, near_others
from benchmarks.peers.outcome import Outcome, of_whole_run, run_program

THREADS = "2"


def joined(pw: Any, manifest: Manifest) -> Any:
    """All results, with the columns of all streams: a chain of joins by the distance from the first stream."""
    first, *others = (
        pw.io.csv.read(
            manifest.path / "named" / f"{name}.csv",
            schema=pw.schema_from_types(**dict.fromkeys(manifest.columns_of(name), int)),
            mode="static",
        )
        for name in manifest.names
    )
    results, known = first, {f"a_{name}": first[name] for name in manifest.columns_of("a")[1:]}
    for place, other in enumerate(others, start=1):
        nears = near_others(manifest.windows_us, place, manifest.expiring)
        near = nears[0]
        interval = pw.temporal.interval(-near.earlier_us, near.later_us)
        met = pw.temporal.interval_join_inner(
            results, other, known["a_ts"], other.ts, interval, results.key == other.key
        )
        known |= {f"{near.other}_ts": other.ts, f"{near.other}_val": other.val}
        results = filtered(met.select(key=results.key, **known), nears)
        known = {name: results[name] for name in known}
    return results


def filtered(results: Any, nears: list[Near]) -> Any:
    """Those whose last member is near the ones between the first and itself, and none after its end."""
    for near in nears[1:]:
        later_us = results[f"{near.other}_ts"] - results[f"{near.ours}_ts"]
        results = results.filter((later_us >= -near.earlier_us) & (later_us <= near.later_us))
    for near in nears:
        if near.expires:
            results = results.filter(results[f"{near.other}_ts"] <= results[f"{near.ours}_until"])
    return results


def summed(pw: Any, manifest: Manifest, results: Any) -> Any:
    """One row; the checksum is `manifest.checksum_of` as Pathway writes it."""
    digits = reduce(lambda longer, value: longer * 8191 + value, (results[f"{name}_val"] for name in manifest.names))
    term = (results.key * 131 + digits) % 1000003
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

    pw.io.subscribe(summed(pw, manifest, joined(pw, manifest)), on_change=keep)
    run(pw)
    return found[-1]


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """Check, then time."""
    os.environ["PATHWAY_THREADS"] = THREADS
    import pathway as pw  # type: ignore[import-not-found]  # only in .bench/pathway; reads the variable above

    found = check(pw, manifest)
    pw.io.null.write(joined(pw, manifest))
    seconds = run(pw)
    return of_whole_run(
        options.system,
        manifest,
        seconds,
        found,
        note="whole run as one batch, forgets nothing",
        durable="nothing",
        details={"pathway": version("pathway"), "threads": THREADS},
    )


if __name__ == "__main__":
    run_program(measure, argparse.ArgumentParser(description=__doc__))
