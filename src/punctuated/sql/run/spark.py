"""Queries of a script start on Spark: they write tables by `write_to`, or by Spark's own writer, or print.

From its first start on, every query has an input that can end its streams. So one checkpoint serves all ways to run a
script: a query that was followed for days can be run to the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from punctuated.output.views import View
from punctuated.runtime.lineage import origin_of
from punctuated.sql.run.sinks import CONSOLE, Target

OnRows = Callable[[int, Any], None]  # called with a batch and its rows, an Arrow table
OnWritten = Callable[[int, str, int], None]  # called with a batch, the kind of its rows and their number


class Until(Enum):
    """When a query ends."""

    STOPPED = "stopped"  # until it is stopped
    CAUGHT_UP = "caught up"  # until it has read what is there; the streams stay open
    ENDED = "ended"  # until it has read what is there; then the streams end


@dataclass(frozen=True)
class Phase:
    """One start of a query: whether its streams end, and Spark's trigger."""

    ends: bool
    trigger: dict[str, Any]


_PHASES = {
    Until.STOPPED: (Phase(False, {}),),
    Until.CAUGHT_UP: (Phase(False, {"availableNow": True}),),
    Until.ENDED: (Phase(False, {"availableNow": True}), Phase(True, {"once": True})),  # the end is a batch of its own
}


def phases(until: Until, trigger: str | None = None) -> tuple[Phase, ...]:
    """The starts of a query, one after the other; `trigger` is the time between micro-batches."""
    if until is Until.STOPPED and trigger is not None:
        return (Phase(False, {"processingTime": trigger}),)
    return _PHASES[until]


class SparkRun:
    """A query of a script, ready to start."""

    def __init__(self, query: Any, target: Target, on_rows: OnRows, on_written: OnWritten) -> None:
        results = query.results
        origin = origin_of(results)
        self._writable: Any = query.joined if origin is None else origin
        self._kind = "results" if origin is None else "groups"
        self._target, self._on_rows, self._on_written = target, on_rows, on_written

    def start(self, phase: Phase) -> Any:
        """Start the query; returns Spark's streaming query."""
        writable = self._writable.with_end(now=phase.ends)
        if self._target.table is None and self._target.format != CONSOLE:
            return self._start_format(writable, phase)
        from punctuated.spark.sink.sinks import write_to

        sinks: dict[str, Any] = {self._kind: self._target.table or self._print, **self._target.beside}
        return write_to(
            writable,
            checkpoint=self._target.checkpoint,
            trigger=phase.trigger or None,
            name=self._target.name,
            on_written=self._on_written,
            **sinks,
        )

    def _start_format(self, writable: Any, phase: Phase) -> Any:
        is_join = self._kind == "results"
        rows = writable.results if is_join else writable.joined.grouped(writable.grouping, View.GROUPS)
        writer = rows.writeStream.format(self._target.format).options(**self._target.options)
        writer = writer.option("checkpointLocation", str(self._target.checkpoint)).queryName(self._target.name)
        return (writer.trigger(**phase.trigger) if phase.trigger else writer).start()

    def _print(self, frame: Any, batch: int) -> None:
        self._on_rows(batch, frame.toArrow())
