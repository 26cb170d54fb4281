"""Tuples that did not take part. They are rendered only when somebody reads them, because most are never read."""

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from punctuated.join.output.json_rows import render_rows
from punctuated.model.times import to_microseconds

REJECTED_SCHEMA = pa.schema(
    [("stream", pa.string()), ("reason", pa.string()), ("ts", pa.int64()), ("row", pa.string())]
)


@dataclass(frozen=True)
class RejectedRows:
    """Tuples of one stream, with one reason."""

    stream: str
    reason: str
    rows: pa.Table
    time: str

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def table(self) -> pa.Table:
        """In the form in which they are shown: stream, reason, time in microseconds, the row as JSON."""
        ts = pa.array(to_microseconds(self.rows[self.time], self.time))
        return rejected_table(self.stream, self.reason, ts, render_rows(self.rows))


@dataclass(frozen=True)
class RenderedRows:
    """Tuples that were rejected elsewhere, in the form in which they are shown."""

    table: pa.Table

    def __len__(self) -> int:
        return len(self.table)


Rejected = RejectedRows | RenderedRows


def rejected_table(stream: str, reason: str, ts: pa.Array, rows: pa.ChunkedArray) -> pa.Table:
    """Rejected tuples in the form in which they are shown, with their rows as JSON."""
    names = [pa.repeat(text, len(rows)) for text in (stream, reason)]
    return pa.table([*names, ts, rows], schema=REJECTED_SCHEMA)
