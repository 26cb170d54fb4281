"""What is shown of a running query: as a table, in a line, or for machines."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from punctuated.sql.figures import Figures, StreamFigures

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((365.25 * 86_400, "y"), (86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


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
