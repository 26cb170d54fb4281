"""The streams of PJoin's experiments, and a run of a join over them with its figures (PJ-14, PJ-15).

Tuples come every 2 ms on average, by a Poisson process. A value is drawn from those that are open: so many at a time,
each for a while, the same on both streams, so that joins are many-to-many. A stream punctuates after so many tuples on
average (Poisson), and names all values that have been closed since it did last.
"""

from collections.abc import Mapping
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from papers.lab.progress import Progress, silent
from papers.lab.trial import SECOND_US, Series, cut, join_quietly

TUPLE_US = 2_000  # between two tuples of a stream
OPEN = 5  # values at a time
STEPS, _FEWEST_STEPS = 120, 16  # samples of a run
Tables = tuple[pa.Table, pa.Table]


def punctuated_streams(n: int, spacing: tuple[int, int], seed: int = 1) -> Tables:
    """Two streams of about `n` tuples each; the one that punctuates more often does so once for every value."""
    life_us = min(spacing) * TUPLE_US
    return _stream(n, spacing[0], life_us, seed), _stream(n, spacing[1], life_us, seed + 1)


def _stream(n: int, spacing: int, life_us: int, seed: int) -> pa.Table:
    """One stream; a value is opened every `life_us`, and closed when OPEN others have followed."""
    rng = np.random.default_rng(seed)
    ts = np.cumsum(rng.exponential(TUPLE_US, n + n // 10 + 100)).astype(np.int64)
    ts = ts[ts < n * TUPLE_US]
    n = ts.size
    newest = ts // life_us
    keys = newest - rng.integers(0, OPEN, n)
    positions = np.cumsum(np.maximum(1, rng.poisson(spacing, 2 * n // spacing)))
    positions = positions[positions < n]
    closed = newest[positions] - OPEN + 1  # all below
    texts = [_text(low, high) for low, high in zip([-OPEN, *closed.tolist()], closed.tolist(), strict=False)]
    some = [i for i, text in enumerate(texts) if text]
    after = positions[some]  # the tuples that punctuations follow
    order = np.argsort(np.concatenate([ts, ts[after]]), kind="stable")
    tuples = pa.table({"key": keys, "ts": ts, "punctuation": pa.nulls(n, pa.string())})
    rows = {"key": keys[after], "ts": ts[after], "punctuation": pa.array([texts[i] for i in some])}
    return pa.concat_tables([tuples, pa.table(rows)]).take(pa.array(order))


def _text(low: int, high: int) -> str | None:
    """The punctuation for the values from `low` to below `high`."""
    values = ",".join(map(str, range(low, high)))
    return f"<{{{values}}},*>" if values else None


def run_join(tables: Tables, algorithm: str, progress: Progress = silent, **options: Any) -> dict[str, Any]:
    """A join batch by batch: its state, results, punctuations and CPU time at each step, and at its end."""
    steps = max(_FEWEST_STEPS, min(STEPS, len(tables[0]) // 200))
    step_us = max(int(table["ts"][-1].as_py()) for table in tables) // steps + 1
    streams = [
        pt.stream(cut(table, step_us, steps), name=name, key="key", time="ts", punctuations=pt.rows_with("punctuation"))
        for name, table in zip("AB", tables, strict=True)
    ]
    joined = join_quietly(streams[0], streams[1], algorithm, **options)
    driver = joined.bound.driver()
    series: Series = {
        name: [] for name in ("seconds", "left", "right", "state", "results", "punctuations_out", "cpu_s")
    }
    spent = 0.0
    for i, batch in enumerate(joined.batches):
        began = process_time()
        driver.process(*batch)
        spent += process_time() - began
        _sample(series, driver, (i + 1) * step_us / SECOND_US, spent)
        progress((i + 1) / steps)
    began = process_time()
    driver.end()
    counts = driver.counts()
    return {
        "series": series,
        "results": counts["results"],
        "punctuations_out": counts["punctuations_out"],
        "rejected": sum(counts[name] for name in counts if name.startswith("rejected")),
        "cpu_s": spent + process_time() - began,
    }


def _sample(series: Series, driver: Any, seconds: float, spent: float) -> None:
    counts = driver.counts()
    on_disk = driver.spill.monitor.on_disk
    left, right = (counts[f"state_{side}"] + more for side, more in zip(("left", "right"), on_disk, strict=True))
    sampled = (seconds, left, right, left + right, counts["results"], counts["punctuations_out"], spent)
    for name, value in zip(series, sampled, strict=True):
        series[name].append(value)


def purge_policy(threshold: int) -> pt.Policy:
    """PJoin that purges after so many punctuations, and propagates only when asked."""
    lazy = {"purge": "lazy", "purge_threshold": threshold} if threshold > 1 else {"purge": "eager"}
    return pt.Policy(propagate="pull", **lazy)


def settled(run: Mapping[str, Any], name: str) -> float:
    """The mean of a series over the second half of a run."""
    values = run["series"][name]
    return float(np.mean(values[len(values) // 2 :]))


def growth(run: Mapping[str, Any], name: str) -> float:
    """How many times as much a series grew in the last quarter of a run as in the second one."""
    values = run["series"][name]
    quarter = len(values) // 4
    last, second = values[-1] - values[-quarter - 1], values[2 * quarter] - values[quarter]
    return float(last / second) if second else float("inf")


def ratio(run: Mapping[str, Any], name: str) -> float:
    """How many times as large a series is in the last quarter of a run as it was in the second one."""
    values = run["series"][name]
    quarter = len(values) // 4
    return float(np.mean(values[-quarter:]) / max(1, np.mean(values[quarter : 2 * quarter])))
