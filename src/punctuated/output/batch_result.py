"""What one batch brings, as Arrow tables: results, output punctuations, and tuples that were rejected.

Rejected tuples become text only when somebody reads them, because most are never read; how many there are of each
reason is counted from the start of the join.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import from_json, to_json
from punctuated.arrow.json_rows import render_rows
from punctuated.kernels.layout import NEVER, Records
from punctuated.model.rejection import Rejection
from punctuated.model.times import to_microseconds
from punctuated.output.punctuations import OutputPunctuations
from punctuated.punctuations.pending_ranges import OutputRange
from punctuated.snapshot.parts import Content, Loaded

REJECTED_SCHEMA = pa.schema(
    [("stream", pa.string()), ("reason", pa.string()), ("ts", pa.int64()), ("row", pa.string())]
)
_COUNTS = "counts"
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RejectedTuples:
    """Tuples of one stream, with one reason."""

    stream: str
    reason: str
    rows: pa.Table
    time: str

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def table(self) -> pa.Table:
        """The tuples as they are shown: stream, reason, time in microseconds, the row as JSON."""
        ts = pa.array(to_microseconds(self.rows[self.time], self.time))
        return rejected_table(self.stream, self.reason, ts, render_rows(self.rows))


@dataclass(frozen=True)
class RenderedTuples:
    """Tuples that were rejected elsewhere, in the form in which they are shown."""

    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)


Rejected = RejectedTuples | RenderedTuples


def rejected_table(stream: str, reason: str, ts: pa.Array, rows: pa.ChunkedArray) -> pa.Table:
    """Rejected tuples in the form in which they are shown, with their rows as JSON."""
    names = [pa.repeat(text, len(rows)) for text in (stream, reason)]
    return pa.table([*names, ts, rows], schema=REJECTED_SCHEMA)


# Counts


class Rejections:
    """Counts by reason and stream; they outlive a batch."""

    def __init__(self, n_streams: int) -> None:
        self._counts = np.zeros((len(Rejection), n_streams), np.int64)  # reasons by their codes

    def add(self, side: int, reason: Rejection, n_rows: int) -> None:
        """Rows of a stream were rejected."""
        self._counts[reason.code, side] += n_rows

    def add_entries(self, entries: Records) -> None:
        """Rows were rejected by the loop."""
        np.add.at(self._counts, (entries["reason"], entries["side"]), 1)

    def counts(self, pending: Records) -> Mapping[str, Sequence[int]]:
        """The counts by the names of their counters; `pending` are entries that are still to be added."""
        counts = self._counts.copy()
        np.add.at(counts, (pending["reason"], pending["side"]), 1)
        return {reason.counter: counts[reason.code].tolist() for reason in Rejection}

    def save(self) -> Content:
        """The counts."""
        return Content({_COUNTS: to_json({reason.value: self._counts[reason.code].tolist() for reason in Rejection})})

    def load(self, saved: Loaded) -> None:
        """Continue from what `save` gave."""
        counts = from_json(saved.plain[_COUNTS])
        for reason in Rejection:
            if reason in counts:
                self._counts[reason.code] = counts[reason]


@dataclass
class BatchResult:
    """What one batch brings. Times are microseconds; `result_ts` has the time of each row of `results`, if wanted."""

    results: list[pa.Table] = field(default_factory=list)
    result_ts: list[Ints] = field(default_factory=list)
    punctuations: list[OutputPunctuations] = field(default_factory=list)
    ranges: list[OutputRange] = field(default_factory=list)  # the ranges among them, with one pattern per key column
    rejected: list[Rejected] = field(default_factory=list)
    watermark: int = NEVER
    latest_ts: int = NEVER  # no row so far is later
    ended: bool = False
    structures: tuple[str, str] | None = None  # of the windows, for the next batch

    def then(self, later: "BatchResult") -> "BatchResult":
        """This and what another batch brought after it, as one."""
        return BatchResult(
            self.results + later.results,
            self.result_ts + later.result_ts,
            self.punctuations + later.punctuations,
            self.ranges + later.ranges,
            self.rejected + later.rejected,
            later.watermark,
            later.latest_ts,
            later.ended,
            later.structures,
        )
