"""Ctrl-C and its like: the first asks a run to stop, the second ends it at once."""

import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

import pyarrow as pa

from punctuated.api import metrics
from punctuated.cli.run_check import where
from punctuated.cli.run_view import View, Watched
from punctuated.errors import PunctuatedError
from punctuated.output.in_band import GROUP, RESULT
from punctuated.sql.parse.errors import SourceSpan, SqlError, at
from punctuated.sql.parse.syntax import Explain
from punctuated.sql.run.script import CheckedStatement, Script, bound
from punctuated.sql.run.sinks import CONSOLE, Target
from punctuated.sql.run.spark import Phase, SparkRun
from punctuated.sql.sources.spark import SparkSources, spark_message

_HEARD = (signal.SIGINT, signal.SIGTERM)
_BY_SIGNAL = 128  # exit codes of processes that a signal ended begin here
_SHOW_CURSOR = b"\x1b[?25h"  # a live view hides it
_LOOK_S = 0.2
_LAST_WORDS_S = 5.0  # for metrics of the last micro-batch, which come after the end of a query


class Interrupts:
    """Hears SIGINT and SIGTERM as long as it is open; `asked` once one has come.

    A handler may interrupt anything, a view that holds a lock among it: so it does no more than it must.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def listen(self) -> None:
        """From now on, also where others have put their own handlers meanwhile."""
        for each in _HEARD:
            before = signal.signal(each, self._hear)
            self._before.setdefault(each, before)

    def __enter__(self) -> "Interrupts":
        self.listen()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            if sys.__stdout__ is not None and sys.__stdout__.isatty():
                os.write(sys.__stdout__.fileno(), _SHOW_CURSOR)
            os._exit(_BY_SIGNAL + number)  # nothing is lost: a checkpoint outlives its query at any moment
        self.asked = True


# Queries of a script in a Spark session: started, watched and stopped.
#
# To the end, statements run one after the other, so that one may read what another has written. Followed, they run
# side by side until they are stopped. A stop waits for the micro-batch that is running.


class _Running:
    """A query of the script."""

    def __init__(self, run: SparkRun, watched: Watched, target: Target, position: SourceSpan) -> None:
        self.run, self.watched, self.target, self.position = run, watched, target, position
        self.query: Any = None
        self._counted = -1  # the last batch whose rows Spark has counted

    @property
    def id(self) -> str:
        """By which its metrics are known; the same whenever it starts from its checkpoint."""
        return str(self.query.id)

    def start(self, phase: Phase) -> None:
        """Start it, or start it again."""
        self.watched.status = "ending the streams" if phase.ends else "running"
        with at(self.position), _in_our_words():
            self.query = self.run.start(phase)

    def count_rows(self) -> None:
        """Rows that Spark's own writer wrote; of other sinks it does not know."""
        if self.target.table is not None or self.target.format == CONSOLE:
            return
        for progress in self.query.recentProgress:
            if progress["batchId"] > self._counted:
                self._counted = progress["batchId"]
                self.watched.figures.add_output(max(0, progress["sink"]["numOutputRows"]))

    def stop(self) -> None:
        """Stop when the micro-batch that is running is done; what was begun meanwhile comes again at the next start."""
        at_work = _batch_of(self.query)
        while self.query.isActive and self.query.status["isTriggerActive"] and _batch_of(self.query) == at_work:
            time.sleep(_LOOK_S / 4)
        self.query.stop()


class Session:
    """A script in a Spark session."""

    def __init__(self, spark: Any, script: Script, view: View, stop: Interrupts) -> None:
        self._script, self._view, self._stop = script, view, stop
        self._catalog = script.catalog(SparkSources(spark, script.folder))
        self._running: list[_Running] = []
        self._ends: Counter[str] = Counter()
        self._starts: Counter[str] = Counter()
        metrics.listen(spark, metrics.Call(self._hear, lambda query: self._ends.update([query])))

    def run_in_turn(self, tasks: Sequence[CheckedStatement], starts: Sequence[Phase]) -> None:
        """One statement after the other."""
        for each in tasks:
            running = self._prepared(each)
            for phase in starts if running is not None else ():
                assert running is not None
                self._start(running, phase)
                self._watch([running])
                if self._stop.asked:
                    break
            if running is not None:
                self._end(running)
            if self._stop.asked:
                return

    def run_together(self, tasks: Sequence[CheckedStatement], phase: Phase) -> None:
        """All statements at the same time."""
        for each in tasks:
            running = self._prepared(each)
            if running is not None:
                self._start(running, phase)
        self._watch(self._running)
        for running in self._running:
            self._end(running)

    def _prepared(self, checked: CheckedStatement) -> _Running | None:
        """The query of a statement, ready to start; a plan is shown at once."""
        position, doing = checked.task.position, f"preparing the query in line {checked.task.position.line}"
        with at(position), _in_our_words(), self._view.busy(doing), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shown when the script was checked
            query = bound(checked.task, self._catalog)
            if isinstance(checked.task, Explain):
                self._view.plan(f"{where(self._script.path, checked)}: EXPLAIN", query.explain())
                return None
            target = checked.target
            assert target is not None, "every query has one by now"
            watched = Watched(target.name, target.shown)
            run = SparkRun(query, target, self._printer(watched), lambda _, kind, n: self._wrote(watched, kind, n))
        self._running.append(_Running(run, watched, target, position))
        return self._running[-1]

    def _printer(self, watched: Watched) -> Callable[[int, pa.Table], None]:
        def print_rows(batch: int, table: pa.Table) -> None:
            watched.figures.add_output(len(table))
            if len(table):
                self._view.rows(watched.name, table)

        return print_rows

    def _wrote(self, watched: Watched, kind: str, rows: int) -> None:
        if kind in (RESULT, GROUP):
            watched.figures.add_output(rows)

    def _start(self, running: _Running, phase: Phase) -> None:
        running.start(phase)
        self._starts[running.id] += 1

    def _hear(self, said: metrics.JoinMetrics) -> None:
        for running in self._running:
            if running.watched.name == said.query_name:
                running.watched.figures.add_metrics(said)

    def _watch(self, running: Sequence[_Running]) -> None:
        """Until all are over, one has failed, or a stop was asked for."""
        while any(each.query.isActive for each in running) and not self._stop.asked:
            time.sleep(_LOOK_S)
            self._look(running)
            if any(each.query.exception() is not None for each in running):
                break
        for each in running:
            failure = each.query.exception()
            if failure is not None and not self._stop.asked:
                raise SqlError(f"query {each.watched.name!r} failed: {spark_message(failure)}", each.position)
        if self._stop.asked:
            self._stop_all(running)
        self._hear_last_words(running)

    def _stop_all(self, running: Sequence[_Running]) -> None:
        self._view.say("stopping after this micro-batch; Ctrl-C again ends at once")
        for each in running:
            each.watched.status = "stopping"
        self._look(running)
        for each in running:
            each.stop()

    def _look(self, running: Sequence[_Running]) -> None:
        for each in running:
            each.count_rows()
            each.watched.figures.tick()
        self._view.show([each.watched for each in running])

    def _hear_last_words(self, running: Sequence[_Running]) -> None:
        patience = time.monotonic() + _LAST_WORDS_S
        while time.monotonic() < patience and any(self._ends[each.id] < self._starts[each.id] for each in running):
            time.sleep(_LOOK_S / 4)
        self._look(running)

    def _end(self, running: _Running) -> None:
        running.watched.status = "stopped: start it again to go on" if self._stop.asked else "done"
        self._view.end(running.watched)


@contextmanager
def _in_our_words() -> Iterator[None]:
    """What Spark refuses is an error of the script."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise PunctuatedError(f"Spark says: {spark_message(error)}") from error


def _batch_of(query: Any) -> int | None:
    progress = query.lastProgress
    return None if progress is None else int(progress["batchId"])
