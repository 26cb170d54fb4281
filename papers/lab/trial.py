"""What an experiment observes: a join of two generated streams, and its counters over time, whichever engine runs it.

WJoin is given the same tuples as an operator that is unaware of punctuations, so its streams are declared without any
(PW-57).
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.bind.sources import Source
from punctuated.errors import UnboundedStateWarning
from punctuated.model.times import to_microseconds

SECOND_US = 1_000_000
Series = dict[
    str, list[float]
]  # counters at moments of event time, as lists that survive JSON; `seconds` are the moments


@dataclass(frozen=True)
class Input:
    """A generated stream, its window in seconds, and what says that a value is over."""

    table: pa.Table = field(repr=False)
    window_s: float | None = None
    punctuations: Source | None = None

    def declare(self, name: str, data: Any) -> pt.Stream:
        """The stream over its rows, as a table, as batches or as a Spark DataFrame."""
        window = None if self.window_s is None else f"{self.window_s} seconds"
        declared: pt.Stream = pt.stream(
            data, name=name, key="key", time="ts", window=window, punctuations=self.punctuations
        )
        return declared


@dataclass(frozen=True)
class Trial:
    """A join to be observed."""

    algorithm: str
    left: Input
    right: Input

    @property
    def tables(self) -> tuple[pa.Table, pa.Table]:
        """The rows of both streams."""
        return self.left.table, self.right.table

    def streams(self, left: Any, right: Any) -> tuple[pt.Stream, pt.Stream]:
        """Both streams, declared over these rows."""
        return self.left.declare("A", left), self.right.declare("B", right)

    def span_us(self) -> tuple[int, int]:
        """From the first object of either stream to the end of the one that ends first."""
        both = [times_us(table) for table in self.tables]
        return min(int(ts[0]) for ts in both), min(int(ts[-1]) for ts in both)


def alike(
    algorithm: str, tables: Sequence[pa.Table], window_s: float | None, punctuations: Source | None = None
) -> Trial:
    """Both streams with the same window and the same kind of punctuations."""
    left, right = (Input(table, window_s, punctuations) for table in tables)
    return Trial(algorithm, left, right)


def with_and_without(tables: Sequence[pa.Table], window_s: float) -> dict[str, Trial]:
    """PWJoin by the flags of the streams, and WJoin, which takes no notice of them."""
    return {
        "PWJoin": alike("pwjoin", tables, window_s, pt.when("last")),
        "WJoin": alike("wjoin", tables, window_s),
    }


def join_quietly(left: pt.Stream, right: pt.Stream, algorithm: str, **options: Any) -> Any:
    """`pt.join` without the warning of unbounded state: some baselines are unbounded, and that is what we show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnboundedStateWarning)
        return pt.join(left, right, algorithm=algorithm, **options)


# Counters over time


def with_sum(series: Series) -> Series:
    """The series with `state`, the tuples of both sides; `Engine.state_name` says what these are."""
    both = zip(series["state_left"], series["state_right"], strict=True)
    return series | {"state": [left + right for left, right in both]}


def only(series: Mapping[str, list[float]], columns: Iterable[str]) -> Series:
    """The moments and these counters."""
    return {name: series[name] for name in ("seconds", *columns)}


def mean_after(series: Series, name: str, seconds: float) -> float:
    """The mean of a counter over the samples from this time on; 0 if the run was shorter."""
    values = [value for at, value in zip(series["seconds"], series[name], strict=True) if at >= seconds]
    return float(np.mean(values)) if values else 0.0


# Tables in time


def generated(patterns: Iterable[str], n: int, **options: Any) -> list[pa.Table]:
    """A stream of `n` tuples for each arrival pattern, all of them different."""
    return [pt.streams.generate(pattern, n, seed=seed, **options) for seed, pattern in enumerate(patterns, 1)]


def times_us(table: pa.Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The times of a generated stream, in microseconds."""
    return to_microseconds(table["ts"], "ts")


def rate(table: pa.Table) -> float:
    """Tuples per second."""
    ts = times_us(table)
    return len(ts) * SECOND_US / max(1, int(ts[-1]))


def cut(table: pa.Table, step_us: int, n: int | None = None, start_us: int = 0) -> list[pa.Table]:
    """Batches of equal time spans, so that batches of two streams cover the same time.

    The first `n` from this start on; without `n` as many as hold all the rest.

    >>> table = pa.table({"ts": [1, 2, 5, 9]})
    >>> [batch["ts"].to_pylist() for batch in cut(table, 3)]
    [[1, 2], [5], [], [9]]
    >>> [batch["ts"].to_pylist() for batch in cut(table, 3, n=2, start_us=2)]
    [[2], [5]]
    """
    ts = times_us(table)
    if n is None:
        n = (int(ts[-1]) - start_us) // step_us + 1
    edges = np.searchsorted(ts, start_us + np.arange(n + 1) * step_us).tolist()
    return [table.slice(first, last - first) for first, last in pairwise(edges)]
