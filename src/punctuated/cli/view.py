"""How a long command is seen: tables that are redrawn in place, plain lines where there is no terminal, or JSON lines.

Results go to standard output. Progress goes there only on a terminal, else to standard error, so that
`punctuated run query.sql > rows.txt` writes rows and nothing else.
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TextIO

import pyarrow as pa
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from punctuated.cli.rows import RowLines, json_value

_LINE_EVERY_S = 2.0  # plain lines about progress


class Watched(Protocol):
    """Work in progress that a view can show: a query of a script, or the joins of the demo."""

    @property
    def name(self) -> str:
        """The name of the work, by which a view recognises it."""

    @property
    def revision(self) -> object:
        """A value that changes when there is something new to show; None if there is nothing to show yet."""

    def draw(self) -> Iterable[RenderableType]:
        """A picture for a terminal."""

    def line(self) -> str | None:
        """One line of text; None if a line now would be one too many."""

    def to_json(self) -> dict[str, Any]:
        """The figures for machines."""


class ProgressView(Protocol):
    """Where a command shows its results and its progress."""

    is_live: bool  # whether someone watches as it is redrawn

    def report(self, lines: Sequence[str], event: str | None = None, heading: str = "", **data: Any) -> None:
        """Show a result: people get the lines below the heading, machines the event with its data, if there is one."""

    def rows(self, query: str, table: pa.Table) -> None:
        """Show rows of the results of a query."""

    def say(self, line: str) -> None:
        """Show a line about the course of the command."""

    def busy(self, doing: str) -> AbstractContextManager[None]:
        """Show what the code inside does while it runs."""

    def show(self, watched: Sequence[Watched]) -> None:
        """Show progress; may be called several times a second."""

    def end(self, watched: Watched) -> None:
        """Show the final figures of work that is over."""

    def close(self) -> None:
        """Release the terminal; results can still be shown."""


class _News:
    """Remembers what was shown of each work, to find what is new."""

    def __init__(self) -> None:
        self._shown: dict[str, object] = {}

    def of(self, watched: Sequence[Watched]) -> Iterator[Watched]:
        """The work that has something new to show."""
        for each in watched:
            revision = each.revision
            if revision is not None and self._shown.get(each.name) != revision:
                self._shown[each.name] = revision
                yield each


class JsonView:
    """One JSON object per line, whose `event` says what it is: `status`, `batch`, `row`, `end` or that of a report."""

    is_live = False

    def __init__(self, file: TextIO, busy_key: str = "text") -> None:
        self._file, self._busy_key, self._start, self._news = file, busy_key, time.monotonic(), _News()

    def report(self, lines: Sequence[str], event: str | None = None, heading: str = "", **data: Any) -> None:
        if event is not None:
            self._print(event, data)

    def rows(self, query: str, table: pa.Table) -> None:
        for row in table.to_pylist():
            print(json.dumps({"event": "row", "query": query, "row": row}, default=json_value), file=self._file)
        self._file.flush()

    def say(self, line: str) -> None:
        self._print("status", {"text": line})

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        self._print("status", {self._busy_key: doing})
        yield

    def show(self, watched: Sequence[Watched]) -> None:
        for each in self._news.of(watched):
            self._print("batch", each.to_json())

    def end(self, watched: Watched) -> None:
        self._print("end", watched.to_json())

    def close(self) -> None:
        pass  # every line is out already

    def _print(self, event: str, data: dict[str, Any]) -> None:
        line = {"event": event, "seconds": round(time.monotonic() - self._start, 2)} | data
        print(json.dumps(line), file=self._file, flush=True)


class LinesView:
    """Plain lines: results to `out`, by default standard output, and progress to `err`, by default standard error."""

    is_live = False

    def __init__(
        self,
        out: TextIO | None = None,
        err: TextIO | None = None,
        most: int | None = None,
        every_s: float = _LINE_EVERY_S,
    ) -> None:
        self._out, self._err = out or sys.stdout, err or sys.stderr
        self._lines, self._start, self._news = RowLines(most), time.monotonic(), _News()
        self._every_s, self._next = every_s, 0.0

    def report(self, lines: Sequence[str], event: str | None = None, heading: str = "", **data: Any) -> None:
        print(*([heading] if heading else []), *lines, sep="\n", file=self._out, flush=True)

    def rows(self, query: str, table: pa.Table) -> None:
        for line in self._lines.of(query, table):
            print(line, file=self._out)
        self._out.flush()

    def say(self, line: str) -> None:
        print(line, file=self._err, flush=True)

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        self._say_with_time(f"{doing} …")
        yield

    def show(self, watched: Sequence[Watched]) -> None:
        now = time.monotonic()
        if now >= self._next:
            for each in self._news.of(watched):
                self._next = now + self._every_s
                self._say_with_time(each.line())

    def end(self, watched: Watched) -> None:
        self._say_with_time(watched.line())

    def close(self) -> None:
        pass  # every line is out already

    def _say_with_time(self, line: str | None) -> None:
        if line is not None:
            self.say(f"{time.monotonic() - self._start:5.1f} s  {line}")


class LiveView:
    """Tables that are redrawn in place, below the results that were printed; with `out`, results go to that file.

    When the view is closed, what was drawn last disappears, unless it is to be kept.
    """

    is_live = True

    def __init__(
        self, console: Console, most: int | None = None, out: TextIO | None = None, keep_last: bool = False
    ) -> None:
        self._console, self._out, self._lines = console, out, RowLines(most)
        self._live = Live(console=console, refresh_per_second=8, transient=not keep_last)

    def report(self, lines: Sequence[str], event: str | None = None, heading: str = "", **data: Any) -> None:
        if heading and self._out is None:
            self._console.print(Text(heading, style="bold"))
        self._print([*([heading] if heading and self._out is not None else []), *lines])

    def rows(self, query: str, table: pa.Table) -> None:
        self._print(self._lines.of(query, table))

    def say(self, line: str) -> None:
        self._console.print(Text(line), soft_wrap=True)

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        waiting = Progress(SpinnerColumn(), TextColumn("{task.description} …"), TimeElapsedColumn())
        waiting.add_task(doing, total=None)
        self._live.start()
        self._live.update(waiting)
        yield

    def show(self, watched: Sequence[Watched]) -> None:
        self._live.start()
        self._live.update(Group(*(part for each in watched for part in each.draw())))

    def end(self, watched: Watched) -> None:
        self._live.update(Text(""))
        for part in watched.draw():
            self._console.print(part)

    def close(self) -> None:
        self._live.stop()

    def _print(self, lines: Iterable[str]) -> None:
        if self._out is not None:
            print(*lines, sep="\n", file=self._out, flush=True)
            return
        for line in lines:
            self._console.print(Text(line), soft_wrap=True)


def choose_view(as_json: bool, most: int | None) -> ProgressView:
    """The view for the terminal or the files that this process writes to.

    On a terminal at most `most` rows of a micro-batch are shown, or all if it is None.
    """
    if as_json:
        return JsonView(sys.stdout)
    if sys.stdout.isatty():
        return LiveView(Console(), most)
    if sys.stderr.isatty():
        return LiveView(Console(stderr=True), None, out=sys.stdout)
    return LinesView()
