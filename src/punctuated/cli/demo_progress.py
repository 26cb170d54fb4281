"""What is shown of the demo after each batch: both joins side by side, as a table, in a line, or for machines."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table

WITH, WITHOUT = "with punctuations", "without punctuations"
_LINES = 20  # about as many over a whole run
_ROWS = (
    ("tuples in", "tuples"),
    ("results", "results"),
    ("auctions final", "final"),
    ("tuples in state", "in_state"),
    ("  auctions", "auctions_in_state"),
    ("  bids", "bids_in_state"),
)


def json_name(name: str) -> str:
    """The name of a join as a key in JSON."""
    return name.replace(" ", "_")


@dataclass(frozen=True)
class Reading:
    """The counters of one join after a batch."""

    tuples: int
    results: int
    final: int  # auctions whose number of bids cannot change any more
    auctions_in_state: int
    bids_in_state: int

    @property
    def in_state(self) -> int:
        """All tuples in state."""
        return self.auctions_in_state + self.bids_in_state


@dataclass(frozen=True)
class DemoProgress:
    """Both joins after a batch."""

    batch: int  # from 0
    batches: int
    minutes: float  # of event time
    readings: Mapping[str, Reading]
    ms: float  # that the batch took the join with punctuations
    latest: tuple[int, int] | None  # an auction that has become final, and its number of bids
    name: str = "demo"

    @property
    def revision(self) -> int:
        """The batch: each one is shown."""
        return self.batch

    @property
    def open_auctions(self) -> int:
        """Auctions without their last bid and in the window: just those that the join with punctuations remembers."""
        return self.readings[WITH].auctions_in_state

    def draw(self) -> Iterator[RenderableType]:
        """A table with a column for each join, and below it what happened last."""
        table = Table("", *self.readings, title=f"after {self.minutes:.1f} minutes of auctions", title_justify="left")
        for label, counter in _ROWS:
            bold = "bold" if counter == "in_state" else None
            table.add_row(label, *(f"{getattr(each, counter):,}" for each in self.readings.values()), style=bold)
        for column in table.columns[1:]:
            column.justify = "right"
        yield table
        batch = f"batch {self.batch + 1} of {self.batches}, {self.ms:,.0f} ms"
        yield f"{batch}; {self.open_auctions:,} auctions open{self._just_final()}"

    def line(self) -> str | None:
        """The figures of both joins; None for most batches of a long run."""
        every = max(1, self.batches // _LINES)
        if self.batch and (self.batch + 1) % every and self.batch + 1 < self.batches:
            return None
        ours, other = self.readings[WITH], self.readings[WITHOUT]
        return (
            f"batch {self.batch + 1:>3}: {ours.tuples:>9,} tuples in  {ours.results:>9,} results  "
            f"{ours.final:>7,} auctions final  {self.open_auctions:>6,} open  "
            f"state {ours.in_state:>7,} with, {other.in_state:>9,} without"
        )

    def to_json(self) -> dict[str, Any]:
        """All figures of both joins."""
        readings = {json_name(name): asdict(each) | {"in_state": each.in_state} for name, each in self.readings.items()}
        return {
            "batch": self.batch,
            "batches": self.batches,
            "event_minutes": round(self.minutes, 3),
            "batch_ms": round(self.ms, 1),
            "open_auctions": self.open_auctions,
            **readings,
        }

    def _just_final(self) -> str:
        if self.latest is None:
            return ""
        item, bids = self.latest
        return f"; just final: auction {item} with {bids:,} {'bid' if bids == 1 else 'bids'}"
