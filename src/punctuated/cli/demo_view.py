"""How the demo is seen: a table that is redrawn in place, plain lines where there is no terminal, or JSON lines."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

WITH, WITHOUT = "with punctuations", "without punctuations"
_LINES = 20  # about so many over a whole run


def key(name: str) -> str:
    """A name as machines like it."""
    return name.replace(" ", "_")


@dataclass(frozen=True)
class Reading:
    """Where one join stands after a batch."""

    tuples: int
    results: int
    final: int  # auctions whose number of bids is known for good
    auctions_in_state: int
    bids_in_state: int

    @property
    def in_state(self) -> int:
        return self.auctions_in_state + self.bids_in_state


@dataclass(frozen=True)
class Moment:
    """Where both joins stand after a batch."""

    batch: int  # from 0
    batches: int
    minutes: float  # of event time
    readings: Mapping[str, Reading]
    ms: float  # that the batch took the join with punctuations
    latest: tuple[int, int] | None  # an auction that has become final, and its number of bids

    @property
    def open_auctions(self) -> int:
        """Neither closed by a last bid nor out of the window: just what the join with punctuations remembers."""
        return self.readings[WITH].auctions_in_state


class View(Protocol):
    """What the demo tells, in this order."""

    is_live: bool

    def say(self, *lines: str) -> None:
        """Something to read."""

    def busy(self, doing: str) -> AbstractContextManager[None]:
        """Something that takes a while."""

    def show(self, moment: Moment) -> None:
        """A batch is done."""

    def end(self, summary: Mapping[str, Any], words: Sequence[str], picture: Path) -> None:
        """All is done."""

    def close(self) -> None:
        """Nothing more comes, for whatever reason."""


class JsonView:
    """One JSON object per line: `status`, `batch`, and at the end `summary`."""

    is_live = False

    def __init__(self, file: TextIO) -> None:
        self._file, self._start = file, time.monotonic()

    def say(self, *lines: str) -> None:
        """Nothing that a machine would need."""

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        self._print("status", doing=doing)
        yield

    def show(self, moment: Moment) -> None:
        readings = {key(name): asdict(each) | {"in_state": each.in_state} for name, each in moment.readings.items()}
        self._print(
            "batch",
            batch=moment.batch,
            batches=moment.batches,
            event_minutes=round(moment.minutes, 3),
            batch_ms=round(moment.ms, 1),
            open_auctions=moment.open_auctions,
            **readings,
        )

    def end(self, summary: Mapping[str, Any], words: Sequence[str], picture: Path) -> None:
        self._print("summary", **summary, picture=str(picture))

    def close(self) -> None:
        """Every line is out already."""

    def _print(self, event: str, **what: Any) -> None:
        line = {"event": event, "seconds": round(time.monotonic() - self._start, 2)} | what
        print(json.dumps(line), file=self._file, flush=True)


class LinesView:
    """Plain lines, a few over the whole run."""

    is_live = False

    def __init__(self, console: Console) -> None:
        self._console, self._start = console, time.monotonic()

    def say(self, *lines: str) -> None:
        _say(self._console, *lines)

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        self.say(f"{self._seconds()}  {doing} …")
        yield

    def show(self, moment: Moment) -> None:
        every = max(1, moment.batches // _LINES)
        if moment.batch and (moment.batch + 1) % every and moment.batch + 1 < moment.batches:
            return
        ours, theirs = moment.readings[WITH], moment.readings[WITHOUT]
        self.say(
            f"{self._seconds()}  batch {moment.batch + 1:>3}: {ours.tuples:>9,} tuples in  {ours.results:>9,} results  "
            f"{ours.final:>7,} auctions final  {moment.open_auctions:>6,} open  "
            f"state {ours.in_state:>7,} with, {theirs.in_state:>9,} without"
        )

    def end(self, summary: Mapping[str, Any], words: Sequence[str], picture: Path) -> None:
        self.say("", *words, f"picture: {picture}")

    def close(self) -> None:
        """Every line is out already."""

    def _seconds(self) -> str:
        return f"{time.monotonic() - self._start:5.1f} s"


class LiveView:
    """A table that is redrawn in place, on a terminal."""

    is_live = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=8)

    def say(self, *lines: str) -> None:
        _say(self._console, *lines)

    @contextmanager
    def busy(self, doing: str) -> Iterator[None]:
        self._live.start()
        waiting = Progress(SpinnerColumn(), TextColumn("{task.description} …"), TimeElapsedColumn())
        waiting.add_task(doing, total=None)
        self._live.update(waiting)
        yield

    def show(self, moment: Moment) -> None:
        self._live.update(draw(moment))

    def end(self, summary: Mapping[str, Any], words: Sequence[str], picture: Path) -> None:
        self.close()
        self.say("", *words, f"picture: {picture}")

    def close(self) -> None:
        self._live.stop()


def draw(moment: Moment) -> Group:
    """The table of a moment, and below it what happened last."""
    table = Table("", *moment.readings, title=f"after {moment.minutes:.1f} minutes of auctions", title_justify="left")
    rows = (
        ("tuples in", "tuples"),
        ("results", "results"),
        ("auctions final", "final"),
        ("tuples in state", "in_state"),
        ("  auctions", "auctions_in_state"),
        ("  bids", "bids_in_state"),
    )
    for label, field in rows:
        bold = "bold" if field == "in_state" else None
        table.add_row(label, *(f"{getattr(each, field):,}" for each in moment.readings.values()), style=bold)
    for column in table.columns[1:]:
        column.justify = "right"
    below = f"batch {moment.batch + 1} of {moment.batches}, {moment.ms:,.0f} ms; {moment.open_auctions:,} auctions open"
    return Group(table, f"{below}{_just_final(moment)}")


def _just_final(moment: Moment) -> str:
    if moment.latest is None:
        return ""
    item, bids = moment.latest
    return f"; just final: auction {item} with {bids:,} {'bid' if bids == 1 else 'bids'}"


def _say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)
