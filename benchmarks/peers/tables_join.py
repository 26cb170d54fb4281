"""Our own join of tables on written inputs, without an engine: two threads, CSV in, all results read batch by batch.

Without punctuations, which the files do not have. The results are counted and summed up in a run before, which also
loads the kernels. Started as a program by `run.py`.
"""

import argparse
import time
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from benchmarks.peers.manifest import Manifest
from benchmarks.peers.outcome import Outcome, of_whole_run, run_program

import punctuated as pt

THREADS = 2


def results(manifest: Manifest, threads: int) -> pa.RecordBatchReader:
    """Read the files and join them: the key, and time and value of every stream."""
    streams = [
        pt.stream(
            pyarrow.csv.read_csv(manifest.path / "named" / f"{name}.csv"),
            name=name,
            key="key",
            time="ts",
            window=pt.until("until") if "until" in manifest.columns_of(name) else window,
        )
        for name, window in zip(manifest.names, manifest.windows_us, strict=True)
    ]
    wanted = [f"{column}_{side}" for column in ("ts", "val") for side in ("left", "right")]
    select = wanted if len(streams) == 2 else None
    return pt.join(*streams, threads=threads, select=select).reader()


def check(manifest: Manifest, threads: int) -> tuple[int, int]:
    """Number and checksum of the results; the checksum is `manifest.checksum_of` as Arrow computes it."""
    names = ["val_left", "val_right"] if len(manifest.names) == 2 else [f"{name}_val" for name in manifest.names]
    n = total = 0
    for batch in results(manifest, threads):
        digits: Any = 0
        for name in names:
            digits = pc.add(pc.multiply(digits, 8191), batch[name])
        term = pc.add(pc.multiply(batch["key"], 131), digits)
        left = pc.subtract(term, pc.multiply(pc.divide(term, 1_000_003), 1_000_003))
        n, total = n + batch.num_rows, total + (pc.sum(left).as_py() or 0)
    return n, total


def measure(manifest: Manifest, options: argparse.Namespace) -> Outcome:
    """Check, then time."""
    found, checksum = check(manifest, options.threads)
    start = time.perf_counter()
    read = sum(batch.num_rows for batch in results(manifest, options.threads))
    seconds = time.perf_counter() - start
    assert read == found, f"{read} results, {found} before"
    return of_whole_run(
        options.system,
        manifest,
        seconds,
        (found, checksum),
        note=f"whole run in one process on {options.threads} threads, nothing durable",
        durable="nothing",
        details={"punctuated": pt.__version__, "threads": options.threads},
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=THREADS)
    run_program(measure, parser)
