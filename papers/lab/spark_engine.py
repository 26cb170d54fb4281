"""Joins as streaming queries on Spark: one partition, one bucket, seen after each micro-batch.

Both streams are cut at the same moments and written as files, one per micro-batch and stream. Spark takes one of each
per trigger, so the streams stay in step, and a micro-batch ends where a sample of the tables would be taken:

    event time   |-----------|-----------|-----------|
    A             00000       00001       00002
    B             00000       00001       00002
    samples                  ^           ^           ^

What the join then holds is read from the query's observed metrics. What happens inside a micro-batch is not seen, and
micro-batches are fewer than samples of tables: each costs Spark a good part of a second. In a race the queries run at
the same time and take turns, a micro-batch each.
"""

import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Condition
from time import perf_counter
from typing import Any

import numpy as np

import punctuated as pt
from papers.lab.progress import Progress, silent
from papers.lab.race import summary
from papers.lab.trial import SECOND_US, Series, Trial, cut, join_quietly, with_sum
from punctuated.errors import PunctuatedError
from punctuated.model.counters import COLUMNS
from punctuated.runtime.kernel_groups import Kernels
from punctuated.runtime.warm_up import compile_beside
from punctuated.spark.session.local import check_java, local_spark, read_files, write_files

MOST_SAMPLES = 30
_POLL_S = 0.05
_SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.streaming.numRecentProgressUpdates": "10000",  # the metrics of every micro-batch
}


@contextmanager
def local_engine(log: Path) -> Iterator["SparkEngine"]:
    """An engine on a Spark of this process, whose messages go to `log`."""
    check_java("run the experiments without Spark: --engine tables")
    with tempfile.TemporaryDirectory(prefix="punctuated-experiments-") as name:
        compile_beside(tuple(Kernels))  # before workers ask for it
        with local_spark("punctuated experiments", Path(name), log) as spark:
            yield SparkEngine(spark, Path(name) / "streams")


@dataclass(frozen=True)
class Feed:
    """A join whose streams are on disk, one file per micro-batch."""

    trial: Trial
    folder: Path
    batches: int


class SparkEngine:
    """Runs each join as a query of its own in a session, over files in a folder of the caller.

    After a micro-batch each stream is known up to its own last tuple only: a few tuples are left that a sample of
    tables no longer counts, because the other stream has gone on.
    """

    name = "spark"
    state_name = "tuples left by a micro-batch"

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark = pt.configure(spark.newSession())
        for name, value in _SETTINGS.items():
            self._spark.conf.set(name, value)
        self._folders = (folder / f"{number:03}" for number in count())

    def sample(self, trial: Trial, step_us: int, progress: Progress = silent) -> Series:
        """The join's counters at every step, or at every third, fifth … if there would be too many."""
        start, end = trial.span_us()
        step_us *= _stride((end - start) // step_us)
        n = (end - start) // step_us
        rows = [each.total for each in self._run(self._feed(trial, step_us, n, start), progress)] if n else []
        series: Series = {"seconds": [(i + 1) * step_us / SECOND_US for i in range(n)]}
        return with_sum(series | {name: [row[name] for row in rows] for name in COLUMNS})

    def _run(self, feed: Feed, progress: Progress) -> list[pt.metrics.JoinMetrics]:
        """The metrics after each micro-batch."""
        with self._started(feed) as query:
            _watch({"": query}, feed.batches, progress)
            return _metrics(query, feed.batches)

    def race(
        self, trials: Mapping[str, Trial], batch_us: int, repeats: int, progress: Progress = silent
    ) -> dict[str, dict[str, Any]]:
        """Time micro-batches: all but the first, which warms up, and the last, with which its query ends."""
        n = min(repeats, MOST_SAMPLES) + 2
        feeds = {name: self._feed(trial, trial.span_us()[1] // n + 1, n) for name, trial in trials.items()}
        turns = Turns(list(feeds))
        with ExitStack() as stack:
            queries = {
                name: stack.enter_context(self._started(feed, partial(turns.take, name)))
                for name, feed in feeds.items()
            }
            _watch(queries, n, progress, turns.leave)
            found = {name: _metrics(query, n) for name, query in queries.items()}
        return {name: _timed(turns.seconds[name], found[name]) for name in feeds}

    def _feed(self, trial: Trial, step_us: int, n: int, start_us: int = 0) -> Feed:
        folder = next(self._folders)
        for name, table in zip("AB", trial.tables, strict=True):
            write_files(folder / name, cut(table, step_us, n, start_us))
        return Feed(trial, folder, n)

    @contextmanager
    def _started(self, feed: Feed, before_batch: Callable[[], None] | None = None) -> Iterator[Any]:
        """A query over the files; it does not outlive the block."""
        frames = [read_files(self._spark, feed.folder / name) for name in "AB"]
        joined = join_quietly(*feed.trial.streams(*frames), feed.trial.algorithm, buckets=1)
        with tempfile.TemporaryDirectory(dir=feed.folder) as checkpoint:
            writer = joined.results.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)
            sink = writer.format("noop") if before_batch is None else writer.foreachBatch(_writes_after(before_batch))
            query = sink.start()
            try:
                yield query
            finally:
                query.stop()


def _writes_after(before_batch: Callable[[], None]) -> Callable[[Any, int], None]:
    def write(frame: Any, _: int) -> None:
        before_batch()
        frame.write.format("noop").mode("append").save()

    return write


def _stride(samples: int) -> int:
    """How many steps lie between two samples: an odd number, so that streams that alternate are seen at both phases.

    >>> _stride(20), _stride(150), _stride(300)
    (1, 5, 11)
    """
    return -(-samples // MOST_SAMPLES) | 1


def _watch(queries: Mapping[str, Any], batches: int, progress: Progress, over: Callable[[str], Any] = str) -> None:
    """Wait for the end of all queries; `over` is called with the name of each, so that no other waits for it."""
    left = dict(queries)
    try:
        while left:
            for name in [name for name, query in left.items() if not query.isActive]:
                _raise_failure(left.pop(name))
                over(name)
            progress(sum(_done(query) for query in queries.values()) / (batches * len(queries)))
            time.sleep(_POLL_S)
    finally:
        for name in left:
            over(name)
    progress(1.0)


def _done(query: Any) -> int:
    latest = query.lastProgress
    return 0 if latest is None else latest["batchId"] + 1


def _raise_failure(query: Any) -> None:
    failure = query.exception()
    if failure is not None:
        raise PunctuatedError(f"a query on Spark failed: {str(failure).splitlines()[0]}") from failure


def _metrics(query: Any, batches: int) -> list[pt.metrics.JoinMetrics]:
    """Metrics of every micro-batch; one without objects has none, and has changed nothing."""
    found = pt.metrics.history(query.recentProgress)
    by_batch = {each.batch_id: each for each in found}
    latest, filled = found[0], []
    for number in range(batches):
        latest = by_batch.get(number, latest)
        filled.append(latest)
    return filled


def _timed(seconds: list[float], found: list[pt.metrics.JoinMetrics]) -> dict[str, Any]:
    """The times of a query; its curve starts with the results of the first micro-batch."""
    timed, results = seconds[1:-1], [float(each.total.results) for each in found]
    curve: Series = {"seconds": [0.0, *np.cumsum(timed).tolist()], "results": results[:-1]}
    counts = {"results": found[-1].total.results, "batches": len(found), "timed_share": 1 / len(found)}
    return summary(timed, curve) | counts


# Turns
#
# Queries run at the same time, but only one of them at a moment, a micro-batch each. So their micro-batches can be
# compared one by one, a moment apart: a slow spell of the machine hits all queries. A query takes its turn when a
# micro-batch begins, and keeps it until it asks again: for the job, the commit, and the plan of the next micro-batch.
#
#     one     |  0  | wait  |  1  | wait  |  2  |
#     other   wait  |   0   | wait |  1   | wait |  2  |


class Turns:
    """Who may run, and how long each turn took."""

    def __init__(self, names: Sequence[str]) -> None:
        self.seconds: dict[str, list[float]] = {name: [] for name in names}
        self._queue = deque(names)  # the first one may run
        self._running: str | None = None
        self._began = 0.0
        self._changed = Condition()

    def take(self, name: str) -> None:
        """End the turn of this name, if it has one, and wait for the next."""
        with self._changed:
            self._end(name)
            self._changed.wait_for(lambda: self._is_free_for(name))
            self._running, self._began = name, perf_counter()

    def leave(self, name: str) -> None:
        """There are no more turns of this name; who waits for one goes on at once."""
        with self._changed:
            self._end(name)
            if name in self._queue:
                self._queue.remove(name)
            self._changed.notify_all()

    def _is_free_for(self, name: str) -> bool:
        return name not in self._queue or (self._running is None and self._queue[0] == name)

    def _end(self, name: str) -> None:
        if self._running == name:
            self.seconds[name].append(perf_counter() - self._began)
            self._running = None
            self._queue.rotate(-1)
            self._changed.notify_all()
