"""`write_to`: one query runs a join once and writes each part of its output to a sink of its own.

A table (`pt.parquet`, `pt.delta`, or a path, which means `pt.parquet`) is written by the workers of the join
themselves, and only one row for each file leaves the step. Other sinks, and paths that workers cannot reach, get rows:
a function or Spark's writer takes them.

`foreachBatch` repeats a batch that was not committed when a query stopped. Tables are still exact, because they know
their batches: a folder of Parquet files has a folder for each batch, a Delta table has its log. A repeated batch brings
the same rows, since a step depends only on its state and its input.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import StreamError, WindowError
from punctuated.model.window import parse_duration
from punctuated.output.in_band import FILE, GROUP, PUNCTUATION, REJECTED, RESULT
from punctuated.plan.tree import Fact, NodeKind, PlanNode
from punctuated.spark.session.columns import column_at, with_numbers
from punctuated.spark.session.connect import is_connect
from punctuated.spark.session.query import Routing
from punctuated.spark.sink.outputs import KIND_INDEX, Sink, SinkOutput, WrittenBy, choose_output
from punctuated.spark.sink.ownership import CheckpointOwner, check_apart, claim_folders
from punctuated.storage.tables.delta_table import DeltaTable
from punctuated.storage.tables.open_table import table_of
from punctuated.storage.tables.written_file import WrittenFile

_ALL_THERE_IS = {"availableNow": True}
_KINDS = {"results": RESULT, "groups": GROUP, "punctuations": PUNCTUATION, "rejected": REJECTED}

Trigger = str | Mapping[str, Any]
OnWritten = Callable[[int, str, int], None]  # gets a batch id, a kind of rows, and their number


class Writable(Protocol):
    """A join or groups of one: what `write_to` must know of them."""

    @property
    def session(self) -> SparkSession:
        """The session of its inputs."""

    @property
    def is_streaming(self) -> bool:
        """Whether its inputs come in micro-batches."""

    @property
    def own_kind(self) -> str:
        """The kind of its own rows: results, or groups."""

    @property
    def stored_join(self) -> BoundJoin:
        """The join on which its state depends."""

    def part_columns(self, kind: str) -> tuple[pa.Schema, StructType]:
        """The columns of a part of its output, as Arrow and as Spark types; raises if it has no such part."""

    def part_positions(self, kind: str) -> list[tuple[int, str]]:
        """The positions of a part's columns in the rows that leave the step, and their names."""

    def routed(self, routing: Routing) -> DataFrame:
        """The rows that leave its step when its output goes this way."""

    def with_end(self, now: bool) -> "Writable":
        """The same, with an end of all streams in this run or in a later one."""


def write_to(
    writable: Writable,
    *,
    checkpoint: str | os.PathLike[str],
    trigger: Trigger | None = None,
    name: str | None = None,
    finish: bool = False,
    on_written: OnWritten | None = None,
    **sinks: Sink | None,
) -> StreamingQuery:
    """Start one query that writes each part of the output of a join, or of its groups, to its own sink.

    A sink is a table, `pt.parquet(…)` or `pt.delta(…)`, or a path, which means `pt.parquet(path)`. A table holds every
    row exactly once, whatever fails in between. Or a sink is a function of a DataFrame and the id of the batch. It is
    called again for a batch that was not committed, so it should use the id to skip or replace what it has done
    already. A part without a sink is dropped.

    Args:
        writable: A join of streaming DataFrames, or its groups.
        checkpoint: Where Spark keeps the progress of the query and its state.
        trigger: A time between batches such as "10 seconds", "availableNow", or the arguments of Spark's
            `DataStreamWriter.trigger` in a dict. By default the next batch starts when one is done.
        name: The name of the query.
        finish: Whether the streams end after the available data, so that the last groups, unmatched rows and
            punctuations come out. Give it from the first start of the checkpoint on. The trigger is then
            "availableNow". The call returns when everything but the end is written; it returns the query that writes
            the end. A finished query may be started again, but rows that come after the end are rejected.
        on_written: A function that is called with the number of rows of each kind that the workers of the join have
            written to a table in a batch. It is called in this process, so it needs a classic session.
        sinks: `results` (or `groups`), `punctuations` and `rejected`. Each gets the columns of the DataFrame of that
            name. A folder of Parquet files must be new, empty, or made by this checkpoint. No folder may lie inside
            another one or inside the checkpoint.
    """
    started_with = _ALL_THERE_IS if finish and trigger is None else _trigger(trigger)
    if finish and started_with != _ALL_THERE_IS:
        raise StreamError(
            "finish=True ends the streams after the available data: leave out trigger=, or give 'availableNow'"
        )
    session, parts = writable.session, list(_parts(writable, sinks))
    if not parts:
        raise StreamError("nothing to write: give a sink for results, groups, punctuations or rejected")
    if not writable.is_streaming:
        raise StreamError("write_to is for streaming joins; write joined.results and the others as plain DataFrames")
    paths = {part.name: part.path for part in parts if part.path is not None}
    check_apart(paths | {"the checkpoint": os.fspath(checkpoint)})
    owner = CheckpointOwner(session, os.fspath(checkpoint), writable.stored_join, finish)
    owner.check()
    token = _prepare(parts, session, os.fspath(checkpoint)) if paths else ""
    routing = Routing(
        tables=tuple(part.output_table(token, session.version) for part in parts if part.written_by is WrittenBy.STEP),
        emitted=tuple(part.kind for part in parts if part.written_by is not WrittenBy.STEP),
    )
    owner.claim()

    def start(rows: DataFrame, how: Mapping[str, Any]) -> StreamingQuery:
        writer = rows.writeStream.foreachBatch(Batches(tuple(parts), routing, len(rows.columns), on_written))
        writer = writer.option("checkpointLocation", os.fspath(checkpoint))
        writer = writer if name is None else writer.queryName(name)
        return (writer.trigger(**how) if how else writer).start()

    if not finish:
        return start(writable.routed(routing), started_with)
    start(writable.with_end(now=False).routed(routing), started_with).awaitTermination()
    ended = writable.with_end(now=True).routed(routing)
    return start(ended, {"once": True})  # a single batch, so that the end is behind everything


def with_sinks(plan: PlanNode, writable: Writable, sinks: Mapping[str, Sink | None]) -> PlanNode:
    """The plan under a node that says how the rows get to each sink; without sinks, a plan whose rows leave as rows."""
    parts = _parts(writable, sinks)
    facts = tuple(
        Fact(part.name, part.description, {"way": part.written_by.value, "path": part.path}) for part in parts
    )
    if facts:
        return PlanNode(NodeKind.OUTPUT, "written by write_to", facts, (plan,))
    by_workers = "; to tables of write_to, files by the workers" if writable.is_streaming else ""
    leaving = Fact("rows out", f"a DataFrame, Spark's rows{by_workers}", {"way": "spark"})
    return replace(plan, facts=(*plan.facts, leaving))


@dataclass(frozen=True)
class Batches:
    """The function for `foreachBatch`: plain data, so that it travels over Spark Connect.

    Every action on a batch runs its join again, unless the batch is kept. The whole batch must run, or the state is not
    saved. Asking for the files runs all of it, and a file sink of Spark reads every row, but a function may not.
    """

    parts: tuple[SinkOutput, ...]
    routing: Routing
    n_columns: int
    on_written: OnWritten | None = None

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        emitted = [part for part in self.parts if part.written_by is not WrittenBy.STEP]
        if not emitted:
            self._publish(rows, batch_id)
        elif len(self.parts) == 1 and emitted[0].written_by is WrittenBy.SPARK:
            emitted[0].write(rows, batch_id)
        else:
            self._write_all(rows, emitted, batch_id)

    def _write_all(self, rows: DataFrame, emitted: list[SinkOutput], batch_id: int) -> None:
        kept = rows.persist()
        try:
            if self.routing.tables:
                self._publish(kept, batch_id)
            elif all(part.written_by is WrittenBy.FUNCTION for part in emitted):
                kept.count()
            for part in sorted(emitted, key=lambda part: part.written_by is WrittenBy.FUNCTION):
                part.write(kept, batch_id)
        finally:
            kept.unpersist()

    def _publish(self, rows: DataFrame, batch_id: int) -> None:
        """Publish the files that the step has written; rows about files have a kind of their own, and come last."""
        numbered = with_numbers(rows).where(column_at(KIND_INDEX) == FILE).select(column_at(self.n_columns - 1))
        files = [WrittenFile.from_json(row[0]) for row in numbered.collect()]
        folders = {part.kind: part.folders for part in self.parts}
        for table in self.routing.tables:
            ours = [file for file in files if file.part == table.part]
            table_of(table.sink, folders[table.part]).publish(batch_id, ours, table)
            if self.on_written is not None:
                self.on_written(batch_id, table.part, sum(file.n_rows for file in ours))


def _parts(writable: Writable, sinks: Mapping[str, Sink | None]) -> Iterator[SinkOutput]:
    wanted = {name: sink for name, sink in sinks.items() if sink is not None}
    for name in wanted:
        if name not in _KINDS:
            raise StreamError(f"{name}=: there are sinks for {', '.join(_KINDS)}")
    if writable.own_kind == GROUP and "results" in wanted and "groups" not in wanted:
        raise StreamError(
            "these are groups, or rows of distinct(): give groups=; results= are the rows behind them, which "
            "joined.write_to(results=…) writes by themselves"
        )
    for name, sink in wanted.items():
        kind = _KINDS[name]
        yield choose_output(writable.session, kind, sink, writable.part_columns(kind), writable.part_positions(kind))


def _prepare(parts: list[SinkOutput], session: SparkSession, checkpoint: str) -> str:
    """Claim folders for the checkpoint and make Delta tables; returns the token of the checkpoint."""
    folders = [part.path for part in parts if part.path is not None and not part.is_delta]
    token = claim_folders(session, folders, checkpoint)
    for part in parts:
        if part.is_delta and part.table is not None and not is_connect(session):
            DeltaTable(part.table).prepare(part.schema, part.name)
    return token


def _trigger(trigger: Trigger | None) -> dict[str, Any]:
    if trigger is None:
        return {}
    if not isinstance(trigger, str):
        return dict(trigger)
    if trigger.lower() == "availablenow":
        return _ALL_THERE_IS
    try:
        parse_duration(trigger)
    except WindowError:
        raise StreamError(
            f"trigger={trigger!r}: give a time between batches, such as '10 seconds', or 'availableNow'"
        ) from None
    return {"processingTime": trigger}
