"""`make bench-core`: the engine-free core on one core, against its targets and against DuckDB on the same rows.

Speeds are those of the driver: tables in, Arrow columns out. Small differences between algorithms are judged by the
median of interleaved pairs, with an interval. Prints a table, writes JSON.
"""

import argparse
import gc
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from punctuated import streams
from punctuated.model.algorithm import choose_algorithm
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import TimeWindow
from punctuated.operator.driver import JoinDriver
from punctuated.runtime.calibration.timed_join import timed
from punctuated.state.setup import DriverSetup

SECOND = 1_000_000
COLUMNS = ("key", "ts", "val")
Pair = tuple[pa.Table, pa.Table]


def spec(window_s: float, algorithm: str = "pwjoin", *, flag: bool = False, punctuated: bool = False) -> JoinSpec:
    """Both streams with the same window; with `flag`, the column that the generator marks says the punctuations."""
    window = TimeWindow(int(window_s * SECOND))
    columns = (*COLUMNS, "last")
    sides = [
        StreamSpec(name, columns, ("key",), "ts", window, flag="last" if flag else None, punctuated=flag or punctuated)
        for name in ("A", "B")
    ]
    return JoinSpec((sides[0], sides[1]), algorithm=choose_algorithm(algorithm))


def batches(tables: Pair, size: int, endings: Pair | None = None) -> Iterator[tuple[StreamBatch, StreamBatch]]:
    """Cut everything at the same moments, about `size` tuples of each stream at a time."""
    edges = _micros(tables[0])[size::size]
    cut_tables = zip(*(_cut(table, edges) for table in tables), strict=True)
    if endings is None:
        yield from ((StreamBatch(a), StreamBatch(b)) for a, b in cut_tables)
        return
    cut_endings = zip(*(_cut(table, edges) for table in endings), strict=True)
    for (a, b), (a_ends, b_ends) in zip(cut_tables, cut_endings, strict=True):
        yield _with_endings(a, a_ends), _with_endings(b, b_ends)


def _cut(table: pa.Table, edges: np.ndarray[Any, np.dtype[np.int64]]) -> list[pa.Table]:
    places = [0, *np.searchsorted(_micros(table), edges).tolist(), len(table)]
    return [table.slice(start, stop - start) for start, stop in pairwise(places)]


def _micros(table: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.asarray(table["ts"].cast(pa.int64()).to_numpy())


def _with_endings(table: pa.Table, endings: pa.Table) -> StreamBatch:
    return StreamBatch(table, (EndedKeys(endings.select(["key"]), endings["ts"].cast(pa.int64()), in_band=True),))


def run(join: JoinSpec, tables: Pair, size: int = 10**9, endings: Pair | None = None) -> tuple[float, int, JoinDriver]:
    """Seconds, results, and the driver as it stands before the streams end."""
    join = _only(join, tables)
    columns = list(join.left.columns)
    selected = tables[0].select(columns), tables[1].select(columns)
    driver = JoinDriver(DriverSetup(join, (selected[0].schema, selected[1].schema), (pa.int64(),)))
    gc.collect()
    start = time.perf_counter()
    results = 0
    for left, right in batches(selected, size, endings):
        output = driver.process(left, right)
        results += sum(len(table) for table in output.results)
        del output
    return time.perf_counter() - start, results, driver


def _only(join: JoinSpec, tables: Pair) -> JoinSpec:
    """The same join over the columns that the tables have."""
    columns = tuple(name for name in join.left.columns if name in tables[0].column_names)
    return replace(join, streams=tuple(replace(stream, columns=columns) for stream in join.streams))


def best(join: JoinSpec, tables: Pair, times: int = 3, size: int = 10**9) -> tuple[float, int]:
    """The fastest of several runs: what the code can do on a shared machine."""
    outcomes = [run(join, tables, size)[:2] for _ in range(times)]
    return min(seconds for seconds, _ in outcomes), outcomes[0][1]


def paired(first: Callable[[], float], second: Callable[[], float], pairs: int) -> tuple[float, float, float]:
    """Median ratio of interleaved runs, and an interval of 95 % for it by order statistics."""
    ratios = []
    for i in range(pairs):
        if i % 2:
            b, a = second(), first()
        else:
            a, b = first(), second()
        ratios.append(a / b)
    ratios.sort()
    spread = max(1, round(0.98 * len(ratios) ** 0.5))
    middle = len(ratios) // 2
    return statistics.median(ratios), ratios[max(0, middle - spread)], ratios[min(len(ratios) - 1, middle + spread)]


def bench_speed(n: int) -> dict[str, Any]:
    tables = streams.w1(n)
    one, fifteen = spec(1, flag=True), spec(15, flag=True)
    run(one, (tables[0].slice(0, 1000), tables[1].slice(0, 1000)))  # compile or load the kernels
    seconds, results = best(one, tables)
    wide_seconds, wide_results = best(fifteen, tables)
    return {
        "tuples_per_s_1s": 2 * len(tables[0]) / seconds,
        "results_1s": results,
        "results_per_s_15s": wide_results / wide_seconds,
        "results_15s": wide_results,
    }


def bench_kernel(n: int) -> dict[str, Any]:
    """Result pairs per second of the loop alone, without making columns of them."""
    tables = streams.w1(n)
    join = spec(15, flag=True)
    selected = tables[0].select(list(join.left.columns)), tables[1].select(list(join.left.columns))
    driver = JoinDriver(DriverSetup(join, (selected[0].schema, selected[1].schema), (pa.int64(),)))
    timed(driver)
    start = time.perf_counter()
    driver.process(StreamBatch(selected[0]), StreamBatch(selected[1]))
    seconds = time.perf_counter() - start
    return {"pairs_per_s_15s": int(driver.state.common["results"][0]) / seconds}


def seconds(join: JoinSpec, tables: Pair, endings: Pair | None = None) -> float:
    """How long one run takes, in batches: the results of all in one go are so large that page faults drown the rest."""
    return run(join, tables, size=100_000, endings=endings)[0]


def bench_algorithms(n: int, pairs: int) -> dict[str, Any]:
    """PWJoin against WJoin: with punctuations, without any, and with only irrelevant ones."""
    tables = streams.w1(n)
    found: dict[str, Any] = {}
    for window in (15, 60):
        with_p, without = spec(window, flag=True), spec(window, "wjoin")
        found[f"pwjoin_per_wjoin_{window}s"] = paired(
            partial(seconds, with_p, tables), partial(seconds, without, tables), pairs
        )
    bare_p, bare_w = spec(15), spec(15, "wjoin")
    baseline = partial(seconds, bare_w, tables)
    found["no_punctuations"] = paired(partial(seconds, bare_p, tables), baseline, pairs)
    irrelevant = _irrelevant(tables[0]), _irrelevant(tables[1])
    said = spec(15, punctuated=True)
    found["irrelevant_punctuations"] = paired(partial(seconds, said, tables, irrelevant), baseline, pairs)
    return found


def _irrelevant(table: pa.Table) -> pa.Table:
    """As many punctuations as the stream has, of values that never occur."""
    ends = table.filter(table["last"]).select(["key", "ts"])
    return ends.set_column(0, "key", pa.array(-1 - np.arange(len(ends))))


def bench_memory(n: int) -> dict[str, Any]:
    """Bytes per stored tuple of W2, index, row and all, after its windows are full."""
    tables = streams.w2(n)
    tables = tables[0].select(list(COLUMNS)), tables[1].select(list(COLUMNS))
    seconds, results, driver = run(spec(3600), tables, size=100_000)
    stored = int(driver.state.sides["live"].sum())
    return {
        "bytes_per_tuple_w2": driver.nbytes / stored,
        "stored_w2": stored,
        "tuples_per_s_w2": 2 * n / seconds,
        "results_w2": results,
        "breakdown": {
            name: array.nbytes / stored
            for name, array in driver.state.arrays._asdict().items()
            if array.nbytes > stored
        }
        | {"rows": sum(rows.nbytes for rows in driver.rows) / stored},
    }


def bench_scaling(largest: int) -> dict[str, Any]:
    """Cost per tuple as the stream grows, fed in batches of 100,000."""
    found = {}
    n = 100_000
    while n <= largest:
        tables = streams.w1(n // 2)
        found[f"{n}"] = run(spec(1, flag=True), tables, size=100_000)[0] / n * 1e9
        n *= 10
    return {"ns_per_tuple": found}


def bench_duckdb(n: int) -> dict[str, Any]:
    """The same join as a query over two tables: equality and a time range."""
    tables = streams.w1(n)
    a, b = tables[0].select(list(COLUMNS)), tables[1].select(list(COLUMNS))
    connection = duckdb.connect(config={"threads": 1})
    columns = "a.key, a.ts AS a_ts, a.val AS a_val, b.ts AS b_ts, b.val AS b_val"
    condition = "a.key = b.key AND b.ts BETWEEN a.ts - INTERVAL 15 SECOND AND a.ts + INTERVAL 15 SECOND"
    start = time.perf_counter()
    relation = connection.from_arrow(a).set_alias("a").join(connection.from_arrow(b).set_alias("b"), condition)
    theirs = sum(batch.num_rows for batch in relation.project(columns).to_arrow_reader(1_000_000))
    seconds = time.perf_counter() - start
    ours_seconds, ours = best(spec(15), (a, b), times=2)
    assert ours == theirs, f"{ours} results here, {theirs} from DuckDB"
    return {"duckdb_s": seconds, "ours_s": ours_seconds, "duckdb_per_ours": seconds / ours_seconds, "results": ours}


TARGETS: list[tuple[str, str, Callable[[dict[str, Any]], float], str, float]] = [
    ("W1, 1 s windows", "M tuples/s", lambda r: r["speed"]["tuples_per_s_1s"] / 1e6, ">=", 10),
    ("W1, 15 s windows, pairs", "M pairs/s", lambda r: r["kernel"]["pairs_per_s_15s"] / 1e6, ">=", 30),
    ("W1, 15 s windows, as Arrow columns", "M rows/s", lambda r: r["speed"]["results_per_s_15s"] / 1e6, ">=", 8),
    ("PWJoin / WJoin time, 15 s", "x", lambda r: r["algorithms"]["pwjoin_per_wjoin_15s"][0], "<=", 1.0),
    ("PWJoin / WJoin time, 60 s", "x", lambda r: r["algorithms"]["pwjoin_per_wjoin_60s"][0], "<=", 1.0),
    ("... without punctuations", "x", lambda r: r["algorithms"]["no_punctuations"][0], "<=", 1.03),
    ("... with irrelevant punctuations", "x", lambda r: r["algorithms"]["irrelevant_punctuations"][0], "<=", 1.05),
    ("bytes per stored tuple of W2", "bytes", lambda r: r["memory"]["bytes_per_tuple_w2"], "<=", 96),
    ("cost per tuple, 10^7 / 10^5", "x", lambda r: _growth(r["scaling"]["ns_per_tuple"]), "<=", 1.3),
    ("DuckDB / ours, same rows", "x", lambda r: r["duckdb"]["duckdb_per_ours"], ">=", 1.0),
]


def _growth(costs: dict[str, float]) -> float:
    ordered = list(costs.values())
    return ordered[-1] / ordered[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2_000_000, help="tuples per stream of W1 and W2")
    parser.add_argument("--pairs", type=int, default=25, help="interleaved pairs per comparison")
    parser.add_argument("--largest", type=int, default=10_000_000, help="tuples of the largest stream pair")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/core.json"))
    options = parser.parse_args()
    pa.set_cpu_count(1)
    console = Console()
    result: dict[str, Any] = {"machine": platform.machine(), "python": platform.python_version(), "n": options.n}
    steps: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": lambda: bench_speed(options.n),
        "kernel": lambda: bench_kernel(options.n),
        "algorithms": lambda: bench_algorithms(options.n // 4, options.pairs),
        "memory": lambda: bench_memory(options.n),
        "scaling": lambda: bench_scaling(options.largest),
        "duckdb": lambda: bench_duckdb(options.n // 4),
    }
    for name, step in steps.items():
        with console.status(f"measuring {name}"):
            result[name] = step()
    table = Table("what", "measured", "target", "", title="Core, one core")
    for what, unit, read, sign, target in TARGETS:
        value = read(result)
        met = value >= target if sign == ">=" else value <= target
        table.add_row(what, f"{value:,.2f} {unit}", f"{sign} {target:g}", "met" if met else "[red]missed[/red]")
    console.print(table)
    for name, (median, low, high) in result["algorithms"].items():
        console.print(f"{name}: median {median:.3f}, 95 % between {low:.3f} and {high:.3f}")
    console.print(json.dumps(result["scaling"]), json.dumps(result["memory"], indent=1), json.dumps(result["duckdb"]))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
