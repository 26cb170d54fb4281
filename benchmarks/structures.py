"""`python benchmarks/structures.py`: structures over a sliding window, against what one would take in Python.

On one core, each contender does the same work in the same run: probe with a key, insert a tuple, remove the oldest
(KN-02). Times are CPU times, medians of interleaved repeats, per operation. Prints tables, writes JSON.
"""

import argparse
import gc
import json
import platform
import statistics
import time
from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from rich.console import Console
from rich.table import Table
from sortedcontainers import SortedList  # type: ignore[import-untyped]

from punctuated.kernels.jit import in_place
from punctuated.kernels.layout import Indices, Ints
from punctuated.kernels.windows.structures import WindowIndex, collect, insert, lacks_room, remove
from punctuated.model.spec import LEFT
from punctuated.operator.windows.indexes import WindowIndexes

TARGET = 10e6  # probes per second of H


class Contender(Protocol):
    """A window of fixed size over a stream of keys."""

    def update(self, keys: Ints) -> None:
        """Insert each key, and remove the oldest one after it."""

    def probe(self, keys: Ints) -> int:
        """How many stored tuples have these keys, all in all, after listing them."""


@in_place
def slide(index: WindowIndex, side: int, keys: Ints, at: int, number: int, ring: int) -> int:
    """Update a window with keys from `at` on; returns where it lacks room."""
    while at < keys.size and not lacks_room(index):
        place = number % ring
        index.group[place], index.number[place] = keys[at], number
        index.low[place] = index.high[place] = 0
        insert(index, side, place)
        remove(index, side, (number + 1) % ring)
        at += 1
        number += 1
    return at


@in_place
def probe_all(index: WindowIndex, side: int, keys: Ints, oldest: int, ring: int, found: Indices) -> int:
    """Probe a window whose oldest tuple is at `oldest` and which fills all its ring but one slot."""
    n = 0
    for key in keys:
        n += collect(index, side, oldest, min(oldest + ring - 1, ring), key, 0, 0, found)
        if index.sides[side].kind == 0 and oldest > 1:
            n += collect(index, side, 0, oldest - 1, key, 0, 0, found)
    return n


class Ours:
    """One of our structures."""

    def __init__(self, structure: str, keys: Ints, bucket_size: int = 10) -> None:
        size = keys.size
        self.ring = size + 1
        self.indexes = WindowIndexes((structure, "N"), bucket_size=bucket_size, capacity=self.ring)
        places, zeros = np.arange(size), np.zeros(size, np.int64)
        self.indexes.reload(self.ring, places, places[:0], keys, zeros, zeros, places)
        self.number = size
        self.found = np.empty(self.ring, np.int32)

    def update(self, keys: Ints) -> None:
        at = 0
        while at < keys.size:
            if lacks_room(self.indexes.arrays):
                self.indexes.grow()
            came_to = slide(self.indexes.arrays, 0, keys, at, self.number, self.ring)
            self.number += came_to - at
            at = came_to

    def probe(self, keys: Ints) -> int:
        oldest = (self.number + 1) % self.ring
        return probe_all(self.indexes.arrays, 0, keys, oldest, self.ring, self.found)


class Sorted:
    """A `SortedList` of pairs, and the order of arrival."""

    def __init__(self, keys: Ints) -> None:
        self.number = keys.size
        pairs = list(zip(keys.tolist(), range(keys.size), strict=True))
        self.arrivals, self.entries = deque(pairs), SortedList(pairs)

    def update(self, keys: Ints) -> None:
        entries, arrivals = self.entries, self.arrivals
        for number, key in enumerate(keys.tolist(), self.number):
            entries.add((key, number))
            arrivals.append((key, number))
            entries.remove(arrivals.popleft())
        self.number += keys.size

    def probe(self, keys: Ints) -> int:
        n, last = 0, self.number
        for key in keys.tolist():
            n += len(list(self.entries.irange((key, -1), (key, last))))
        return n


class Dictionary:
    """A dict of deques, and the order of arrival."""

    def __init__(self, keys: Ints) -> None:
        self.number = keys.size
        self.arrivals = deque(keys.tolist())
        self.entries: defaultdict[int, deque[int]] = defaultdict(deque)
        for number, key in enumerate(self.arrivals):
            self.entries[key].append(number)

    def update(self, keys: Ints) -> None:
        entries, arrivals = self.entries, self.arrivals
        for number, key in enumerate(keys.tolist(), self.number):
            entries[key].append(number)
            arrivals.append(key)
            oldest = arrivals.popleft()
            entries[oldest].popleft()
            if not entries[oldest]:
                del entries[oldest]
        self.number += keys.size

    def probe(self, keys: Ints) -> int:
        n = 0
        for key in keys.tolist():
            matches = self.entries.get(key)
            if matches is not None:
                n += len(list(matches))
        return n


CONTENDERS: dict[str, Callable[[Ints], Contender]] = {
    "H": lambda keys: Ours("H", keys),
    "B": lambda keys: Ours("B", keys),
    "T": lambda keys: Ours("T", keys),
    "N": lambda keys: Ours("N", keys),
    "SortedList": Sorted,
    "dict of deques": Dictionary,
}


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    start = time.process_time()
    outcome = work()
    return time.process_time() - start, outcome


def race(size: int, n_keys: int, repeats: int, n: int) -> dict[str, dict[str, float]]:
    """Nanoseconds per probe, and per insert with the removal of the oldest, of every contender.

    Probes that scan the window or find much of it are fewer.
    """
    rng = np.random.default_rng(size)
    initial = rng.integers(0, n_keys, size)
    contenders = {name: make(initial) for name, make in CONTENDERS.items()}
    times: dict[str, dict[str, list[float]]] = {name: {"probe": [], "update": []} for name in contenders}
    for _ in range(repeats):
        keys, probes = rng.integers(0, n_keys, n), rng.integers(0, n_keys, n if n_keys > size else n // 20)
        matches = {}
        for name, contender in contenders.items():
            ours = probes[: n // 20] if name == "N" else probes
            updating, _ = seconds(partial(contender.update, keys))
            probing, matches[name] = seconds(partial(contender.probe, ours))
            times[name]["update"].append(updating / n)
            times[name]["probe"].append(probing / ours.size)
        assert matches.pop("N") == contenders["H"].probe(probes[: n // 20])
        assert len(set(matches.values())) == 1, matches
    return {
        name: {work: 1e9 * statistics.median(found) for work, found in ours.items()} for name, ours in times.items()
    }


def bench_probes(size: int, bucket_size: int, repeats: int) -> float:
    """Probes per second of H with nearly unique keys."""
    rng = np.random.default_rng(size)
    ours = Ours("H", rng.integers(0, 10 * size, size), bucket_size)
    found = []
    for _ in range(repeats):
        probes = rng.integers(0, 10 * size, 1_000_000)
        found.append(probes.size / seconds(partial(ours.probe, probes))[0])
    return statistics.median(found)


def bench_memory(size: int) -> dict[str, float]:
    """Bytes per tuple of each structure, keys included and rows not, after it has slid over many (KN-24)."""
    found = {}
    for letter in "NHBT":
        rng = np.random.default_rng(size)
        ours = Ours(letter, rng.integers(0, 10 * size, size))
        ours.update(rng.integers(0, 10 * size, 10 * size))
        found[letter] = ours.indexes.bytes_in_use(LEFT) / size
    return found


def show_races(races: dict[str, dict[str, dict[str, float]]]) -> Table:
    table = Table("window, keys", "", *CONTENDERS, title="Nanoseconds per operation, one core")
    for name, contenders in races.items():
        for work in ("probe", "update"):
            table.add_row(name, work, *(f"{ours[work]:,.0f}" for ours in contenders.values()))
    return table


def show_probes(speeds: dict[str, float]) -> Table:
    table = Table("window, bucket size", "M probes/s", "target", "", title="H, nearly unique keys, one core")
    for name, speed in speeds.items():
        met = "met" if speed >= TARGET else "[red]missed[/red]"
        table.add_row(name, f"{speed / 1e6:.1f}", f">= {TARGET / 1e6:g}", met)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000, help="operations per repeat")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 10_000, 100_000], help="tuples in the window")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/structures.json"))
    options = parser.parse_args()
    console = Console()
    workloads = [(size, "nearly unique", 10 * size) for size in options.sizes]
    workloads += [(size, what, n) for size in options.sizes if size <= 10_000 for what, n in (("100", 100), ("1", 1))]
    races = {}
    for size, what, n_keys in sorted(workloads):
        with console.status(f"window of {size:,} tuples, keys: {what}"):
            races[f"{size:,}, {what}"] = race(size, n_keys, options.repeats, options.n)
    speeds = {
        f"{size:,}, {bucket_size}": bench_probes(size, bucket_size, options.repeats)
        for size in options.sizes
        for bucket_size in (1, 10)
    }
    result = {
        "machine": platform.machine(),
        "python": platform.python_version(),
        "n": options.n,
        "ns": races,
        "h_probes_per_s": speeds,
        "index_bytes_per_tuple": bench_memory(5_000),
    }
    console.print(show_races(races), show_probes(speeds), json.dumps(result["index_bytes_per_tuple"], indent=1))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
