"""Rows of results for people: aligned columns under one header, as long as the same query goes on printing."""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Protocol, TextIO

import pyarrow as pa
from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from punctuated.sql.run.figures import Figures, StreamFigures

_NUMBER = 8  # columns of numbers are at least so wide
_WIDEST = 40  # of a column that is text; a longer value is shown in full, and moves the rest of its line
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((365.25 * 86_400, "y"), (86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_LINE_EVERY_S = 2.0  # plain lines, and one at the end


class RowLines:
    """Lines of tables that come one after the other; the header is said once."""

    def __init__(self, most: int | None) -> None:
        self._most = most  # rows of one micro-batch that are shown; None: all
        self._widths: dict[str, list[int]] = {}
        self._last: str | None = None

    def of(self, query: str, table: pa.Table) -> Iterator[str]:
        """The lines of a table of a query."""
        shown = table if self._most is None else table.slice(0, self._most)
        cells = [[shown_value(value) for value in column.to_pylist()] for column in shown.columns]
        to_right = [_is_number(field.type) for field in table.schema]
        if query not in self._widths:
            columns = zip(table.column_names, cells, to_right, strict=True)
            self._widths[query] = [_width(*column) for column in columns]
        widths = self._widths[query]
        if self._last != query:
            yield from _header(table.column_names, widths, to_right)
            self._last = query
        for row in zip(*cells, strict=True):
            yield _line(row, widths, to_right)
        if len(table) > len(shown):
            yield f"… {len(table) - len(shown):,} more rows of this micro-batch (--rows 0 shows all)"


def shown_value(value: Any) -> str:
    """A value as text.

    >>> shown_value(None), shown_value(True), shown_value(2.5), shown_value(datetime(2003, 11, 10, 9, 3))
    ('null', 'true', '2.5', '2003-11-10 09:03:00')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def json_value(value: Any) -> Any:
    """A value that JSON has no word for, as text."""
    return value.isoformat() if isinstance(value, date) else value.hex() if isinstance(value, bytes) else str(value)


def _header(names: Sequence[str], widths: Sequence[int], to_right: Sequence[bool]) -> Iterator[str]:
    yield _line(names, widths, to_right)
    yield "─┼─".join("─" * width for width in widths)


def _line(cells: Sequence[str], widths: Sequence[int], to_right: Sequence[bool]) -> str:
    placed = zip(cells, widths, to_right, strict=True)
    return " │ ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in placed).rstrip()


def _width(name: str, cells: Sequence[str], is_number: bool) -> int:
    """As the first rows need it; numbers may grow."""
    return max(len(name), _NUMBER if is_number else 0, min(_WIDEST, max(map(len, cells), default=0)))


def _is_number(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype))


# What is shown of a running query: as a table, in a line, or for machines.


@dataclass
class Watched:
    """A query that is watched."""

    name: str
    sink: str  # where its rows go
    figures: Figures = field(default_factory=Figures)
    status: str = "starting"
    began: float = field(default_factory=time.monotonic)
    shown: tuple[int, int] = (-2, -1)  # batch and rows that were shown last


def draw(query: Watched) -> Iterator[RenderableType]:
    """Its streams, and below them what has come out."""
    figures = query.figures
    elapsed = timedelta(seconds=int(time.monotonic() - query.began))
    last = (
        f"micro-batch {figures.batch:,}, {figures.batch_ms:,} ms · " if figures.batch >= 0 else "first micro-batch · "
    )
    yield Text.assemble((query.name, "bold"), f" → {query.sink} · {last}{query.status} · {elapsed}")
    if figures.streams:
        yield _table_of(figures)
        yield Text(f"out: {_out(figures)}")
    yield Text("")


def in_a_line(query: Watched) -> str:
    """The same in a line."""
    figures = query.figures
    if figures.batch < 0:
        return f"{query.name}: no rows"
    state = " + ".join(f"{each.state:,}" for each in figures.streams.values())
    times = ", ".join(event_time(each) for each in figures.streams.values())
    return (
        f"{query.name}: micro-batch {figures.batch}, {figures.rows_in:,} rows in, {_out(figures)}, state {state}, "
        f"{figures.rejected:,} rejected, event time {times}"
    )


def json_figures(query: Watched) -> dict[str, Any]:
    """The same for machines."""
    figures, now = query.figures, time.time()
    streams = {}
    for name, each in figures.streams.items():
        behind = each.behind_s(now)
        known = asdict(each) | {"has_ended": each.has_ended, "behind_s": None if behind is None else round(behind, 3)}
        streams[name] = known | {"per_second": round(each.per_second, 1)}
    return {
        "query": query.name,
        "status": query.status,
        "micro_batch": figures.batch,
        "ms": figures.batch_ms,
        "rows_in": figures.rows_in,
        "rows_out": figures.rows_out,
        "rows_out_per_second": round(figures.rows_out_per_second, 1),
        "punctuations_out": figures.punctuations_out,
        "rejected": figures.rejected,
        "streams": streams,
    }


def _table_of(figures: Figures) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=0)
    table.add_column("stream")
    for heading in (" rows in", "rows/s", "state", "punctuations", " event time", " behind", "rejected"):
        table.add_column(heading, justify="right")
    for name, each in figures.streams.items():
        counts = (f"{each.rows_in:,}", f"{each.per_second:,.0f}", f"{each.state:,}", f"{each.punctuations:,}")
        behind = duration(each.behind_s(time.time()))
        rejected = Text(f"{each.rejected:,}", style="yellow" if each.rejected else "")
        table.add_row(name, *counts, event_time(each), behind, rejected)
    return table


def _out(figures: Figures) -> str:
    rate = f" ({figures.rows_out_per_second:,.0f}/s)" if figures.rows_out else ""
    return f"{figures.rows_out:,} rows{rate}, {figures.punctuations_out:,} punctuations"


def event_time(stream: StreamFigures) -> str:
    """How far a stream is in event time."""
    if stream.watermark_us is None:
        return "none yet"
    if stream.has_ended:
        return "ended"
    try:
        return (_EPOCH + timedelta(microseconds=stream.watermark_us)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:  # times that are mere numbers
        return f"{stream.watermark_us:,} µs"


def duration(seconds: float | None) -> str:
    """A length of time in its largest unit.

    >>> duration(3.21), duration(90), duration(-5), duration(None)
    ('3.2 s', '1.5 min', '-5.0 s', '')
    """
    if seconds is None:
        return ""
    size, unit = next((each for each in _UNITS if abs(seconds) >= each[0]), _UNITS[-1])
    return f"{seconds / size:,.1f} {unit}"


# How a running script is seen: tables that are redrawn in place, plain lines, or JSON lines.
#
# Rows of results and plans are what a script gives: they go to standard output. How far it is goes there only on a
# terminal, else to standard error, so that `punctuated run query.sql > rows.txt` writes rows and nothing else.


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
