"""Sinks: results, punctuations and rejected tuples of one join to several places, from one query that runs it once.

`foreachBatch` repeats a batch that was not committed when a query stopped. A folder of Parquet files is exact all the
same: each batch has a folder of its own, named after its id, and a batch that is repeated replaces it. What repeats is
the same, since a step depends on its state and its input alone.

    path/batch_id=0/part-….parquet     a plain column `batch_id` for those who read `path` (`batch_id_` beside a
                                       column of that name)
    path/batch_id=1/…                  a folder with `_SUCCESS` is complete
    path/_punctuated                   which checkpoint these batches belong to, see `sink_folders`
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from punctuated.errors import StreamError
from punctuated.join.output.in_band import PUNCTUATION, REJECTED, RESULT
from punctuated.join.output.views import View
from punctuated.model.free_names import free_names
from punctuated.spark.names import column_at, with_numbers
from punctuated.spark.sink_folders import check_apart, claim

if TYPE_CHECKING:
    from punctuated.spark.joined import SparkJoin

BATCH_ID = "batch_id"
_ALL_THERE_IS = {"availableNow": True}
_KIND_PLACE = 0  # in `joined.all`

Sink = str | os.PathLike[str] | Callable[[DataFrame, int], None]
Trigger = str | Mapping[str, Any]


def write_to(
    joined: "SparkJoin",
    *,
    results: Sink | None = None,
    punctuations: Sink | None = None,
    rejected: Sink | None = None,
    checkpoint: str | os.PathLike[str],
    trigger: Trigger | None = None,
    name: str | None = None,
    finish: bool = False,
) -> StreamingQuery:
    """Start one query that writes each part of a join's output to its own sink.

    A sink is a path, for Parquet files in which every row stands exactly once whatever fails in between; or a function
    of a DataFrame and the id of the batch. The function is called again for a batch that was not committed, so it
    should use the id to leave out, or replace, what it has done. A part without a sink is dropped.

    Args:
        joined: What `pt.join` gave for streaming DataFrames.
        results: Gets the columns of `joined.results`. Folders must be new, empty, or of this checkpoint, and lie apart
            from each other and from the checkpoint.
        punctuations: Gets the columns of `joined.punctuations`.
        rejected: Gets the columns of `joined.rejected`.
        checkpoint: Where Spark keeps how far the query is, and its state.
        trigger: A time between batches such as "10 seconds", "availableNow", or the arguments of Spark's
            `DataStreamWriter.trigger` in a dict; by default a batch follows the other.
        name: The name of the query.
        finish: Whether the streams end after what is available, so that the last groups, unmatched rows and
            punctuations come out. Needs the trigger "availableNow", and from the first start of a checkpoint. The call
            then returns when all but the end is written, with the query that writes the end. A query that was finished
            may be started again, but rows that come after the end are rejected.
    """
    started_with = _trigger(trigger)
    if finish and started_with != _ALL_THERE_IS:
        raise StreamError("finish=True ends the streams after what is available: give trigger='availableNow'")
    sinks = {RESULT: results, PUNCTUATION: punctuations, REJECTED: rejected}
    parts = [_part(joined, kind, sink) for kind, sink in sinks.items() if sink is not None]
    everything = joined.all
    _check(parts, everything)
    folders = {part.name: part.path for part in parts if part.path is not None}
    check_apart(folders | {"the checkpoint": os.fspath(checkpoint)})
    claim(everything.sparkSession, list(folders.values()), os.fspath(checkpoint))

    def start(rows: DataFrame, how: Mapping[str, Any]) -> StreamingQuery:
        writer = rows.writeStream.foreachBatch(_Batches(tuple(parts)))
        writer = writer.option("checkpointLocation", os.fspath(checkpoint))
        writer = writer if name is None else writer.queryName(name)
        return (writer.trigger(**how) if how else writer).start()

    if not finish:
        return start(everything, started_with)
    start(joined.with_end(now=False).all, started_with).awaitTermination()
    return start(joined.with_end(now=True).all, {"once": True})  # a single batch, so that the end is behind everything


@dataclass(frozen=True)
class _Part:
    """Rows of one kind, with their columns by their places in `joined.all`, and where they go."""

    kind: str
    columns: tuple[tuple[int, str], ...]  # place in `all`, name in the part
    path: str | None
    function: Callable[[DataFrame, int], None] | None

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"the {self.kind} rows" if self.kind == REJECTED else f"the {self.kind}s"

    def of(self, everything: DataFrame) -> DataFrame:
        chosen = [column_at(place).alias(name) for place, name in self.columns]
        return with_numbers(everything).where(column_at(_KIND_PLACE) == self.kind).select(*chosen)

    @property
    def folders(self) -> str:
        """What the folders of batches are called, which readers take for a column."""
        return free_names([BATCH_ID], (name for _, name in self.columns))[0]

    def write(self, everything: DataFrame, batch_id: int) -> None:
        rows = self.of(everything)
        if self.path is not None:
            rows.write.mode("overwrite").parquet(f"{self.path}/{self.folders}={batch_id}")
        if self.function is not None:
            self.function(rows, batch_id)


@dataclass(frozen=True)
class _Batches:
    """The function for `foreachBatch`: plain data, so that it travels over Spark Connect.

    Every action on a batch runs its join, unless it is kept. And all of it must run, or the state is not saved: a
    file sink reads every row, a function perhaps not.
    """

    parts: tuple[_Part, ...]

    def __call__(self, everything: DataFrame, batch_id: int) -> None:
        if len(self.parts) == 1 and self.parts[0].path is not None:
            self.parts[0].write(everything, batch_id)
            return
        kept = everything.persist()
        try:
            if all(part.path is None for part in self.parts):
                kept.count()
            for part in sorted(self.parts, key=lambda part: part.path is None):
                part.write(kept, batch_id)
        finally:
            kept.unpersist()


def _part(joined: "SparkJoin", kind: str, sink: Sink) -> _Part:
    columns = _columns(joined, kind)
    if callable(sink):
        return _Part(kind, tuple(columns), None, sink)
    if not isinstance(sink, str | os.PathLike):
        raise StreamError(f"a sink is a path or a function of a DataFrame and a batch id, not {type(sink).__name__}")
    return _Part(kind, tuple(columns), os.fspath(sink).rstrip("/"), None)


def _columns(joined: "SparkJoin", kind: str) -> list[tuple[int, str]]:
    """Where the columns of a part are in `joined.all`, and their names."""
    views, everything = joined.query.join.views, joined.query.join.views.schema(View.ALL).names
    names: tuple[str, ...]
    view, names = {
        RESULT: (View.RESULTS, tuple(views.results.names)),
        PUNCTUATION: (View.PUNCTUATIONS, (*views.key, *views.in_band.of_punctuations)),
        REJECTED: (View.REJECTED, views.in_band.of_rejected),
    }[kind]
    return [(everything.index(name), shown) for name, shown in zip(names, views.schema(view).names, strict=True)]


def _check(parts: list[_Part], everything: DataFrame) -> None:
    if not parts:
        raise StreamError("nothing to write: give a sink for results, punctuations or rejected")
    if not everything.isStreaming:
        raise StreamError("write_to is for streaming joins; write joined.results and the others as they are")


def _trigger(trigger: Trigger | None) -> dict[str, Any]:
    if trigger is None:
        return {}
    if isinstance(trigger, str):
        return _ALL_THERE_IS if trigger.lower() == "availablenow" else {"processingTime": trigger}
    return dict(trigger)
