"""How a running script is seen: tables that are redrawn in place, plain lines, or JSON lines.

Rows of results and plans are what a script gives: they go to standard output. How far it is goes there only on a
terminal, else to standard error, so that `punctuated run query.sql > rows.txt` writes rows and nothing else.
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

import pyarrow as pa
from rich.console import Console, Group
from rich.live import Live
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from punctuated.cli_run_rows import RowLines, json_value
from punctuated.cli_run_shown import Watched, draw, in_a_line, json_figures

_LINE_EVERY_S = 2.0  # plain lines, and one at the end


class View(Protocol):
    """What a run tells."""

    def plan(self, heading: str, text: str) -> None:
        """A plan that was asked for."""

    def say(self, line: str) -> None:
        """Something to read."""

    def busy(self, doing: str) -> Any:
        """Something that takes a while: a context."""

    def rows(self, query: str, table: pa.Table) -> None:
        """Results of a query without a sink."""

    def show(self, queries: Sequence[Watched]) -> None:
        """How far the queries are; called several times a second."""

    def end(self, query: Watched) -> None:
        """A query is over."""

    def close(self) -> None:
        """Nothing more comes, for whatever reason."""


class JsonView:
    """One JSON object per line: `plan`, `status`, `row`, `batch`, `end`."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._start = file, time.monotonic()

    def plan(self, heading: str, text: str) -> None:
        self._print("plan", statement=heading, plan=text)

    def say(self, line: str) -> None:
        self._print("status", text=line)

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        self._print("status", text=doing)
        yield

    def rows(self, query: str, table: pa.Table) -> None:
        for row in table.to_pylist():
            print(json.dumps({"event": "row", "query": query, "row": row}, default=json_value), file=self._file)
        self._file.flush()

    def show(self, queries: Sequence[Watched]) -> None:
        for query in _with_news(queries):
            self._print("batch", **json_figures(query))

    def end(self, query: Watched) -> None:
        self._print("end", **json_figures(query))

    def close(self) -> None:
        """Every line is out already."""

    def _print(self, event: str, **what: Any) -> None:
        line = {"event": event, "seconds": round(time.monotonic() - self._start, 2)} | what
        print(json.dumps(line), file=self._file, flush=True)


class LinesView:
    """Plain lines: rows to standard output, all else to standard error."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None, most: int | None = None) -> None:
        self._out, self._err = out or sys.stdout, err or sys.stderr
        self._lines, self._start, self._next = RowLines(most), time.monotonic(), 0.0

    def plan(self, heading: str, text: str) -> None:
        print(f"{heading}\n{text}\n", file=self._out, flush=True)

    def say(self, line: str) -> None:
        print(line, file=self._err, flush=True)

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        self.say(f"{self._seconds()}  {doing} …")
        yield

    def rows(self, query: str, table: pa.Table) -> None:
        for line in self._lines.of(query, table):
            print(line, file=self._out)
        self._out.flush()

    def show(self, queries: Sequence[Watched]) -> None:
        now = time.monotonic()
        if now >= self._next:
            for query in _with_news(queries):
                self._next = now + _LINE_EVERY_S
                self.say(f"{self._seconds()}  {in_a_line(query)}")

    def end(self, query: Watched) -> None:
        self.say(f"{self._seconds()}  {in_a_line(query)}; {query.status}")

    def close(self) -> None:
        """Every line is out already."""

    def _seconds(self) -> str:
        return f"{time.monotonic() - self._start:5.1f} s"


class LiveView:
    """Tables that are redrawn in place, below what was printed."""

    def __init__(self, console: Console, most: int | None, out: TextIO | None = None) -> None:
        self._console, self._out, self._lines = console, out, RowLines(most)
        self._live = Live(console=console, refresh_per_second=8, transient=True)

    def plan(self, heading: str, text: str) -> None:
        if self._out is None:
            self._console.print(Text(heading, style="bold"))
        self._give([*([] if self._out is None else [heading]), text, ""])

    def say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        waiting = Progress(SpinnerColumn(), TextColumn("{task.description} …"), TimeElapsedColumn())
        waiting.add_task(doing, total=None)
        self._live.start()
        self._live.update(waiting)
        yield

    def rows(self, query: str, table: pa.Table) -> None:
        self._give(self._lines.of(query, table))

    def show(self, queries: Sequence[Watched]) -> None:
        self._live.start()
        self._live.update(Group(*(part for query in queries for part in draw(query))))

    def end(self, query: Watched) -> None:
        self._live.update(Text(""))
        for part in draw(query):
            self._console.print(part)

    def close(self) -> None:
        self._live.stop()

    def _give(self, lines: Iterable[str]) -> None:
        """Where results go: above the tables, or to the file that standard output is."""
        if self._out is not None:
            print(*lines, sep="\n", file=self._out, flush=True)
            return
        for line in lines:
            self._console.print(Text(line), soft_wrap=True)


def choose_view(as_json: bool, most: int | None) -> View:
    """The view for where this process writes to; `most` rows of a micro-batch are shown on a terminal."""
    if as_json:
        return JsonView(sys.stdout)
    if sys.stdout.isatty():
        return LiveView(Console(), most)
    if sys.stderr.isatty():
        return LiveView(Console(stderr=True), None, out=sys.stdout)
    return LinesView()


def _with_news(queries: Sequence[Watched]) -> Iterator[Watched]:
    """Queries that have done a micro-batch since they were last shown."""
    for query in queries:
        news = query.figures.batch, query.figures.rows_in
        if query.figures.batch >= 0 and query.shown != news:
            query.shown = news
            yield query
