"""Runs a script on Spark: a session of this process, in which queries are started, watched and stopped.

To the end, statements run one after the other, so that one may read what another has written. Followed, they run side
by side until they are stopped. A stop waits for the micro-batch that is running.
"""

import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import pyarrow as pa

from punctuated.api import metrics
from punctuated.cli.run_check import show_plan
from punctuated.cli.run_progress import WatchedQuery
from punctuated.cli.view import ProgressView
from punctuated.errors import PunctuatedError
from punctuated.output.in_band import GROUP, RESULT
from punctuated.spark.session.local import check_java, local_spark
from punctuated.sql.parse.errors import SourceSpan, SqlError, at
from punctuated.sql.parse.syntax import Explain
from punctuated.sql.run.script import CheckedStatement, Script, bound
from punctuated.sql.run.sinks import CONSOLE, Target
from punctuated.sql.run.spark import Phase, SparkRun, Until, phases
from punctuated.sql.sources.spark import SparkSources, spark_message

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_BY_SIGNAL = 128  # the exit code of a process that a signal has ended is this plus the signal
_SHOW_CURSOR = b"\x1b[?25h"  # a live view hides the cursor
_POLL_S = 0.2
_LAST_METRICS_S = 5.0  # the metrics of the last micro-batch come after the end of a query


@dataclass(frozen=True)
class SparkOptions:
    """When a script on Spark ends, the time between its micro-batches, and where and how Spark runs."""

    until: Until
    trigger: str | None
    master: str
    settings: Mapping[str, str]


def run_on_spark(
    script: Script, checked: Sequence[CheckedStatement], view: ProgressView, options: SparkOptions
) -> None:
    """Run the statements of a script that has passed the check; returns when they are over or were stopped."""
    check_java(f"try the script without Spark: punctuated run --tables {script.path}")
    with _folder() as folder, Interrupts() as stop, ExitStack() as stack:
        log = folder / "spark.log"
        with view.busy("starting Spark"):
            session = local_spark(f"punctuated run {script.path.name}", folder, log, options.settings, options.master)
            spark = stack.enter_context(session)
        stop.listen()  # starting Spark has replaced the handlers
        if stop.asked:
            return
        runs = Session(spark, script, view, stop)
        tasks, starts = _with_targets(checked, folder), phases(options.until, options.trigger)
        with _log_kept(log):
            if options.until is Until.STOPPED:
                runs.run_together(tasks, starts[0])
            else:
                runs.run_in_turn(tasks, starts)


def _with_targets(checked: Sequence[CheckedStatement], folder: Path) -> list[CheckedStatement]:
    """The statements with unique names of their queries; a SELECT prints, with a checkpoint for this run only."""
    seen: Counter[str] = Counter()
    found: list[CheckedStatement] = []
    for each in checked:
        target = each.target or Target(f"line {each.task.position.line}", CONSOLE, "")
        seen[target.name] += 1
        number = seen[target.name]
        name = target.name if number == 1 else f"{target.name} ({number})"
        checkpoint = target.checkpoint or folder / "checkpoints" / str(len(found))
        found.append(replace(each, target=replace(target, name=name, checkpoint=checkpoint)))
    return found


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that is gone at the end of the run."""
    with tempfile.TemporaryDirectory(prefix="punctuated-run-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def _log_kept(log: Path) -> Iterator[None]:
    """If the code inside fails, keep Spark's log; the error says where."""
    try:
        yield
    except PunctuatedError as error:
        kept = Path(tempfile.gettempdir()) / f"{log.parent.name}.log"
        shutil.copy(log, kept)
        error.add_note(f"what Spark said is in {kept}")
        raise


# Ctrl-C


class Interrupts:
    """Handles SIGINT and SIGTERM while it is open: the first one sets `asked`, a second one ends the process.

    A handler may interrupt anything, also a view that holds a lock: so it does no more than it must.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def listen(self) -> None:
        """Install the handlers, also in place of those that others have installed meanwhile."""
        for each in _SIGNALS:
            before = signal.signal(each, self._on_signal)
            self._before.setdefault(each, before)

    def __enter__(self) -> "Interrupts":
        self.listen()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for each, before in self._before.items():
            signal.signal(each, before)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            if sys.__stdout__ is not None and sys.__stdout__.isatty():
                os.write(sys.__stdout__.fileno(), _SHOW_CURSOR)
            os._exit(_BY_SIGNAL + number)  # nothing is lost: a checkpoint outlives its query at any moment
        self.asked = True


# Queries


class _RunningQuery:
    """A query of the script with its figures, and Spark's query once it has started."""

    def __init__(self, run: SparkRun, watched: WatchedQuery, target: Target, position: SourceSpan) -> None:
        self.run, self.watched, self.target, self.position = run, watched, target, position
        self.query: Any = None
        self._counted = -1  # the last batch whose output is in the figures

    @property
    def id(self) -> str:
        """Spark's id of the query, which its metrics have too; it stays the same from start to start."""
        return str(self.query.id)

    def start(self, phase: Phase) -> None:
        """Start the query, for the first time or again."""
        self.watched.status = "ending the streams" if phase.ends else "running"
        with at(self.position), _spark_errors():
            self.query = self.run.start(phase)

    def count_output(self) -> None:
        """Add the rows that Spark's own writer has written; other sinks report theirs themselves."""
        if self.target.table is not None or self.target.format == CONSOLE:
            return
        for progress in self.query.recentProgress:
            if progress["batchId"] > self._counted:
                self._counted = progress["batchId"]
                self.watched.figures.add_output(max(0, progress["sink"]["numOutputRows"]))

    def stop(self) -> None:
        """Stop the query when its micro-batch is done; one that begins meanwhile is repeated by the next start."""
        batch = _batch_of(self.query)
        while self.query.isActive and self.query.status["isTriggerActive"] and _batch_of(self.query) == batch:
            time.sleep(_POLL_S / 4)
        self.query.stop()


class Session:
    """The queries of a script in a Spark session."""

    def __init__(self, spark: Any, script: Script, view: ProgressView, stop: Interrupts) -> None:
        self._script, self._view, self._stop = script, view, stop
        self._catalog = script.catalog(SparkSources(spark, script.folder))
        self._running: list[_RunningQuery] = []
        self._ends: Counter[str] = Counter()
        self._starts: Counter[str] = Counter()
        metrics.listen(spark, metrics.Call(self._add_metrics, lambda query: self._ends.update([query])))

    def run_in_turn(self, tasks: Sequence[CheckedStatement], starts: Sequence[Phase]) -> None:
        """Run one statement after the other."""
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
        """Run all statements at the same time."""
        for each in tasks:
            running = self._prepared(each)
            if running is not None:
                self._start(running, phase)
        self._watch(self._running)
        for running in self._running:
            self._end(running)

    def _prepared(self, checked: CheckedStatement) -> _RunningQuery | None:
        """The query of a statement, ready to start; None for an EXPLAIN, whose plan is shown at once."""
        position, doing = checked.task.position, f"preparing the query in line {checked.task.position.line}"
        with at(position), _spark_errors(), self._view.busy(doing), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shown when the script was checked
            query = bound(checked.task, self._catalog)
            if isinstance(checked.task, Explain):
                show_plan(self._view, self._script, checked, query.explain())
                return None
            target = checked.target
            assert target is not None, "_with_targets gives one to every query"
            watched = WatchedQuery(target.name, target.shown)
            run = SparkRun(query, target, self._printer(watched), lambda _, kind, n: _add_output(watched, kind, n))
        self._running.append(_RunningQuery(run, watched, target, position))
        return self._running[-1]

    def _printer(self, watched: WatchedQuery) -> Callable[[int, pa.Table], None]:
        def print_rows(batch: int, table: pa.Table) -> None:
            watched.figures.add_output(len(table))
            if len(table):
                self._view.rows(watched.name, table)

        return print_rows

    def _start(self, running: _RunningQuery, phase: Phase) -> None:
        running.start(phase)
        self._starts[running.id] += 1

    def _add_metrics(self, report: metrics.JoinMetrics) -> None:
        for running in self._running:
            if running.watched.name == report.query_name:
                running.watched.figures.add_metrics(report)

    def _watch(self, running: Sequence[_RunningQuery]) -> None:
        """Show progress until all queries are over, one has failed, or a stop was asked for."""
        while any(each.query.isActive for each in running) and not self._stop.asked:
            time.sleep(_POLL_S)
            self._update(running)
            if any(each.query.exception() is not None for each in running):
                break
        for each in running:
            failure = each.query.exception()
            if failure is not None and not self._stop.asked:
                raise SqlError(f"query {each.watched.name!r} failed: {spark_message(failure)}", each.position)
        if self._stop.asked:
            self._stop_all(running)
        self._wait_for_metrics(running)

    def _stop_all(self, running: Sequence[_RunningQuery]) -> None:
        self._view.say("stopping after this micro-batch; Ctrl-C again ends at once")
        for each in running:
            each.watched.status = "stopping"
        self._update(running)
        for each in running:
            each.stop()

    def _update(self, running: Sequence[_RunningQuery]) -> None:
        for each in running:
            each.count_output()
            each.watched.figures.tick()
        self._view.show([each.watched for each in running])

    def _wait_for_metrics(self, running: Sequence[_RunningQuery]) -> None:
        latest = time.monotonic() + _LAST_METRICS_S
        while time.monotonic() < latest and any(self._ends[each.id] < self._starts[each.id] for each in running):
            time.sleep(_POLL_S / 4)
        self._update(running)

    def _end(self, running: _RunningQuery) -> None:
        running.watched.finish("stopped: start it again to go on" if self._stop.asked else "done")
        self._view.end(running.watched)


def _add_output(watched: WatchedQuery, kind: str, rows: int) -> None:
    if kind in (RESULT, GROUP):
        watched.figures.add_output(rows)


@contextmanager
def _spark_errors() -> Iterator[None]:
    """Turn an error of Spark into one of ours with Spark's message in a line."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark.", "py4j.")):
            raise
        raise PunctuatedError(f"Spark says: {spark_message(error)}") from error


def _batch_of(query: Any) -> int | None:
    progress = query.lastProgress
    return None if progress is None else int(progress["batchId"])
