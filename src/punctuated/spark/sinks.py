"""Sinks: parts of one join's output to several places, from one query that runs it once.

A table (`pt.parquet`, `pt.delta`, or a path, which is the first) is written by the workers of the join themselves, and
what leaves the step is a row for each file. Other sinks, and paths that workers do not reach, get rows: by a function,
or by Spark's writer.

`foreachBatch` repeats a batch that was not committed when a query stopped. Tables are exact all the same, because they
know their batches: a folder of Parquet files by a folder for each, a Delta table by its log. What repeats is the same,
since a step depends on its state and its input alone.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from punctuated.errors import StreamError
from punctuated.join.output.in_band import FILE, GROUP, PUNCTUATION, REJECTED, RESULT
from punctuated.spark.names import column_at, with_numbers
from punctuated.spark.query import Outlet
from punctuated.spark.sink_folders import check_apart, claim
from punctuated.spark.sink_parts import KIND_PLACE, Part, Sink, Way, choose_part
from punctuated.spark.which_session import is_connect
from punctuated.tables.delta_table import DeltaTable
from punctuated.tables.open_table import table_of
from punctuated.tables.written_file import WrittenFile

_ALL_THERE_IS = {"availableNow": True}
_KINDS = {"results": RESULT, "groups": GROUP, "punctuations": PUNCTUATION, "rejected": REJECTED}

Trigger = str | Mapping[str, Any]


class Writable(Protocol):
    """What can be written: a join, or groups of one."""

    @property
    def session(self) -> SparkSession:
        """Where it runs."""

    @property
    def is_streaming(self) -> bool:
        """Whether it comes in micro-batches."""

    def part(self, kind: str) -> tuple[pa.Schema, StructType]:
        """The columns of a part of its output; raises if it has no such part."""

    def places(self, kind: str) -> list[tuple[int, str]]:
        """Where the columns of a part are in what leaves the step as rows, and their names."""

    def leaving(self, outlet: Outlet) -> DataFrame:
        """What leaves its step."""

    def with_end(self, now: bool) -> "Writable":
        """The same where all streams end, in this run or in a later one."""


def write_to(
    writable: Writable,
    *,
    checkpoint: str | os.PathLike[str],
    trigger: Trigger | None = None,
    name: str | None = None,
    finish: bool = False,
    **sinks: Sink | None,
) -> StreamingQuery:
    """Start one query that writes each part of the output of a join, or of its groups, to its own sink.

    A sink is a table, `pt.parquet(…)` or `pt.delta(…)`, or a path, which means `pt.parquet(path)`: every row stands
    there exactly once whatever fails in between. Or it is a function of a DataFrame and the id of the batch. The
    function is called again for a batch that was not committed, so it should use the id to leave out, or replace, what
    it has done. A part without a sink is dropped.

    Args:
        writable: What `pt.join` gave for streaming DataFrames, or groups of it.
        checkpoint: Where Spark keeps how far the query is, and its state.
        trigger: A time between batches such as "10 seconds", "availableNow", or the arguments of Spark's
            `DataStreamWriter.trigger` in a dict; by default a batch follows the other.
        name: The name of the query.
        finish: Whether the streams end after what is available, so that the last groups, unmatched rows and
            punctuations come out. Needs the trigger "availableNow", and from the first start of a checkpoint. The call
            then returns when all but the end is written, with the query that writes the end. A query that was finished
            may be started again, but rows that come after the end are rejected.
        sinks: `results`, or `groups` where groups are written, `punctuations` and `rejected`; each gets the columns of
            the DataFrame of that name. Folders of Parquet files must be new, empty, or of this checkpoint; all lie
            apart from each other and from the checkpoint.
    """
    started_with = _trigger(trigger)
    if finish and started_with != _ALL_THERE_IS:
        raise StreamError("finish=True ends the streams after what is available: give trigger='availableNow'")
    session, parts = writable.session, list(_parts(writable, sinks))
    if not parts:
        raise StreamError("nothing to write: give a sink for results, groups, punctuations or rejected")
    if not writable.is_streaming:
        raise StreamError("write_to is for streaming joins; write joined.results and the others as they are")
    paths = {part.name: part.path for part in parts if part.path is not None}
    check_apart(paths | {"the checkpoint": os.fspath(checkpoint)})
    token = _prepared(parts, session, os.fspath(checkpoint)) if paths else ""
    outlet = Outlet(
        tables=tuple(part.written(token, session.version) for part in parts if part.way is Way.STEP),
        emitted=tuple(part.kind for part in parts if part.way is not Way.STEP),
    )

    def start(rows: DataFrame, how: Mapping[str, Any]) -> StreamingQuery:
        writer = rows.writeStream.foreachBatch(Batches(tuple(parts), outlet, len(rows.columns)))
        writer = writer.option("checkpointLocation", os.fspath(checkpoint))
        writer = writer if name is None else writer.queryName(name)
        return (writer.trigger(**how) if how else writer).start()

    if not finish:
        return start(writable.leaving(outlet), started_with)
    start(writable.with_end(now=False).leaving(outlet), started_with).awaitTermination()
    ended = writable.with_end(now=True).leaving(outlet)
    return start(ended, {"once": True})  # a single batch, so that the end is behind everything


def explain_ways(writable: Writable, sinks: Mapping[str, Sink | None]) -> Iterator[str]:
    """Which way the rows take to each sink, and why."""
    for part in _parts(writable, sinks):
        yield f"{part.name}: {part.told}"


@dataclass(frozen=True)
class Batches:
    """The function for `foreachBatch`: plain data, so that it travels over Spark Connect.

    Every action on a batch runs its join, unless it is kept. And all of it must run, or the state is not saved: asking
    for the files does that, and a file sink of Spark reads every row, but a function perhaps not.
    """

    parts: tuple[Part, ...]
    outlet: Outlet
    n_columns: int

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        emitted = [part for part in self.parts if part.way is not Way.STEP]
        if not emitted:
            self._publish(rows, batch_id)
        elif len(self.parts) == 1 and emitted[0].way is Way.SPARK:
            emitted[0].write(rows, batch_id)
        else:
            self._write_all(rows, emitted, batch_id)

    def _write_all(self, rows: DataFrame, emitted: list[Part], batch_id: int) -> None:
        kept = rows.persist()
        try:
            if self.outlet.tables:
                self._publish(kept, batch_id)
            elif all(part.way is Way.FUNCTION for part in emitted):
                kept.count()
            for part in sorted(emitted, key=lambda part: part.way is Way.FUNCTION):
                part.write(kept, batch_id)
        finally:
            kept.unpersist()

    def _publish(self, rows: DataFrame, batch_id: int) -> None:
        """Show what the step has written; rows of files are told from others by their kind, and stand last."""
        numbered = with_numbers(rows).where(column_at(KIND_PLACE) == FILE).select(column_at(self.n_columns - 1))
        files = [WrittenFile.from_json(row[0]) for row in numbered.collect()]
        folders = {part.kind: part.folders for part in self.parts}
        for told in self.outlet.tables:
            ours = [file for file in files if file.part == told.part]
            table_of(told.sink, folders[told.part]).publish(batch_id, ours, told)


def _parts(writable: Writable, sinks: Mapping[str, Sink | None]) -> Iterator[Part]:
    for name, sink in sinks.items():
        if name not in _KINDS:
            raise StreamError(f"{name}=: there are sinks for {', '.join(_KINDS)}")
        if sink is not None:
            kind = _KINDS[name]
            yield choose_part(writable.session, kind, sink, writable.part(kind), writable.places(kind))


def _prepared(parts: list[Part], session: SparkSession, checkpoint: str) -> str:
    """Make sure that the tables are ours, or can be; returns the token of the checkpoint."""
    folders = [part.path for part in parts if part.path is not None and not part.is_delta]
    token = claim(session, folders, checkpoint)
    for part in parts:
        if part.is_delta and part.table is not None and not is_connect(session):
            DeltaTable(part.table).prepare(part.schema, part.name)
    return token


def _trigger(trigger: Trigger | None) -> dict[str, Any]:
    if trigger is None:
        return {}
    if isinstance(trigger, str):
        return _ALL_THERE_IS if trigger.lower() == "availablenow" else {"processingTime": trigger}
    return dict(trigger)
