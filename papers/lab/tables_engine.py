"""Joins over tables, in this process: the engine-free driver, seen after any object."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import punctuated as pt
from papers.lab.progress import Progress, silent
from papers.lab.race import race
from papers.lab.trial import SECOND_US, Series, Trial, cut, join_quietly, times_us, with_sum
from punctuated.bind.bound_join import BoundJoin
from punctuated.model.batch import StreamBatch
from punctuated.operator.driver import JoinDriver


@dataclass(frozen=True)
class Prepared:
    """A join with its input already cut into batches, so that only the join itself is timed."""

    bound: BoundJoin
    batches: list[tuple[StreamBatch, ...]]

    def driver(self) -> JoinDriver:
        """A driver that has seen nothing yet."""
        return self.bound.driver()


def prepare(left: pt.Stream, right: pt.Stream, algorithm: str) -> Prepared:
    """A join of two streams that come in batches."""
    joined = join_quietly(left, right, algorithm)
    return Prepared(joined.bound, joined.batches)


class TablesEngine:
    """The whole stream is one batch when it is sampled; a race takes it in batches.

    A sample is taken in the middle of the batch, when it is known that neither stream brings anything older than the
    moment: what is in state then may still match.
    """

    name = "tables"
    state_name = "tuples in state"

    def sample(self, trial: Trial, step_us: int, progress: Progress = silent) -> Series:
        """The join's counters at every step.

        The last rows of the metrics are taken when a stream has ended; they belong to no step and are left out.
        """
        streams = trial.streams(*trial.tables)
        metrics = join_quietly(*streams, trial.algorithm, sample_every=f"{step_us} us").metrics
        start, end = trial.span_us()
        ts = times_us(metrics)
        kept = ((ts - start) % step_us == 0) & (ts <= end)
        series: Series = {"seconds": ((ts[kept] - start) / SECOND_US).tolist()}
        for name in metrics.column_names[1:]:
            series[name] = metrics[name].to_numpy()[kept].tolist()
        progress(1.0)
        return with_sum(series)

    def race(
        self, trials: Mapping[str, Trial], batch_us: int, repeats: int, progress: Progress = silent
    ) -> dict[str, dict[str, Any]]:
        """Time whole runs."""
        joins = {name: _prepare_batches(trial, batch_us) for name, trial in trials.items()}
        timed = race({name: partial(_timed, join) for name, join in joins.items()}, repeats, progress)
        return {name: timed[name] | {"batches": len(join.batches), "timed_share": 1.0} for name, join in joins.items()}


TABLES = TablesEngine()


def _prepare_batches(trial: Trial, batch_us: int) -> Prepared:
    batches = [cut(table, batch_us) for table in trial.tables]
    return prepare(*trial.streams(*batches), trial.algorithm)


def _timed(prepared: Prepared) -> Series:
    driver, results = prepared.driver(), 0
    curve: Series = {"seconds": [0.0], "results": [0]}
    start = time.perf_counter()
    for batches in prepared.batches:
        results += sum(len(table) for table in driver.process(*batches).results)
        curve["seconds"].append(time.perf_counter() - start)
        curve["results"].append(results)
    return curve
