"""Where metrics go: a function, standard output, a log, a file of JSON lines; `prometheus` has a module of its own.

Rejected rows are the only metrics that are reported without being asked for: in the driver's console.
"""

import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from punctuated.model.counters import per_stream
from punctuated.model.rejection import Rejection
from punctuated.spark.metrics.join_metrics import JoinMetrics

LOG = logging.getLogger("punctuated.metrics")
_REJECTED_LOG = logging.getLogger("punctuated.rejected")  # on standard error, unless logging is configured otherwise
_REMEDY = "joined.rejected, or write_to(rejected=…), shows them. Reported once per query, stream and reason"


class Exporter:
    """Takes metrics; a subclass says what to do with them."""

    def export(self, metrics: JoinMetrics) -> None:
        """Take the metrics of a batch that is done."""
        raise NotImplementedError

    def ended(self, query_id: str) -> None:
        """Take note that a query is over: it has finished, was stopped or has failed."""


class Call(Exporter):
    """Calls a function with the metrics, and another one with the id of a query that is over."""

    def __init__(self, function: Callable[[JoinMetrics], None], ended: Callable[[str], None] | None = None) -> None:
        self._function, self._ended = function, ended

    def export(self, metrics: JoinMetrics) -> None:
        """Call the first function."""
        self._function(metrics)

    def ended(self, query_id: str) -> None:
        """Call the second function, if there is one."""
        if self._ended is not None:
            self._ended(query_id)


class Lines(Exporter):
    """One line per batch, to standard output or another file that is open."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file

    def export(self, metrics: JoinMetrics) -> None:
        """Print the line."""
        print(metrics, file=self._file or sys.stdout, flush=True)


class Log(Exporter):
    """One record per batch, through `logging`; the metrics themselves are in its attribute `metrics`."""

    def __init__(self, logger: logging.Logger = LOG, level: int = logging.INFO) -> None:
        self._logger, self._level = logger, level

    def export(self, metrics: JoinMetrics) -> None:
        """Log the line."""
        self._logger.log(self._level, "%s", metrics, extra={"metrics": metrics})


class JsonLines(Exporter):
    """One JSON object per batch and line, at the end of a file; the file may be moved away at any time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def export(self, metrics: JoinMetrics) -> None:
        """Append the line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(metrics)) + "\n")


class RejectedRows(Exporter):
    """Logs a warning when a query first rejects rows of a stream for a reason."""

    def __init__(self) -> None:
        self._warned: set[tuple[str, str, str]] = set()  # query, join, counter

    def export(self, metrics: JoinMetrics) -> None:
        """Warn of rejections that have not been reported yet."""
        for reason in Rejection:
            columns = per_stream(reason.counter, len(metrics.streams))
            for stream, counter in zip(metrics.streams.values(), columns, strict=True):
                known = metrics.query_id, metrics.join, counter
                if metrics.total[counter] and known not in self._warned:
                    self._warned.add(known)
                    query = f"query {metrics.query_name or metrics.query_id}, batch {metrics.batch_id}: "
                    _REJECTED_LOG.warning(query + reason.describe(stream, metrics.total[counter], _REMEDY))

    def ended(self, query_id: str) -> None:
        """Forget a query that is over; if it is started again, it counts as new."""
        self._warned = {known for known in self._warned if known[0] != query_id}
