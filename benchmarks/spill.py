"""What it costs to keep a part of the state on disk: the same join with memory for all of it, a tenth and a hundredth.

Streams are those of W2: two streams of a key that is never the same for long, a long window, and punctuations or none.
Prints a table; the figures of docs/decisions/015-cold-values.md come from it.
"""

import argparse
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from punctuated.bind.bound_join import BoundJoin
from punctuated.intake.reading import Reader
from punctuated.local.run import LocalRun, in_buckets
from punctuated.model.algorithm import choose_algorithm
from punctuated.model.batch import StreamBatch
from punctuated.model.memory import Memory
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow

SECOND = 1_000_000
COLUMNS = ("key", "ts", "payload")
Pair = tuple[pa.Table, pa.Table]


@dataclass(frozen=True)
class Workload:
    """Two tables, and how they are joined."""

    name: str
    spec: JoinSpec
    tables: Pair


def run(workload: Workload, memory: int | None, size: int, buckets: int | None = None) -> tuple[float, int, int, int]:
    """Seconds, results, the largest number of stored tuples, and over how many buckets they were spread."""
    spec = JoinSpec(
        workload.spec.streams,
        algorithm=workload.spec.algorithm,
        memory=None if memory is None else Memory(tuples=memory),
    )
    types = (workload.tables[0].schema.field("key").type,)
    both = zip(spec.streams, workload.tables, strict=True)
    inputs = tuple(Reader(stream, None, table.schema, types) for stream, table in both)
    n = max(map(len, workload.tables))
    batches = [[StreamBatch(table.slice(at, size)) for table in workload.tables] for at in range(0, n, size)]
    bound = in_buckets(BoundJoin(spec, inputs), batches, threads=1, wanted=buckets)
    local = LocalRun(bound)
    gc.collect()
    results, largest, start = 0, 0, time.perf_counter()
    for batch in batches:
        for part in local.process_in_parts(batch):
            results += sum(len(table) for table in part.results)
        largest = max(largest, sum(int(driver.state.n_stored.sum()) for driver in local.drivers))
    return time.perf_counter() - start, results, largest, bound.n_buckets


def _table(keys: np.ndarray, ts: np.ndarray, as_text: bool) -> pa.Table:
    key = pa.array(keys)
    payload = pa.array(np.arange(keys.size)).cast(pa.string())
    return pa.table([key.cast(pa.string()) if as_text else key, pa.array(ts), payload], names=COLUMNS)


def auctions(n: int, as_text: bool = False) -> Workload:
    """Each auction opens once and has bids within a window that holds them all; bids come soon, as a rule (W2)."""
    rng = np.random.default_rng(1)
    ts = np.arange(n) * 1000
    behind = np.minimum(rng.geometric(20 / n, n), np.arange(n))  # how many auctions ago
    left = _table(np.arange(n), ts, as_text)
    right = _table(np.arange(n) - behind, ts + 1, as_text)
    window = TimeWindow(n * 1000)
    a = StreamSpec("A", COLUMNS, ("key",), "ts", window, unique=True, punctuated=True)
    b = StreamSpec("B", COLUMNS, ("key",), "ts", window)
    return Workload("unique auctions, bids", JoinSpec((a, b)), (left, right))


def windows(n: int, as_text: bool = False) -> Workload:
    """Both streams have keys that drift, and a window of half of the streams."""
    rng = np.random.default_rng(2)
    ts = np.arange(n) * 1000
    tables = [_table(np.abs(np.arange(n) // 4 - rng.geometric(80 / n, n)), ts + side, as_text) for side in range(2)]
    streams = tuple(StreamSpec(name, COLUMNS, ("key",), "ts", TimeWindow(n * 500)) for name in "AB")
    return Workload(
        "drifting keys, windows", JoinSpec(streams, algorithm=choose_algorithm("wjoin")), (tables[0], tables[1])
    )


def uniform(n: int, as_text: bool = False) -> Workload:
    """Any key at any time: nothing can be foreseen."""
    rng = np.random.default_rng(3)
    ts = np.arange(n) * 1000
    tables = [_table(rng.integers(0, n // 4, n), ts + side, as_text) for side in range(2)]
    streams = tuple(StreamSpec(name, COLUMNS, ("key",), "ts", TimeWindow(n * 500)) for name in "AB")
    return Workload(
        "uniform keys, windows", JoinSpec(streams, algorithm=choose_algorithm("wjoin")), (tables[0], tables[1])
    )


WORKLOADS: list[Callable[[int, bool], Workload]] = [auctions, windows, uniform]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuples", type=int, default=1_000_000, help="of each stream")
    parser.add_argument("--batch", type=int, default=10**9, help="tuples of each stream in a batch")
    parser.add_argument("--text", action="store_true", help="keys are texts")
    parser.add_argument("--only", default="", help="workloads whose names begin so")
    parser.add_argument("--buckets", type=int, help="with a limit of memory; by default as the join itself chooses")
    parser.add_argument("--shares", type=float, nargs="*", default=[1, 0.1, 0.01])
    given = parser.parse_args()
    shown = Table("workload", "state", "memory", "buckets", "seconds", "ratio", "results")
    for make in WORKLOADS:
        workload = make(given.tuples, given.text)
        if not workload.name.startswith(given.only):
            continue
        run(workload, 1000, 10**9) if given.tuples <= 10_000 else run(make(10_000, given.text), 1000, 10**9)
        plain, results, largest, _ = run(workload, None, given.batch)
        shown.add_row(workload.name, f"{largest:,}", "no limit", "1", f"{plain:.2f}", "", f"{results:,}")
        for share in given.shares:
            seconds, found, _, n = run(workload, int(largest * share), given.batch, given.buckets)
            assert found == results
            shown.add_row("", "", f"{share:.0%}", f"{n}", f"{seconds:.2f}", f"{seconds / plain:.2f}", f"{found:,}")
    Console().print(shown)


if __name__ == "__main__":
    main()
