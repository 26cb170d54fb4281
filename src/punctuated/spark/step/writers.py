"""Tables that a step writes by itself: rows go to files, and one row about each file leaves the step."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Self

import pandas as pd
import pyarrow as pa

from punctuated.arrow.rows import widen
from punctuated.output.batch_result import BatchResult
from punctuated.output.in_band import FILE, GROUP, PUNCTUATION, REJECTED, RESULT
from punctuated.output.views import View
from punctuated.spark.metrics.reports import current_batch
from punctuated.spark.session.query import Outlet, Query
from punctuated.spark.state.bucket import Bucket
from punctuated.spark.step.emit import Emitter, as_frames
from punctuated.storage.tables.names import UNTOLD_BATCH
from punctuated.storage.tables.writer import Written

VIEWS = {RESULT: View.RESULTS, PUNCTUATION: View.PUNCTUATIONS, REJECTED: View.REJECTED}  # of parts of the output


def emitter_of(query: Query, bucket: Bucket, number: int) -> Emitter:
    """What emits the output of a bucket, as the query wants it."""
    if query.outlet is None:
        return Emitter(query.join, bucket)
    return WritingEmitter(query, query.outlet, bucket, number)


class TableWriters:
    """The tables of a query, for one attempt at one bucket; if it fails, its files are removed."""

    def __init__(self, tables: Sequence[Written], bucket: int) -> None:
        current = current_batch()
        batch = UNTOLD_BATCH if current is None else current[1]
        self._writers = {each.part: each.writer(batch, bucket) for each in tables}
        self._schemas = {each.part: each.schema for each in tables}

    def write(self, part: str, tables: Sequence[pa.Table]) -> None:
        """More rows of one kind."""
        for table in tables:
            self._writers[part].write(widen(table, self._schemas[part]))

    def files(self, schema: pa.Schema) -> pa.Table:
        """Called at the end: a row of kind `file` for each written file, beside rows of these columns."""
        told = [file.to_json() for writer in self._writers.values() for file in writer.close()]
        kind, row = schema.names[0], schema.names[-1]
        return pa.table({kind: pa.repeat(FILE, len(told)), row: pa.array(told, pa.string())})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            for writer in self._writers.values():
                writer.abandon()


class WritingEmitter(Emitter):
    """Writes parts of the output; only the other parts leave the step as rows."""

    def __init__(self, query: Query, outlet: Outlet, bucket: Bucket, number: int) -> None:
        super().__init__(query.join, bucket)
        self._outlet, self._writers = outlet, TableWriters(outlet.tables, number)
        self._views = query.join.seen_as(View.RESULTS).views

    def frames(self, part: BatchResult) -> Iterator[pd.DataFrame]:
        """Rows that are not written here."""
        for each in self._outlet.tables:
            self._writers.write(each.part, self._tables_of(each.part, part))
        if self._outlet.emitted:
            yield from super().frames(_only(part, self._outlet.emitted))

    def last_frames(self) -> Iterator[pd.DataFrame]:
        """The files that were written."""
        schema = self._join.schema
        yield from as_frames(self._writers.files(schema), schema)

    def _tables_of(self, kind: str, part: BatchResult) -> list[pa.Table]:
        if kind == GROUP:
            assert self._bucket.groups is not None
            return [self._bucket.groups.process(part)]
        return self._views.tables(VIEWS[kind], part)

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> None:
        self._writers.__exit__(kind, *more)


def _only(part: BatchResult, kinds: Sequence[str]) -> BatchResult:
    """The rows of these kinds."""
    if RESULT not in kinds:
        part = replace(part, results=[], result_ts=[])
    if PUNCTUATION not in kinds:
        part = replace(part, punctuations=[])
    return part if REJECTED in kinds else replace(part, rejected=[])
