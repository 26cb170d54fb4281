"""What is shown of a running query of a script: as a table, in a line, or for machines."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from punctuated.sql.run.figures import Figures, StreamFigures

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((365.25 * 86_400, "y"), (86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass
class WatchedQuery:
    """A query of a script, as a view shows it."""

    name: str
    sink: str  # where its rows go
    figures: Figures = field(default_factory=Figures)
    status: str = "starting"
    is_over: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def revision(self) -> tuple[int, int] | None:
        """The last micro-batch and the rows up to it; None before the first micro-batch."""
        return None if self.figures.batch < 0 else (self.figures.batch, self.figures.rows_in)

    def finish(self, status: str) -> None:
        """Mark the query as over; the status says why."""
        self.status, self.is_over = status, True

    def draw(self) -> Iterator[RenderableType]:
        """A table of the streams of the query, and below it what has come out."""
        figures = self.figures
        elapsed = timedelta(seconds=int(time.monotonic() - self.began))
        last = "first micro-batch"
        if figures.batch >= 0:
            last = f"micro-batch {figures.batch:,}, {figures.batch_ms:,} ms"
        yield Text.assemble((self.name, "bold"), f" → {self.sink} · {last} · {self.status} · {elapsed}")
        if figures.streams:
            yield _table_of(figures)
            yield Text(f"out: {_output(figures)}")
        yield Text("")

    def line(self) -> str:
        """Rows, state and event times of the query; if it is over, its status too."""
        return f"{self._figures()}; {self.status}" if self.is_over else self._figures()

    def _figures(self) -> str:
        figures = self.figures
        if figures.batch < 0:
            return f"{self.name}: no rows"
        state = " + ".join(f"{each.state:,}" for each in figures.streams.values())
        times = ", ".join(event_time(each) for each in figures.streams.values())
        return (
            f"{self.name}: micro-batch {figures.batch}, {figures.rows_in:,} rows in, {_output(figures)}, "
            f"state {state}, {figures.rejected:,} rejected, event time {times}"
        )

    def to_json(self) -> dict[str, Any]:
        """All figures of the query and of its streams."""
        figures, now = self.figures, time.time()
        streams = {}
        for name, each in figures.streams.items():
            behind = each.behind_s(now)
            lag = {"has_ended": each.has_ended, "behind_s": None if behind is None else round(behind, 3)}
            streams[name] = asdict(each) | lag | {"per_second": round(each.per_second, 1)}
        return {
            "query": self.name,
            "status": self.status,
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


def _output(figures: Figures) -> str:
    rate = f" ({figures.rows_out_per_second:,.0f}/s)" if figures.rows_out else ""
    return f"{figures.rows_out:,} rows{rate}, {figures.punctuations_out:,} punctuations"


def event_time(stream: StreamFigures) -> str:
    """The watermark of a stream as text."""
    if stream.watermark_us is None:
        return "none yet"
    if stream.has_ended:
        return "ended"
    try:
        return (_EPOCH + timedelta(microseconds=stream.watermark_us)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:  # event times that are mere numbers
        return f"{stream.watermark_us:,} µs"


def duration(seconds: float | None) -> str:
    """A length of time in the largest unit that it reaches.

    >>> duration(3.21), duration(90), duration(-5), duration(None)
    ('3.2 s', '1.5 min', '-5.0 s', '')
    """
    if seconds is None:
        return ""
    size, unit = next((each for each in _UNITS if abs(seconds) >= each[0]), _UNITS[-1])
    return f"{seconds / size:,.1f} {unit}"
