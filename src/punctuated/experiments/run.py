"""Joins under observation: the state sampled at a fixed step of event time, or results against the wall clock.

Both feed the engine-free driver. WJoin is given the same tuples as an operator that is unaware of punctuations, so its
streams are declared without any (PW-57).
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.api.sources import Source
from punctuated.api.table_input import cast_schema, key_types, read_batches
from punctuated.errors import UnboundedStateWarning
from punctuated.experiments.experiment import Progress, report
from punctuated.join.driver import JoinDriver
from punctuated.model.batch import StreamBatch
from punctuated.model.spec import JoinSpec
from punctuated.model.times import to_microseconds

SECOND_US = 1_000_000
_MOST_POINTS = 200  # of a curve in a result file
Series = dict[str, list[float]]


def declare(
    name: str, table: pa.Table | Sequence[pa.Table], window_s: float | None, punctuations: Source | None = None
) -> pt.Stream:
    """A generated stream with its window, in seconds."""
    window = None if window_s is None else f"{window_s} seconds"
    return pt.stream(table, name=name, key="key", time="ts", window=window, punctuations=punctuations)


def times_us(table: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The times of a generated stream, in microseconds."""
    return to_microseconds(table["ts"], "ts")


def rate(table: pa.Table) -> float:
    """Tuples per second."""
    ts = times_us(table)
    return len(ts) * SECOND_US / max(1, int(ts[-1]))


def join_quietly(left: pt.Stream, right: pt.Stream, algorithm: str, step: str | None = None) -> pt.Join:
    """`pt.join` without the warning of unbounded state: some baselines are unbounded, and that is what we show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnboundedStateWarning)
        joined: pt.Join = pt.join(left, right, algorithm=algorithm, sample_every=step)
        return joined


# Against event time


def sample(left: pt.Stream, right: pt.Stream, algorithm: str, step_us: int) -> Series:
    """The join's counters at every step, as long as both streams go on (PW-56).

    The last rows of the metrics are taken when a stream has ended; they belong to no step and are left out.
    """
    metrics = join_quietly(left, right, algorithm, f"{step_us} us").metrics
    both = [times_us(stream.batches[0]) for stream in (left, right)]
    start, end = min(int(ts[0]) for ts in both), min(int(ts[-1]) for ts in both)
    ts = times_us(metrics)
    kept = ((ts - start) % step_us == 0) & (ts <= end)
    series: Series = {"seconds": ((ts[kept] - start) / SECOND_US).tolist()}
    for name in metrics.column_names[1:]:
        series[name] = metrics[name].to_numpy()[kept].tolist()
    series["state"] = [a + b for a, b in zip(series["state_left"], series["state_right"], strict=True)]
    return series


def mean_after(series: Series, name: str, seconds: float) -> float:
    """The mean of a counter over the samples from this time on; 0 if the run was shorter."""
    values = [value for at, value in zip(series["seconds"], series[name], strict=True) if at >= seconds]
    return float(np.mean(values)) if values else 0.0


# Against the wall clock


@dataclass(frozen=True)
class Prepared:
    """A join with its input already cut into batches, so that only the join itself is timed."""

    spec: JoinSpec
    schemas: tuple[pa.Schema, pa.Schema]
    key_types: list[pa.DataType]
    batches: list[tuple[StreamBatch, StreamBatch]]

    def driver(self) -> JoinDriver:
        """A driver that has seen nothing yet."""
        return JoinDriver(self.spec, self.schemas, self.key_types)


def prepare(left: pt.Stream, right: pt.Stream, algorithm: str) -> Prepared:
    """A join of two streams that come in batches."""
    types = key_types(left, right)
    schemas = cast_schema(left, types), cast_schema(right, types)
    return Prepared(join_quietly(left, right, algorithm).spec, schemas, types, list(read_batches(left, right, types)))


def cut(table: pa.Table, step_us: int, time_column: str = "ts") -> list[pa.Table]:
    """Batches of equal time spans from time 0 on, so that batches of two streams cover the same time."""
    ts = to_microseconds(table[time_column], time_column)
    edges = np.searchsorted(ts, np.arange(0, int(ts[-1]) + step_us + 1, step_us)).tolist()
    return [table.slice(first, last - first) for first, last in pairwise(edges)]


def race(joins: Mapping[str, Prepared], repeats: int, progress: Progress | None = None) -> dict[str, dict[str, Any]]:
    """Time the joins in turns, so that a slow spell of the machine hits all of them.

    Returns per join the seconds of all repetitions, their median, and the curve of results over time in the repetition
    nearest to the median. A first round only warms up.
    """
    rounds: dict[str, list[Series]] = {name: [] for name in joins}
    for turn in range(repeats + 1):
        for i, (name, prepared) in enumerate(joins.items()):
            rounds[name].append(_timed(prepared))
            report(progress, (turn + (i + 1) / len(joins)) / (repeats + 1))
    return {name: _summary(curves[1:]) for name, curves in rounds.items()}


def _timed(prepared: Prepared) -> Series:
    driver, results = prepared.driver(), 0
    curve: Series = {"seconds": [0.0], "results": [0]}
    start = time.perf_counter()
    for left, right in prepared.batches:
        results += sum(len(table) for table in driver.process(left, right).results)
        curve["seconds"].append(time.perf_counter() - start)
        curve["results"].append(results)
    return curve


def _summary(curves: list[Series]) -> dict[str, Any]:
    totals = [curve["seconds"][-1] for curve in curves]
    middle = median(totals)
    typical = curves[int(np.argmin([abs(total - middle) for total in totals]))]
    shown = np.unique(np.linspace(0, len(typical["seconds"]) - 1, _MOST_POINTS).astype(int)).tolist()
    return {
        "repetitions_s": totals,
        "median_s": middle,
        "results": typical["results"][-1],
        "curve": {name: [values[i] for i in shown] for name, values in typical.items()},
    }


def ratio(slower: Mapping[str, Any], faster: Mapping[str, Any]) -> float:
    """How many times longer the one took than the other: each round on its own, then the median of the rounds."""
    pairs = zip(slower["repetitions_s"], faster["repetitions_s"], strict=True)
    return float(median(one / two for one, two in pairs))
